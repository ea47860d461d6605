/* bench/picture.c - PPM, PGM, PFM and NPY. Little-endian machines. */
#include "picture.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE_MOST 65536

/* How samples lie in a file: 1 byte of sRGB, or 4 or 8 of linear light, those of a pixel side by side. */
struct layout {
    int width, height, channels, bytes;
    bool upwards; /* the last row first */
};

static double to_linear(double code)
{
    return code <= .04045 ? code / 12.92 : pow((code + .055) / 1.055, 2.4);
}

static double to_code(double light)
{
    light = light < 0 ? 0 : light > 1 ? 1 : light;
    return light <= .0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - .055;
}

static bool complain(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    return false;
}

/* The heads of PNM and PFM, without comments. */
static bool read_pnm_head(FILE *file, char kind, struct layout *layout)
{
    double range;
    if (fscanf(file, "%d %d %lf", &layout->width, &layout->height, &range) != 3 || fgetc(file) == EOF)
        return false;
    layout->channels = kind == '6' || kind == 'F' ? 3 : 1;
    layout->upwards = kind == 'F' || kind == 'f';
    layout->bytes = layout->upwards ? 4 : 1;
    return layout->upwards ? range < 0 : range == 255;
}

/* What stands behind "\x93NUMPY". */
static bool read_npy_head(FILE *file, struct layout *layout)
{
    unsigned char fixed[4];
    char text[1024] = "";
    if (fread(fixed, 1, 4, file) != 4 || fixed[0] != 1)
        return false;
    size_t length = fixed[2] + 256u * fixed[3];
    if (length >= sizeof text || fread(text, 1, length, file) != length || strstr(text, "'fortran_order': True"))
        return false;
    const char *shape = strstr(text, "'shape': (");
    layout->bytes = strstr(text, "'<f4'") ? 4 : strstr(text, "'<f8'") ? 8 : strstr(text, "'|u1'") ? 1 : 0;
    layout->channels = 1;
    int sides = shape ? sscanf(shape, "'shape': (%d, %d, %d", &layout->height, &layout->width, &layout->channels) : 0;
    return sides >= 2 && layout->bytes > 0;
}

static bool read_head(FILE *file, struct layout *layout)
{
    char magic[6] = "";
    if (fread(magic, 1, 2, file) != 2)
        return false;
    if (magic[0] == 'P' && strchr("56Ff", magic[1]))
        return read_pnm_head(file, magic[1], layout);
    return fread(magic + 2, 1, 4, file) == 4 && memcmp(magic, "\x93NUMPY", 6) == 0 && read_npy_head(file, layout);
}

static double sample_of(const unsigned char *at, int bytes)
{
    float single;
    double wide;
    if (bytes == 1)
        return to_linear(*at / 255.);
    memcpy(bytes == 4 ? (void *)&single : (void *)&wide, at, (size_t)bytes);
    return bytes == 4 ? single : wide;
}

static bool read_rows(FILE *file, const struct layout *layout, const esra_image *image)
{
    size_t row = (size_t)layout->width * (size_t)layout->channels * (size_t)layout->bytes;
    unsigned char *bytes = malloc(row);
    bool good = bytes != NULL;
    for (int y = 0; good && y < layout->height; y++) {
        int to = layout->upwards ? layout->height - 1 - y : y;
        good = fread(bytes, 1, row, file) == row;
        for (int n = 0; good && n < layout->width * layout->channels; n++)
            image->data[to * image->row_stride + n / layout->channels + n % layout->channels * image->channel_stride] =
                (float)sample_of(bytes + (size_t)n * (size_t)layout->bytes, layout->bytes);
    }
    free(bytes);
    return good;
}

bool picture_read(const char *path, esra_image *image)
{
    struct layout l = {0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return complain(path, "cannot be opened");
    bool good = read_head(file, &l) && l.width > 0 && l.height > 0 && l.width <= SIDE_MOST && l.height <= SIDE_MOST &&
                (l.channels == 1 || l.channels == 3);
    if (good) {
        size_t samples = (size_t)l.width * (size_t)l.height * (size_t)l.channels;
        *image = esra_image_planar(malloc(samples * sizeof(float)), l.width, l.height, l.channels);
        good = image->data && read_rows(file, &l, image);
    }
    fclose(file);
    return good || complain(path, "is no whole PPM, PGM (8 bits), PFM or NPY file of 1 or 3 channels");
}

static void write_row(FILE *file, const esra_image *image, int y, bool floats)
{
    for (int x = 0; x < image->width; x++)
        for (int c = 0; c < image->channels; c++) {
            float value = image->data[y * image->row_stride + x * image->column_stride + c * image->channel_stride];
            if (floats)
                fwrite(&value, sizeof value, 1, file);
            else
                fputc((int)(255 * to_code(value) + .5), file);
        }
}

bool picture_write(const char *path, const esra_image *image)
{
    size_t length = strlen(path);
    bool floats = length > 4 && strcmp(path + length - 4, ".pfm") == 0;
    FILE *file = fopen(path, "wb");
    if (!file)
        return complain(path, "cannot be written");
    if (floats)
        fprintf(file, "P%c\n%d %d\n-1\n", image->channels == 3 ? 'F' : 'f', image->width, image->height);
    else
        fprintf(file, "P%c\n%d %d\n255\n", image->channels == 3 ? '6' : '5', image->width, image->height);
    for (int y = 0; y < image->height; y++)
        write_row(file, image, floats ? image->height - 1 - y : y, floats);
    bool good = !ferror(file);
    return (fclose(file) == 0 && good) || complain(path, "was not written whole");
}

void picture_encode(esra_image *image)
{
    size_t samples = (size_t)image->width * (size_t)image->height * (size_t)image->channels;
    for (size_t n = 0; n < samples; n++)
        image->data[n] = (float)to_code(image->data[n]);
}
