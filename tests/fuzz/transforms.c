/* tests/fuzz/transforms.c - a file of transforms from a stranger, for three photos of 6 x 5. */
#include "transforms.h"

#include <math.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct transforms transforms;
    struct message message = {""};
    esra_status status =
        transforms_parse(&transforms, &(struct transforms_for){3, 6, 5}, "fuzzed", (const char *)bytes, size, &message);
    if (status == ESRA_OK) {
        MUST(transforms.reference >= 0 && transforms.reference < 3);
        for (int i = 0; i < 3; i++)
            for (int n = 0; n < 9; n++)
                MUST(isfinite(transforms.transmitted[i].h[n]) &&
                     (!transforms.reflected || isfinite(transforms.reflected[i].h[n])));
    } else {
        MUST(status == ESRA_BAD_DATA && message.text[0]);
    }
    transforms_free(&transforms);
    return 0;
}
