// What Slurm runs for each task of an array, after lines that set work, folder and program.
#pragma once
#include <string_view>

namespace raddle::lab {

// Exit statuses of the script and, as notes of how a task ended, beside those of `raddle cell`.
inline constexpr int kScriptNoFolder = 72;
inline constexpr int kScriptNoProgram = 73;
inline constexpr int kScriptTimedOut = 124;  // of timeout(1)

inline constexpr std::string_view kSlurmScript = R"sh(
task=$SLURM_ARRAY_TASK_ID
[ -r "$folder/list" ] || exit 72
# shellcheck disable=SC2046
set -- $(sed -n "${task}p" "$folder/list")
name=$1 seconds=$2
note() {
  echo "$1 $2 $(hostname)" >"$folder/$task.ended.$$" &&
    mv "$folder/$task.ended.$$" "$folder/$task.ended"
}
# Run again after it had ended: a job may be requeued at any moment.
[ -e "$work/$name.spec.json" ] || exit 0
if [ -e "$work/$name.result.json" ]; then
  note 0 0
  exit 0
fi
if [ ! -x "$program" ]; then
  note 73 0
  exit 73
fi

# Slurm sends TERM, then KILL, to a job that it ends or requeues. Then this task has not ended in
# its own right and leaves no note.
terminated=
trap 'terminated=1' TERM
ulimit -c 0
start=$(date +%s%N)
timeout --foreground -k 10 "$seconds" "$program" cell "$work/$name.spec.json" \
  -o "$work/$name.result.json" </dev/null >"$work/$name.log" 2>&1
status=$?
milliseconds=$((($(date +%s%N) - start) / 1000000))
case $status in
  137 | 143) sleep 2 ;;  # the signal for this script may be on its way
esac
[ -z "$terminated" ] && [ $status != 143 ] || exit 143
note $status "$((milliseconds / 1000)).$(printf %03d $((milliseconds % 1000)))"
exit $status
)sh";

}  // namespace raddle::lab
