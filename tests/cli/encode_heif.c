/* tests/cli/encode_heif.c - WIDTH HEIGHT FILE: RGB bytes on standard input become a HEIC file, or AVIF where the name
 * ends so. Exit code 1 where libheif has no encoder for it. */
#include "io/encode_heif.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int width = argc == 4 ? atoi(argv[1]) : 0, height = argc == 4 ? atoi(argv[2]) : 0;
    if (width < 1 || height < 1 || width > 4096 || height > 4096)
        return 2;
    size_t size = 3 * (size_t)width * (size_t)height;
    uint8_t *rgb = malloc(size);
    bool avif = strstr(argv[3], ".avif") != NULL;
    bool good =
        rgb && fread(rgb, 1, size, stdin) == size &&
        encode_heif(argv[3], avif ? heif_compression_AV1 : heif_compression_HEVC, rgb, width, height, false, NULL, 0);
    free(rgb);
    return good ? 0 : 1;
}
