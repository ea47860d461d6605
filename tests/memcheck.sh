#!/bin/sh
# The tests under valgrind's memcheck, with no suppressions: every program of a build's tests and fuzz folders, then each
# command on the smallest scene that has work for it. usage: memcheck.sh BUILD [PATTERN]: programs whose name
# matches alone ('solve_*'), or 'commands' alone
#
# valgrind makes everything thirty times as slow. Programs that work on whole scenes are left out unless ESRA_TEST_ALL is
# set, two hours of them: the commands below run the same code on photos of a few thousand pixels.
set -u
all=${ESRA_TEST_ALL:-}
unset ESRA_TEST_ALL # no test does all that it can
build=$(cd "$1" && pwd)
pattern=${2:-*}
scenes='align_align align_reflection camera_depth pipeline_depth pipeline_large pipeline_oddities pipeline_separate pipeline_stops'
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

for program in "$build"/tests/test_$pattern; do
    name=${program##*/test_}
    [ -x "$program" ] || continue
    case " $scenes " in
    *" $name "*) [ -n "$all" ] || { echo "memcheck: $name works on whole scenes, and is left out"; continue; } ;;
    esac
    case $name in
    io_jail | io_parcel)
        echo "memcheck: $name needs seccomp, which valgrind does not have, and is left out"
        continue
        ;;
    esac
    # Random damage 100 times a file; no limits of time.
    ESRA_TEST_ROUNDS=100 ESRA_TEST_UNTIMED=1 check 0 "$program"
done
for program in "$build"/fuzz/fuzz_$pattern; do
    [ -x "$program" ] || continue
    check 0 "$program" "$here/fuzz/corpus/${program##*/fuzz_}"
done

commands() {
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
    check '0 65' "$esra" swap out # 65: the layers could not be told apart
    check '0 65' "$esra" swap out
    check 0 "$esra" compare scene/photo-1.png out/transmitted.png
    check 0 "$esra" help --format man
    check 0 "$esra" synth -t "$png" -r "$png" -o deep -n 3 --size 96x72 --shift 6 --depth
    check '0 10 11' "$esra" separate deep/photo-1.png deep/photo-2.png deep/photo-3.png -o out4 --motion depth
    check '0 10 11' "$esra" separate deep/photo-1.png deep/photo-2.png deep/photo-3.png -o out5 --layers transmitted
    echo '{"photos": ["scene/photo-1.png", "scene/photo-2.png"], "output": "a"}' >jobs.jsonl
    check 0 "$esra" batch jobs.jsonl -o batch
    check 0 "$esra" batch jobs.jsonl -o batch
    check 0 "$esra" batch jobs.jsonl -o shares --shard 1/1
    check 0 "$esra" batch jobs.jsonl -o shares --status
    check 0 "$esra" info --plan --json scene/photo-1.png scene/photo-2.png
    check '0 74 75' "$esra" info --untrusted scene/photo-1.png # valgrind has neither seccomp nor all limits
    if python3 -c 'import numpy as n; n.save("I", n.full((2, 9, 7), .5, "f4")); n.save("E", n.full((3, 2, 9, 7), .1, "f4"))'; then
        check 0 "$esra" solve --mixtures I.npy --gradients E.npy --weights I.npy --mixing 1,1 -o L.npy --duals U.npy
    else
        echo "memcheck: esra solve needs arrays that only numpy makes, and is left out"
    fi
    check 0 "$esra" bench kernels
    check 65 "$esra" separate "$png" "$here/memcheck.sh" -o out3
    check 64 "$esra" separate
}
case "$pattern" in
'*' | commands) commands ;;
esac
echo "memcheck: $checked programs, $([ $failed = 0 ] && echo 'no errors' || echo 'ERRORS')"
exit $failed
