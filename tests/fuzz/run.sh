#!/bin/sh
# Runs every fuzz target of a build (preset fuzz) for some seconds each, from the corpus kept here, and counts.
# Inputs that break something are left in BUILD/found, to be fixed and kept: copy them into corpus/TARGET.
# usage: run.sh BUILD [SECONDS]
set -u
build=$1
seconds=${2:-60}
here=$(dirname "$0")
failed=0
for program in "$build"/fuzz/fuzz_*; do
    target=${program##*/fuzz_}
    mkdir -p "$build/found/$target"
    log=$build/found/$target.log
    if "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2000 -print_final_stats=1 \
        -artifact_prefix="$build/found/$target-" "$build/found/$target" "$here/corpus/$target" >"$log" 2>&1; then
        echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs did no harm"
    else
        echo "$target: BROKEN, see $log:"
        grep -E 'not so|runtime error|SUMMARY|Test unit written' "$log"
        failed=1
    fi
done
exit $failed
