/* bindings/wasm/src/answer.c - what the module's functions give back. */
#include <stdlib.h>

#include "module.h"

static char *last_text;
static struct bytes last_bytes;

const char *answer_json(json_t *object)
{
    free(last_text);
    last_text = json_text(object, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(object);
    return last_text ? last_text : "{\"error\": \"out of memory\"}";
}

const char *answer_error(const struct message *message)
{
    return answer_json(json_pack("{s:o}", "error", name_to_json(message->text)));
}

const char *answer(esra_status status, json_t *object, const struct message *message)
{
    if (status == ESRA_OK)
        return answer_json(object);
    json_decref(object);
    return answer_error(message);
}

const char *answer_bytes(struct bytes bytes)
{
    esra_bytes_free(&last_bytes);
    last_bytes = bytes;
    return answer_json(json_object());
}

const void *module_bytes(void)
{
    return last_bytes.data;
}

size_t module_size(void)
{
    return last_bytes.size;
}
