/* bindings/wasm/src/numbers.c - strtod() for this module: JavaScript rounds as C must, and the C library's own would
 * bring arithmetic of 128 bits along. Decimals alone, without hexadecimals, infinity and NaN: all that JSON has. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "module.h"

EM_JS(double, module_number, (const char *text), { return parseFloat(UTF8ToString(text)); })

static const char *past_digits(const char *at)
{
    while (isdigit((unsigned char)*at))
        at++;
    return at;
}

static const char *past_sign(const char *at)
{
    return *at == '+' || *at == '-' ? at + 1 : at;
}

/* The end of the number that begins here; NULL where there is none. */
static const char *past_number(const char *text)
{
    const char *whole = past_sign(text), *at = past_digits(whole);
    ptrdiff_t digits = at - whole;
    if (*at == '.') {
        const char *end = past_digits(at + 1);
        digits += end - (at + 1);
        at = end;
    }
    if (digits == 0)
        return NULL;
    if (*at == 'e' || *at == 'E') {
        const char *exponent = past_sign(at + 1), *end = past_digits(exponent);
        at = end > exponent ? end : at;
    }
    return at;
}

double strtod(const char *restrict text, char **restrict end)
{
    const char *begin = text;
    while (isspace((unsigned char)*begin))
        begin++;
    const char *past = past_number(begin);
    if (end)
        *end = (char *)(past ? past : text);
    double value = past ? module_number(begin) : 0;
    if (isinf(value))
        errno = ERANGE;
    return value;
}
