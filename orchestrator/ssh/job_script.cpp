#include "orchestrator/ssh/job_script.h"

#include "base/text.h"
#include "orchestrator/ssh/job_place.h"
#include "orchestrator/ssh/node_folders.h"

namespace cupel::ssh::job_script {
namespace {

/// `text` with each "@name@" replaced.
std::string filled(std::string text,
                   std::initializer_list<std::pair<const char*, std::string>> values) {
  for (const auto& [name, value] : values)
    for (auto at = text.find(name); at != text.npos; at = text.find(name, at + value.size()))
      text.replace(at, std::string_view{name}.size(), value);
  return text;
}

/// Ends group $g, by `kill -s NAME`: dash takes no "--" behind `kill -NAME`. What made a group of
/// its own (stress-ng's workers do) is still told by its environment; where a node has no grep or
/// no /proc, the group is all there is.
constexpr std::string_view kEndGroup = R"sh(kill -s @signal@ -- -$g 2>/dev/null
cd /proc
strays=$(grep -lsxzF "CUPEL_JOB=$d" [0-9]*/environ 2>/dev/null)
[ -z "$strays" ] || kill -s @signal@ $(dirname $strays) 2>/dev/null
cd /
)sh";

std::string end_group(const char* signal) {
  return filled(std::string{kEndGroup}, {{"@signal@", signal}});
}

// What outlives the script that starts it hears of its folder by its environment, which nobody else
// can read, and not by its command line.

/// The job itself: becomes the leader of a session, says so, and is the script from then on.
constexpr std::string_view kJob = R"sh(d=$CUPEL_JOB
echo $$ > "$d/group.part"; mv "$d/group.part" "$d/group"
exec sh "$d/script"
)sh";

/// In a session of its own. Ends the job at its limit, and when it floods the disk.
constexpr std::string_view kWatch = R"sh(d=$CUPEL_FOLDER
( sleep @limit@
  mkdir "$d/over"
  g=$(cat "$d/group")
  @term@
  sleep 10
  @kill@ ) &
while sleep 10; do
  if [ ! -d "$d/started" ] || [ -s "$d/exit" ]; then kill -s KILL -- -$$; fi
  if [ "$(wc -c < "$d/out")" -gt @spool@ ] || [ "$(wc -c < "$d/err")" -gt @spool@ ]; then
    mkdir "$d/full"
    g=$(cat "$d/group")
    @kill@
  fi
done
)sh";

/// Each by itself too: the watch may not lead its group yet, and what it started outlives it.
constexpr std::string_view kEndWatch = R"sh(kill -s KILL -- -$w 2>/dev/null
kill -s KILL $w 2>/dev/null
kill -s KILL -- -$w 2>/dev/null)sh";

/// Outlives the job, so that its exit status is always written, and nothing of it stays behind.
constexpr std::string_view kKeeper = R"sh(d=$CUPEL_FOLDER
echo $$ > "$d/keeper.part"; mv "$d/keeper.part" "$d/keeper"
setsid sh -c @watch@ < /dev/null > /dev/null 2>&1 &
w=$!
CUPEL_JOB="$d" CUPEL_FOLDER= setsid sh -c @job@ < /dev/null > "$d/out" 2> "$d/err"
status=$?
@end_watch@
g=$(cat "$d/group")
@kill@
if [ -d "$d/over" ]; then status=124; fi
echo $status > "$d/exit.part"; mv "$d/exit.part" "$d/exit"
)sh";

/// Two controllers may do this at once, so every file comes whole, and `started` decides. What is
/// in the programs' folder runs as soon as a stage's script names it, and tools have their scratch
/// files in the other two.
constexpr std::string_view kStart = R"sh(umask 022
@place@
if [ -d "$d/started" ]; then exit 0; fi
for each in @programs@ @programs@/lib /tmp/. /var/tmp/.; do
  if [ -e "$each" ] || [ -L "$each" ]; then
    why=$(cupel_unsafe "$each")
    if [ -n "$why" ]; then cupel_refuse "$why. Set it right, or remove it: what lies there is used by programs that run as user $cupel_me."; fi
  fi
done
cat > "$d/script.part.$$" || exit 73
if [ "$(sha256sum < "$d/script.part.$$")" != "@digest@  -" ]; then
  rm -f "$d/script.part.$$"
  exit 74
fi
mv "$d/script.part.$$" "$d/script" || exit 73
cat /proc/sys/kernel/random/boot_id > "$d/boot.part.$$" || exit 73
mv "$d/boot.part.$$" "$d/boot" || exit 73
@launch@
)sh";

constexpr std::string_view kByShell = R"sh(mkdir "$d/started" 2>/dev/null || exit 0
CUPEL_FOLDER=$d setsid sh -c @keeper@ < /dev/null > /dev/null 2>&1 &)sh";

/// It makes `started` itself.
constexpr std::string_view kByProgram = R"sh(why=$(cupel_unsafe @program@)
if [ -n "$why" ]; then cupel_refuse "$why. Remove it, and run this again: it is brought anew."; fi
exec @program@ start @name@ --folder "$d" --limit @limit@ --spool-limit @spool@ -- sh "$d/script" < /dev/null > /dev/null)sh";

/// The folder says that a cupel-node looks after the job; which file that is, it does not say: only
/// ours is run, and only where nobody else can have changed it. Else a shell reads the folder.
constexpr std::string_view kAskProgram =
    R"sh(if [ -s "$d/program" ] && [ -x @program@ ] && [ -z "$(cupel_unsafe @program@)" ]; then exec @program@ @ask@; fi
)sh";

/// $phase: is it there, has it ended, does anything of it still live?
constexpr std::string_view kLook = R"sh(phase=running
if [ ! -d "$d/started" ]; then phase=unknown
elif [ -s "$d/exit" ]; then phase=ended
elif [ "$(cat "$d/boot")" != "$(cat /proc/sys/kernel/random/boot_id)" ]; then phase=lost
elif [ ! -s "$d/keeper" ]; then phase=starting
elif kill -0 $(cat "$d/keeper") 2>/dev/null; then phase=running
elif [ -s "$d/exit" ]; then phase=ended
else phase=lost
fi
if [ -d "$d/stopped" ]; then
  case $phase in ended | lost) phase=stopped ;; esac
fi
)sh";

constexpr std::string_view kRead = R"sh(@place@
@ask_program@
ready=
for pause in @pauses@ last; do
  if [ -z "$ready" ]; then
    @look@
    out=0; err=0
    if [ -s "$d/out" ]; then out=$(wc -c < "$d/out"); fi
    if [ -s "$d/err" ]; then err=$(wc -c < "$d/err"); fi
    if [ $phase != running ] && [ $phase != starting ]; then ready=1; fi
    if [ $out -gt @out@ ] || [ $err -gt @err@ ]; then ready=1; fi
    if [ -z "$ready" ] && [ $pause != last ]; then sleep $pause; fi
  fi
done
if [ $phase = starting ]; then
  sleep 1
  @look@
  if [ $phase = starting ]; then phase=lost; fi
fi
status=0
if [ -s "$d/exit" ]; then status=$(cat "$d/exit"); fi
echo @header@ $phase $status $out $err
echo @header@ $phase $status $out $err >&2
if [ $out -gt @out@ ]; then tail -c +@out_first@ "$d/out"; fi
if [ $err -gt @err@ ]; then tail -c +@err_first@ "$d/err" >&2; fi
exit 0
)sh";

/// The keeper writes `exit` once the job has gone, and ends what the job left behind.
constexpr std::string_view kStop = R"sh(@place@
@ask_program@
@look@
if [ $phase != running ] && [ $phase != starting ]; then exit 0; fi
for try in 1 2 3 4 5 6 7 8 9 10; do
  if [ ! -s "$d/group" ]; then sleep 0.1; fi
done
mkdir "$d/stopped" 2>/dev/null
g=$(cat "$d/group") || exit 0
@term@
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
  if [ ! -s "$d/exit" ]; then sleep 0.1; fi
done
if [ -s "$d/exit" ]; then exit 0; fi
@kill@
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  if [ ! -s "$d/exit" ]; then sleep 0.1; fi
done
if [ -s "$d/exit" ]; then exit 0; fi
exit 75
)sh";

/// Whole or not at all. A job that has gone needs no word.
constexpr std::string_view kTell = R"sh(@place@
if [ ! -d "$d/started" ]; then exit 0; fi
echo @word@ > "$d/word.part" && mv "$d/word.part" "$d/word"
)sh";

constexpr std::string_view kForget = R"sh(@place@
@look@
if [ $phase = running ] || [ $phase = starting ]; then exit 75; fi
rm -rf "$d"
)sh";

/// Short at first, so that a quick stage is seen to end quickly; then once a second. Together they
/// are `wait`.
std::string pauses(std::chrono::seconds wait) {
  std::string list;
  auto left = std::chrono::milliseconds{wait};
  auto longest = std::chrono::milliseconds{100};
  while (left.count() > 0) {
    const auto pause = std::min(longest, left);
    list += plain(static_cast<double>(pause.count()) / 1000.0) + " ";
    left -= pause;
    longest = std::min(longest * 2, std::chrono::milliseconds{1000});
  }
  return list;
}

std::string ask_program(std::string_view programs, const std::string& what) {
  const auto program = std::string{programs} + "/cupel-node";
  return filled(std::string{kAskProgram}, {{"@program@", shell_quoted(program)}, {"@ask@", what}});
}

/// What a shell starts, that it may outlive it.
std::string keeper_script(std::chrono::seconds limit) {
  const auto watch = filled(std::string{kWatch}, {{"@limit@", std::to_string(limit.count())},
                                                  {"@spool@", std::to_string(kSpoolLimit)},
                                                  {"@term@", end_group("TERM")},
                                                  {"@kill@", end_group("KILL")}});
  return filled(std::string{kKeeper}, {{"@watch@", shell_quoted(watch)},
                                       {"@end_watch@", std::string{kEndWatch}},
                                       {"@job@", shell_quoted(kJob)},
                                       {"@kill@", end_group("KILL")}});
}

}  // namespace

std::string start(std::string_view folder, std::string_view script_digest,
                  std::chrono::seconds limit, std::string_view programs, std::string_view program) {
  const auto by_shell =
      filled(std::string{kByShell}, {{"@keeper@", shell_quoted(keeper_script(limit))}});
  const auto name = folder.substr(folder.rfind('/') + 1);
  const auto by_program =
      filled(std::string{kByProgram}, {{"@program@", shell_quoted(program)},
                                       {"@name@", shell_quoted(name)},
                                       {"@limit@", std::to_string(limit.count())},
                                       {"@spool@", std::to_string(kSpoolLimit)}});
  return filled(std::string{kStart}, {{"@place@", job_place::made(folder)},
                                      {"@programs@", shell_quoted(programs)},
                                      {"@digest@", std::string{script_digest}},
                                      {"@launch@", program.empty() ? by_shell : by_program}});
}

std::string read(std::string_view folder, std::uint64_t out_from, std::uint64_t err_from,
                 std::chrono::seconds wait, std::uint64_t most, std::string_view programs) {
  const auto ask = "tail --folder \"$d\" --from " + std::to_string(out_from) + " --errors-from " +
                   std::to_string(err_from) + " --wait " + std::to_string(wait.count()) +
                   " --most " + std::to_string(most);
  return filled(std::string{kRead}, {{"@place@", job_place::found(folder)},
                                     {"@ask_program@", ask_program(programs, ask)},
                                     {"@look@", std::string{kLook}},
                                     {"@pauses@", pauses(wait)},
                                     {"@header@", std::string{kHeader}},
                                     {"@out@", std::to_string(out_from)},
                                     {"@err@", std::to_string(err_from)},
                                     {"@out_first@", std::to_string(out_from + 1)},
                                     {"@err_first@", std::to_string(err_from + 1)}});
}

std::string stop(std::string_view folder, std::string_view programs) {
  return filled(std::string{kStop},
                {{"@place@", job_place::found(folder)},
                 {"@ask_program@", ask_program(programs, "stop --folder \"$d\"")},
                 {"@look@", std::string{kLook}},
                 {"@term@", end_group("TERM")},
                 {"@kill@", end_group("KILL")}});
}

std::string tell(std::string_view folder, std::string_view word) {
  return filled(std::string{kTell},
                {{"@place@", job_place::found(folder)}, {"@word@", shell_quoted(word)}});
}

std::string forget(std::string_view folder) {
  return filled(std::string{kForget},
                {{"@place@", job_place::found(folder)}, {"@look@", std::string{kLook}}});
}

}  // namespace cupel::ssh::job_script
