#!/usr/bin/env bash
# Runs what `cargo xtask gpu-test` has packed. Needs bash, tar, coreutils, NVIDIA's driver, and NVRTC for what compiles kernels.
set -u

help="bash run.sh [--log FILE] [GROUP[=SECONDS]]..

Unpacks tests.tar.gz, which lies beside this script, runs the groups (default: all that are packed)
and prints one table, whose lines it writes to standard error as they come. Ends with 1 if anything failed, ran out of time, or found no GPU.

  --log FILE        where all output goes; default: gpu-test.log
  --only TEXT       of the groups only what has this in its name
  GROUP             conformance, beside, twins, kernels, random, model, bundle, opencl,
                    vulkan, multi, sanitizer, bench
  GROUP=SECONDS     at most this long for the group; what has not run by then counts as failed"

here=$(cd "$(dirname "$0")" && pwd)
log=gpu-test.log
only=
declare -A limits=()
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) printf '%s\n' "$help"; exit 0 ;;
        --log) log=${2:?--log needs a file}; shift ;;
        --only) only=${2:?--only needs a text}; shift ;;
        conformance | beside | twins | kernels | random | model | bundle | opencl | \
        vulkan | multi | sanitizer | bench)
            limits[$1]=1000000 ;;
        conformance=* | beside=* | twins=* | kernels=* | random=* | model=* | bundle=* | \
        opencl=* | vulkan=* | multi=* | sanitizer=* | bench=*)
            [[ ${1#*=} =~ ^[0-9]{1,6}$ ]] || { echo "no number of seconds: $1" >&2; exit 2; }
            limits[${1%%=*}]=$((10#${1#*=})) ;;
        *) printf 'unknown: %s\n\n%s\n' "$1" "$help" >&2; exit 2 ;;
    esac
    shift
done

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
tar -xzf "$here/tests.tar.gz" -C "$scratch" || exit 2
case $log in /*) ;; *) log=$PWD/$log ;; esac
: > "$log" || exit 2
cd "$scratch/tests" || exit 2
. "$scratch/tests/environment"
# What this run compiles once.
export FOLIO_CACHE_DIR=$scratch/cache
# Where NVIDIA's installer puts compute-sanitizer and NVRTC, after what is set.
cuda=${CUDA_HOME:-/usr/local/cuda}
export PATH=$PATH:$cuda/bin
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$cuda/lib64

table= passed=0 failed=0 skipped=0
declare -A used=()
while IFS=$'\t' read -r group limit status name command; do
    [ ${#limits[@]} -eq 0 ] || [ -n "${limits[$group]:-}" ] || continue
    [[ $name == *"$only"* ]] || continue
    left=$((${limits[$group]:-1000000} - ${used[$group]:-0}))
    begun=$(date +%s%N)
    if [ "$left" -le 0 ]; then
        result=no-time
    else
        [ "$left" -ge "$limit" ] || limit=$left
        printf '\n=== %s: %s\n' "$group" "$name" >> "$log"
        # A command is a program and its words, without quotes: it is split, and nothing else.
        set -f
        timeout --kill-after=5 "$limit" $command > "$scratch/output" 2>&1 < /dev/null
        ended=$?
        set +f
        cat "$scratch/output" >> "$log"
        result=FAIL
        if [ "$ended" -eq 124 ] || [ "$ended" -eq 137 ]; then
            result=TIME-OUT
        elif [ "$ended" -eq "$status" ]; then
            result=pass
            ! grep -qE '(^|\.\.\. )skipped: ' "$scratch/output" || result=skip
            # Without a GPU nothing has been tested.
            needed=cuda
            case $group in opencl | vulkan) needed=$group ;; esac
            ! grep -qE "(^|\.\.\. )skipped: $needed: " "$scratch/output" || result=FAIL
        fi
    fi
    took=$((($(date +%s%N) - begun) / 1000000))
    used[$group]=$((${used[$group]:-0} + (took + 999) / 1000))
    case $result in
        pass) passed=$((passed + 1)) ;;
        skip) skipped=$((skipped + 1)) ;;
        *) failed=$((failed + 1)) ;;
    esac
    if [[ $name == benches* ]] && [ "$result" = pass ]; then
        cat "$scratch/output"
    elif [ "$result" != pass ] && [ "$result" != no-time ]; then
        printf -- '--- %s: %s, the last lines\n' "$name" "$result"
        tail -n 30 "$scratch/output"
    fi
    row=$(printf '%-12s %-8s %8d.%03d  %s' "$group" "$result" $((took / 1000)) $((took % 1000)) "$name")
    # For who watches, or stops it.
    printf '%s\n' "$row" >&2
    table+=$row$'\n'
done < "$scratch/tests/plan"

printf '\n%-12s %-8s %12s  %s\n%s' group result seconds name "$table"
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
