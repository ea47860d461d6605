#!/bin/sh
# Compares what libesra promises to programs already built (exported symbols, sizes, places of fields, values) with the list
# in abi.txt. What has gone or changed breaks them, and wants another soname: raise the version's minor number, before 1.0,
# or the major one (include/esra/version.h), and then 'abi.sh ... --update'. What is new is only noted, by the same.
# usage: abi.sh ABI_PROGRAM LIBRARY [--update]
here=$(cd "$(dirname "$0")" && pwd)
list=$here/abi.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
missing=

command -v readelf >/dev/null || { echo "skipped: readelf (binutils) is not here"; exit 77; }
"$1" >"$work/found"
code=$?
[ $code = 0 ] || { echo "skipped: the list is for machines with 64 bits"; exit $code; }
soname=$(readelf -dW "$2" | sed -n 's/.*SONAME.*\[\(.*\)\]/soname \1/p')
echo "$soname" >>"$work/found"
readelf --dyn-syms -W "$2" | awk '$7 != "UND" && ($5 == "GLOBAL" || $5 == "WEAK") && $8 != "" {print "symbol", $8}' >>"$work/found"
sort -u -o "$work/found" "$work/found"

sort -u "$list" >"$work/listed" || exit 1
gone=$(comm -23 "$work/listed" "$work/found")
new=$(comm -13 "$work/listed" "$work/found")

# A struct that begins with its size may grow: its size alone is then another.
grown=$(echo "$new" | sed -n 's/^size \(esra_[a-z_]*\) .*/\1/p')
for struct in $grown; do
    before=$(sed -n "s/^size $struct //p" "$work/listed")
    after=$(sed -n "s/^size $struct //p" "$work/found")
    if [ -n "$before" ] && [ "$after" -gt "$before" ] && grep -A1 "^typedef struct $struct {" "$here/../../include/esra/esra.h" |
        grep -q struct_size; then
        gone=$(echo "$gone" | grep -v "^size $struct ")
    fi
done

if [ -n "$gone" ] && grep -qx "$soname" "$work/listed"; then
    echo "these have gone or changed, and programs built with ${soname#soname } would break; raise the version that the soname has:"
    echo "$gone"
    exit 1
fi
if [ "$3" = --update ]; then
    cp "$work/found" "$list"
    exit 0
fi
if [ -n "$gone$new" ]; then
    echo "not in the list, which 'tests/api/abi.sh $1 $2 --update' brings up to date:"
    echo "$new"
    exit 1
fi
# Debian's package has the symbols with the version that brought each.
for symbol in $(sed -n 's/^symbol //p' "$work/found"); do
    grep -q "^ $symbol@Base " "$here/../../packaging/debian/"*.symbols || missing="$missing $symbol"
done
if [ -n "$missing" ]; then
    echo "packaging/debian/*.symbols lacks:$missing"
    exit 1
fi
echo "$(wc -l <"$work/found") lines, as they were"
