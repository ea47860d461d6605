#!/bin/sh
# Reads the includes: a room may only look at the rooms named for it here. See doc/ARCHITECTURE.md. And of <math.h> only
# what every C library rounds alike may be called; base/maths.h has the rest.
# usage: layering.sh SOURCE_FOLDER
cd "$1" || exit 2
failed=0

# allowed ROOM "PREFIX ...": every #include "..." of src/ROOM must begin with one of the prefixes.
allowed() {
    for file in src/$1; do
        [ -f "$file" ] || continue
        for include in $(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file"); do
            good=no
            for prefix in $2; do
                case $include in "$prefix"*) good=yes ;; esac
            done
            if [ $good = no ]; then
                echo "$file includes $include; it may include only: $2"
                failed=1
            fi
        done
    done
}

allowed 'base/*' 'base/'
allowed 'kernels/*' 'kernels/ base/'
allowed 'ops/*' 'ops/ kernels/ base/'
allowed 'solve/*' 'solve/ ops/ kernels/ base/'
allowed 'align/*' 'align/ ops/ kernels/ base/'
allowed 'camera/*' 'camera/ ops/ kernels/ base/'
allowed 'gradients/*' 'gradients/ ops/ kernels/ base/'
allowed 'evidence/*' 'evidence/ solve/ ops/ base/'
allowed 'colour/*' 'colour/ kernels/ base/'
allowed 'measure/*' 'measure/ base/'
allowed 'synth/*' 'synth/ ops/ base/'
allowed 'io/*' 'io/ base/'
allowed 'pipeline/*' 'pipeline/ evidence/ align/ camera/ gradients/ solve/ ops/ base/'
allowed '*.[ch]' 'settings.h pipeline/ solve/ base/'
for file in tools/esra/*.[ch]; do
    case $file in */bench.c) rooms='io\|colour\|base\|kernels' ;; *) rooms='io\|colour\|base' ;; esac
    grep -H '^#include ".*/' "$file" | grep -v "\"\($rooms\)/" && failed=1
done
for file in bindings/wasm/src/*.[ch]; do
    grep -H '^#include ".*/' "$file" | grep -v '"\(io\|colour\|ops\|base\)/' && failed=1
done
for file in bindings/python/src/*.[ch]; do
    grep -H '^#include "' "$file" | grep -v '"binding.h"' && failed=1
    grep -H '^#include <esra/' "$file" | grep -v '<esra/esra.h>' && failed=1
done
own='sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|expm1|log|log2|log10|log1p|pow|hypot|cbrt|erf|tgamma|lgamma'
find src -name '*.[ch]' ! -path 'src/base/maths.*' -exec awk -v calls="(^|[^A-Za-z0-9_])($own)f?[(]" '
    { code = $0; sub(/\/\*.*/, "", code) }
    code !~ /^ \*/ && code ~ calls { print FILENAME ":" FNR " calls the C library; base/maths.h has its own:" code; bad = 1 }
    END { exit bad }' {} + || failed=1
[ $failed = 0 ] && echo "every include points the right way"
exit $failed
