# Sourced by scripts/test, after setup.sh: its parts, what each of them took, and which are due.
# shellcheck shell=bash

# Runs the tests of PRESET, once: a test that fails beside others and passes alone is a defect like any other. Some wait
# for minutes while they compute nothing (a GPU that hangs is named after 20 s), hence more at once than there are processors.
run_tests() { # PRESET [CTEST OPTION...]
  local preset=$1 said=$root/build/$1/tests.log status=0
  shift
  say "testing ($preset)"
  ctest --test-dir "$root/build/$preset" --output-on-failure --no-tests=error -j "$(($(nproc) * 5 / 2))" "$@" | tee "$said" || status=1
  # As ctest ends: "whole = 7105.20 sec*proc (177 tests)".
  labels_took+=$(sed -nE "s/^ *([^ ]+) += +([0-9]+)\..* sec\*proc \((.*)\)$/\1 ($preset)|\2|\3/p" "$said")$'\n'
  [ "$status" = 0 ] || { failures=$root/build/$preset/Testing/Temporary/LastTest.log; return 1; }
}

# ASAN_OPTIONS. Memory that is used again soon lies in the processor's cache and is mapped: with a megabyte of memory that is
# kept back from use after it was freed, and stacks of allocations of one frame, a rehearsal takes a fifth less CPU than with
# 16 megabytes and eight frames. With WATCH 1 there are these, and a local variable is watched after its function has
# returned too, which takes a quarter of the CPU of all.
asan_options() { # WATCH
  echo "detect_stack_use_after_return=$1:$([ "$1" = 1 ] && echo quarantine_size_mb=16:malloc_context_size=8 ||
    echo quarantine_size_mb=1:thread_local_quarantine_size_kb=64:malloc_context_size=1):allocator_release_to_os_interval_ms=-1"
}

# What failed in LOG of ctest, so short that the end of a long log still has it: tests, first words of each failure.
say_failures() { # LOG
  say "what failed (all of it: $1)"
  awk '/: Failure$|runtime error:|ERROR: AddressSanitizer|WARNING: ThreadSanitizer/ {left = 5}
    left > 0 || /^\[  FAILED  \] .* ms\)$/ {print substr($0, 1, 200); left--}' "$1" | head -n 40
}

# The targets that hold the tests whose names (Suite.Test) match REGEX, by their sources; none where that is not known.
targets_of_tests() { # REGEX
  (cd "$root/tests" && grep -rPzo --include=*.cpp '\n(TYPED_)?TEST(_F|_P)?\(\s*\w+,\s*\w+' .) | tr -d '\n' | tr '\0' '\n' |
    sed -E 's/^\.\/([^:]*):.*\( *(\w+), *(\w+)$/\2.\3 \1/' |
    awk -v name="$1" '$1 ~ name {
      count = split($2, folder, "/")
      print (count > 1 ? folder[count - 1] : "tidy") "_test"
    }' | sort -u
}

# What the tests of each label took: LABEL (PRESET)|SECONDS OF ALL PROCESSES|COUNT, a line each.
labels_took=
# What each part took: NAME|WALL SECONDS|CPU SECONDS. A part that fails ends the script (set -e), which then names it.
parts=()
running=
failures=
part() { # NAME COMMAND...
  local begun=$SECONDS before
  running=$1
  shift
  before=$(cpu_seconds)
  "$@"
  parts+=("$running|$((SECONDS - begun))|$(($(cpu_seconds) - before))")
  running=
}
# CPU seconds of all children of PID (this script) that have ended, and of theirs. What ended beside a part counts there.
cpu_seconds() { awk '{sub(/.*\) /, ""); print int(($14 + $15) / 100)}' "/proc/${1:-$$}/stat"; } # [PID]

# Runs COMMAND beside what follows, as NAME, with what the others leave of the processors; join NAME waits for it.
declare -A beside_pid=() beside_log=()
beside() { # NAME COMMAND...
  local name=$1 log
  shift
  log=$root/build/$(tr -c 'a-z0-9\n' - <<< "$name").log
  # A group of its own, to be ended by; no session of its own, since between sessions the kernel heeds no niceness.
  set -m
  (
    local self=$BASHPID
    renice -n 19 "$self" > /dev/null
    SECONDS=0
    "$@"
    echo "$SECONDS|$(cpu_seconds "$self")" > "$log.seconds"
  ) > "$log" 2>&1 &
  set +m
  beside_pid[$name]=$! beside_log[$name]=$log
}
join() { # NAME
  local name=$1 log=${beside_log[$1]} status=0
  running=$name
  wait "${beside_pid[$name]}" || status=$?
  unset "beside_pid[$name]"
  [ "$status" = 0 ] || { tail -n 60 "$log"; echo "$name ended with exit status $status; all of it: $log" >&2; exit "$status"; }
  parts+=("$name (beside others)|$(cat "$log.seconds")")
  running=
}

# What there is to say at the end, however it comes.
print_parts() {
  local status=$? pid line name wall cpu
  for pid in "${beside_pid[@]}"; do kill -- "-$pid" 2> /dev/null || true; done
  say "what each part took"
  for line in "${parts[@]}"; do
    IFS='|' read -r name wall cpu <<< "$line"
    printf '%-36s %5d s %6d s of CPU\n' "$name" "$wall" "$cpu"
  done
  while IFS='|' read -r name wall cpu; do
    [ ! "$name" ] || printf '  of label %-25s %5d s of processes, %s\n' "$name" "$wall" "$cpu"
  done <<< "$labels_took"
  [ ! "$failures" ] || say_failures "$failures"
  [ "$status" = 0 ] || echo "scripts/test: failed${running:+ in: $running}" >&2
  return "$status"
}

# Object files of a build, all together: what there is to compile, the same on every machine and with every compiler
# cache, where seconds of one tree differ by a third (docs/build/decisions/batches.md). PRESET's may grow by 5 % over what
# tests/object-size has; who adds more writes the new figure there, and the reason into the commit.
check_object_size() { # PRESET
  local preset=$1 now allowed
  now=$(cd "$root/build/$preset" && sed -nE 's/.* -o ([^ ]+\.o) .*/\1/p' compile_commands.json | xargs stat -c %s 2> /dev/null |
    awk '{sum += $1} END {printf "%d", sum / 1e6}' || true)  # not of targets that are not built
  allowed=$(sed -n "s/^$preset //p" "$root/tests/object-size")
  [ "$now" -gt 0 ] && [ "$allowed" ] || { echo "no object files of $preset, or no record in tests/object-size" >&2; exit 1; }
  say "object files of $preset: $now MB ($allowed MB recorded)"
  [ $((now * 100)) -le $((allowed * 105)) ] || {
    echo "The object files of $preset have $now MB, more than 5 % over the $allowed MB in tests/object-size: every run of" \
      "scripts/test takes longer by that. Compile less, or write '$preset $now' there and say why in the commit." >&2
    exit 1
  }
}

# The parts of scripts/test --all: all of them, or those that are named.
all_parts=(aarch64 debian13 demo fuzz machines tests threads tidy)
chosen=()
choose_parts() { # [PART...]
  local part
  for part in "$@"; do
    [[ " ${all_parts[*]} " = *" $part "* ]] || { echo "scripts/test --all has no part $part. It has: ${all_parts[*]}" >&2; exit 2; }
  done
  chosen=("$@")
}
is_chosen() { [ ${#chosen[@]} = 0 ] || [[ " ${chosen[*]} " = *" $1 "* ]]; } # PART

# tests/proven names for each part of scripts/test --all the commit on which it last passed, a line each: PART COMMIT.
proven_commit() { # PART
  local commit
  commit=$(sed -n "s/^$1 //p" "$root/tests/proven" 2> /dev/null) && [ "$commit" ] &&
    git -C "$root" merge-base --is-ancestor "$commit" HEAD 2> /dev/null && echo "$commit"
}
# Whether PART, which tests what lies in the PATHs, is to be run.
is_due() { # PART PATH...
  local part=$1 since
  shift
  if [ "$all" ]; then is_chosen "$part"; return; fi
  if ! since=$(proven_commit "$part") || ! git -C "$root" diff --quiet "$since" -- "$@" ||
    [ "$(git -C "$root" ls-files --others --exclude-standard -- "$@")" ]; then return 0; fi
  say "$part: not due, since nothing in $* has changed since scripts/test --all $part passed on ${since:0:12}"
  return 1
}
# PART has passed on what is checked out.
remember_proven() { # PART
  local proven=$root/tests/proven others
  [ "$all" ] || return 0
  [ -z "$(git -C "$root" status --porcelain -- . ':!tests/proven')" ] || { say "uncommitted changes: tests/proven stays as it is"; return 0; }
  others=$(grep -v "^$1 " "$proven" 2> /dev/null || true)
  { [ -z "$others" ] || echo "$others"; echo "$1 $(git -C "$root" rev-parse HEAD)"; } | sort > "$proven"
  say "$1 passes on $(git -C "$root" rev-parse --short=12 HEAD), which tests/proven says now: commit it"
}
