/* tests/io/parcel.c - what a parent does not believe of a jailed decoder, and what it gets from an honest one. */
#define _GNU_SOURCE
#include "made.h"

#include <fcntl.h>

#include "io/parcel.h"

static const struct jail_limits roomy = {INT64_C(1) << 30, 20};

/* An input to be looked at by nobody. */
static int some_file(void)
{
    made_write(made_path("input"), "0123456789", 10);
    return open(made_path("input"), O_RDONLY | O_CLOEXEC);
}

/* ---- Lies ---- */

struct lie {
    struct parcel parcel;
    size_t bytes; /* that follow */
    unsigned char fill;
};

static void tell_lie(void *user, int input, int reply)
{
    const struct lie *lie = user;
    (void)input;
    esra_jail_reply(reply, &lie->parcel, sizeof lie->parcel);
    for (size_t n = 0; n < lie->bytes; n++)
        if (!esra_jail_reply(reply, &lie->fill, 1))
            break;
}

static esra_status hear(const struct lie *lie, const struct read_options *options, struct photo *photo,
                        struct message *message)
{
    struct jail jail;
    int input = some_file();
    CHECK(esra_jail_start(&jail, (struct jail_input){input, "x.png"}, &roomy, tell_lie, (void *)lie, message) ==
          ESRA_OK);
    esra_status status = esra_parcel_receive(photo, &jail, options, message);
    esra_jail_end(&jail);
    close(input);
    return status;
}

/* 4 x 3 pixels of grey, all zero. */
static const struct lie truth = {
    {.mark = PARCEL_MARK, .width = 4, .height = 3, .channels = 1, .depth = 8, .orientation = 1},
    4 * 3 * sizeof(float),
    0};

static void believes(struct lie lie, bool believed)
{
    struct read_options options = READ_OPTIONS_DEFAULT;
    struct photo photo;
    struct message message = {""};
    options.limits.metadata = 1000;
    esra_status status = hear(&lie, &options, &photo, &message);
    CHECK(status == (believed ? ESRA_OK : ESRA_BAD_DATA));
    CHECK(believed || (message.text[0] && !photo.pixels.data && !photo.icc.data));
    esra_photo_free(&photo);
}

#define LIE(field, value)                                                                                              \
    do {                                                                                                               \
        struct lie lie = truth;                                                                                        \
        lie.field = value;                                                                                             \
        believes(lie, false);                                                                                          \
    } while (0)

static void no_lie_is_believed(void)
{
    static const int32_t numbers[] = {INT32_MIN, -1, 0, 2, 5, 255, 100000, INT32_MAX};
    believes(truth, true);
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
        LIE(parcel.mark, (uint32_t)numbers[n]);
        LIE(parcel.width, numbers[n]);
        LIE(parcel.height, numbers[n]);
        LIE(parcel.channels, numbers[n]);
        LIE(parcel.depth, numbers[n]);
        if (numbers[n] != 0 && numbers[n] != 2 && numbers[n] != 5)
            LIE(parcel.format, numbers[n]);
        if (numbers[n] != 2 && numbers[n] != 5)
            LIE(parcel.orientation, numbers[n]);
        if (numbers[n] != 0) {
            LIE(parcel.incomplete, numbers[n]);
            LIE(parcel.curves, numbers[n]);
        }
        if (numbers[n] != 0 && numbers[n] != 2 && numbers[n] != 5)
            LIE(parcel.status, numbers[n]);
    }
    LIE(parcel.curves, 1);
    LIE(parcel.icc, 1001);
    LIE(parcel.exif, UINT64_MAX);
    LIE(parcel.icc, UINT64_MAX - 5);
    LIE(bytes, 47);
    LIE(bytes, 49);
    LIE(fill, 0xff); /* NaN */
    LIE(fill, 0x40); /* 3.004 */
    struct lie endless = truth;
    memset(endless.parcel.profile_name, 'x', sizeof endless.parcel.profile_name);
    believes(endless, false);
    memset(endless.parcel.message, 'x', sizeof endless.parcel.message);
    endless.parcel.status = ESRA_BAD_DATA;
    believes(endless, false);
}

/* Bytes of every kind in place of the head: an error, and no more. */
static void noise_is_refused(void)
{
    struct read_options options = READ_OPTIONS_DEFAULT;
    struct photo photo;
    struct message message;
    for (int round = 0; round < 100; round++) {
        struct lie lie = truth;
        unsigned char *bytes = (unsigned char *)&lie.parcel;
        for (int changes = 0; changes < 4; changes++)
            bytes[4 + check_bits() % 60] = (unsigned char)check_bits();
        esra_status status = hear(&lie, &options, &photo, &message);
        if (status == ESRA_OK)
            CHECK(photo.pixels.width * photo.pixels.height * photo.pixels.channels <= 12);
        esra_photo_free(&photo);
    }
}

/* ---- A head alone ---- */

static void heads_tell_the_size(void)
{
    static const char *const names[] = {"h.png", "h.jpg", "h.tif", "h.npy"};
    struct write_options plain = WRITE_OPTIONS_DEFAULT;
    struct photo photo = made_photo(40, 30, 3, 8), head;
    struct message message = {""};
    struct read_options options = READ_OPTIONS_DEFAULT;
    options.head_only = true;
    photo.icc = made_profile(3, cmsBuildGamma(NULL, 2.2));
    options.profile = true;
    for (int n = 0; n < 8; n++) {
        options.untrusted = n >= 4;
        CHECK(esra_photo_write(&photo, made_path(names[n % 4]), &plain, &message) == ESRA_OK);
        if (!CHECK(esra_photo_read(&head, made_path(names[n % 4]), &options, &message) == ESRA_OK))
            printf("    %s\n", message.text);
        CHECK(!head.pixels.data && head.pixels.width == 40 && head.pixels.height == 30 && head.pixels.channels == 3);
        CHECK(head.depth == (n % 4 < 3 ? 8 : 32) && head.orientation == 1);
        CHECK((head.curves != NULL) == (n % 4 < 3) && (head.profile_name[0] != '\0') == (n % 4 < 3));
        esra_photo_free(&head);
    }
    esra_photo_free(&photo);
}

/* A profile is looked at in the jail; its curves and primaries have the same bits. */
static void colours_are_the_same(void)
{
    struct write_options plain = WRITE_OPTIONS_DEFAULT;
    struct photo photo = made_photo(8, 8, 3, 8), jailed, plainly;
    struct message message = {""};
    struct read_options options = READ_OPTIONS_DEFAULT;
    photo.icc = made_profile(3, cmsBuildGamma(NULL, 1.8));
    CHECK(esra_photo_write(&photo, made_path("c.png"), &plain, &message) == ESRA_OK);
    options.profile = true;
    CHECK(esra_photo_read(&plainly, made_path("c.png"), &options, &message) == ESRA_OK);
    options.untrusted = true;
    CHECK(esra_photo_read(&jailed, made_path("c.png"), &options, &message) == ESRA_OK);
    CHECK(plainly.curves && jailed.curves &&
          memcmp(plainly.curves, jailed.curves, 3 * CURVE_CODES * sizeof *jailed.curves) == 0);
    CHECK(plainly.primaries[0] > 0 && memcmp(plainly.primaries, jailed.primaries, sizeof jailed.primaries) == 0);
    CHECK_TEXT(plainly.profile_name, jailed.profile_name);
    CHECK(made_difference(&plainly.pixels, &jailed.pixels) == 0);
    esra_photo_free(&photo);
    esra_photo_free(&plainly);
    esra_photo_free(&jailed);
}

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    RUN(no_lie_is_believed);
    RUN(noise_is_refused);
    RUN(heads_tell_the_size);
    RUN(colours_are_the_same);
    made_end();
    return check_report();
}
