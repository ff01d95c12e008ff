// Ends a job and all that it started.
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/common/json_line.h"
#include "burnin/agent/common/options.h"
#include "burnin/agent/common/small_file.h"
#include "burnin/agent/node/job/folder.h"
#include "burnin/agent/node/job/process_tree.h"
#include "burnin/agent/node/job/subcommands.h"
#include "burnin/agent/node/job/supervisor.h"
#include "burnin/agent/node/job/watch_folder.h"

namespace cupel::agent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kToStart{2000};
constexpr milliseconds kToEnd = kGraceAtStop + milliseconds{10'000};
constexpr milliseconds kToKill{5000};

bool at_work(const Look& seen) {
  return seen.phase == Phase::running || seen.phase == Phase::starting;
}

/// Waits while `holds`, at most so long.
Look wait_while(const std::string& folder, bool (*holds)(const Look&), milliseconds patience) {
  FolderWatch watch{folder};
  const auto until = since_boot() + patience;
  auto seen = look(folder);
  while (holds(seen)) {
    const auto left = std::chrono::ceil<milliseconds>(until - since_boot());
    if (left <= milliseconds{0} || !watch.wait(seen.keeper, left)) break;
    seen = look(folder);
  }
  return seen;
}

/// The signal reaches the supervisor that held the lock, or nobody: a process id may be given away
/// between looking and sending, a pidfd is not.
bool signal_keeper(const std::string& folder, pid_t keeper, int signal) {
  const Descriptor process{static_cast<int>(::syscall(SYS_pidfd_open, keeper, 0))};
  if (look(folder).keeper != keeper) return true;  // it has ended by itself
  const auto sent = process ? ::syscall(SYS_pidfd_send_signal, process.number(), signal, nullptr, 0)
                            : ::kill(keeper, signal);
  return sent == 0 || errno == ESRCH;
}

}  // namespace

int stop_job(Arguments arguments) {
  constexpr std::array kChoices{Choice{.name = "--folder", .kind = Choice::Kind::kText}};
  const auto options = Options::read(kChoices, arguments);
  if (!options) return print_error(options.error());
  const auto reported = job_folder(options->text("--folder"));
  if (!reported) return print_error(reported.error());
  const auto& folder = *reported;
  const auto safe = check_safe(folder);
  if (!safe) return print_error(safe.error());

  auto seen =
      wait_while(folder, [](const Look& now) { return now.phase == Phase::starting; }, kToStart);
  if (at_work(seen)) {
    const auto mark = folder + "/stopped";
    if (::mkdir(mark.c_str(), 0755) != 0 && errno != EEXIST)
      return print_error(Error{Code::kFailed, mark + ": " + std::strerror(errno)});
    if (seen.keeper > 0 && !signal_keeper(folder, seen.keeper, SIGTERM))
      return print_error(Error{Code::kFailed, "stop " + folder + ": " + std::strerror(errno)});
    seen = wait_while(folder, at_work, kToEnd);
    // A supervisor that does not do it is ended itself: its guard ends the rest.
    if (seen.keeper > 0) signal_keeper(folder, seen.keeper, SIGKILL);
  }
  const auto group = read_word(folder + "/cgroup").value_or("");
  if (seen.phase != Phase::unknown && !kill_strays(folder, group, kToKill))
    return print_error(Error{Code::kFailed, "stop " + folder + ": some of its processes live on"});
  JsonLine line{"stop"};
  line.add("folder", folder).add("state", to_string(look(folder).phase));
  return print(line) ? kDone : kCannotWrite;
}

int list_jobs(Arguments arguments) {
  constexpr std::array kChoices{
      Choice{.name = "--base", .kind = Choice::Kind::kText, .fallback = "/var/lib/cupel-node"}};
  const auto options = Options::read(kChoices, arguments);
  if (!options) return print_error(options.error());
  const auto& base = options->text("--base");
  for (const auto& name : names_in(base)) {
    const auto folder = base + "/" + name;
    const auto written = check_safe(folder) ? begun(folder) : std::nullopt;
    if (!written) continue;
    const auto seen = look(folder);
    JsonLine line{"job"};
    line.add("folder", folder).add("name", written->name);
    line.add("started_at", written->at).add("limit", written->limit_seconds);
    line.add("state", to_string(seen.phase)).add("exit", seen.exit_status);
    line.add("out_size", seen.out_size).add("err_size", seen.err_size);
    if (seen.beat_age) line.add("heartbeat_age", *seen.beat_age);
    if (!print(line)) return kCannotWrite;
  }
  return kDone;
}

}  // namespace cupel::agent
