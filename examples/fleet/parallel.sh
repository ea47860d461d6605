#!/bin/sh
# Shares of one jobs file by GNU parallel, on this machine or with -S on others that see the same folder.
# usage: parallel.sh SHARES [options of parallel]
shares=$1
shift
seq "$shares" | parallel -j "$shares" --halt soon,fail=1 --joblog fleet.log "$@" \
    esra batch "${JOBS:-jobs.jsonl}" -o "${OUT:-out}" --shard "{}/$shares"
