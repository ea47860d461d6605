#!/bin/sh
# The tests under valgrind's memcheck, with no suppressions: every program of a build's tests and fuzz folders, then each
# command once on the smallest scene that has work for it. usage: memcheck.sh BUILD
set -u
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
checked=0

# check EXIT_CODES PROGRAM ARGUMENTS...
check() {
    codes=$1
    shift
    checked=$((checked + 1))
    # Threads come and go with a program: what is still reachable at its end is no leak.
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite "$@" >"$folder/log" 2>&1
    code=$?
    case " $codes " in
    *" $code "*) ;;
    *)
        echo "memcheck: $* ended with $code"
        tail -40 "$folder/log"
        failed=1
        ;;
    esac
}

for program in "$build"/tests/test_*; do
    # Random damage 100 times a file: valgrind makes it thirty times as slow.
    ESRA_TEST_ROUNDS=100 check 0 "$program"
done
for program in "$build"/fuzz/fuzz_*; do
    check 0 "$program" "$here/fuzz/corpus/${program##*/fuzz_}"
done
esra=$build/esra
png=$here/fuzz/corpus/png/rgb-metadata.png
cd "$folder" || exit 1
check 0 "$esra" synth -t "$png" -r "$png" -o scene -n 3 --size 40x32 --shift 2
check '0 10 11' "$esra" separate scene/photo-1.png scene/photo-2.png scene/photo-3.png -o out
for format in jpg tif npy; do
    check 11 "$esra" separate "$png" "$png" -o "out-$format" --format "$format"
done
check '0 11' "$esra" align scene/photo-1.png scene/photo-2.png -o transforms.json
check '0 10 11' "$esra" separate scene/photo-1.png scene/photo-2.png -o out2 --transforms transforms.json
check 0 "$esra" compare scene/photo-1.png out/transmitted.png
check 0 "$esra" help --format man
check 65 "$esra" separate "$png" "$here/memcheck.sh" -o out3
check 64 "$esra" separate
echo "memcheck: $checked programs, $([ $failed = 0 ] && echo 'no errors' || echo 'ERRORS')"
exit $failed
