/* tests/fuzz/result.c - a result.json from a stranger. */
#include "result.h"

#include <math.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct result result;
    struct message message = {""};
    esra_status status = result_parse(&result, "fuzzed", (const char *)bytes, size, &message);
    if (status == ESRA_OK) {
        MUST(result.photos >= 2 && result.reference >= 0 && result.reference < result.photos);
        MUST(result.width > 0 && result.height > 0 && result.brightness > 0 && result.strength > 0);
        for (int i = 0; i < 2 * result.photos; i++) {
            MUST(isfinite(result.gains[i]));
            for (int n = 0; n < 9; n++)
                MUST(isfinite(result.motion[i].h[n]));
        }
        json_t *exchanged = result_exchange(&result);
        MUST(exchanged && json_is_true(json_object_get(exchanged, "exchanged")) == !result.exchanged);
        json_decref(exchanged);
    } else {
        MUST(status == ESRA_BAD_DATA && message.text[0]);
    }
    result_free(&result);
    return 0;
}
