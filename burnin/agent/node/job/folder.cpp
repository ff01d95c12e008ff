#include "burnin/agent/node/job/folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/common/small_file.h"

namespace cupel::agent {
namespace {

bool exists(const std::string& path) {
  struct stat there{};
  return ::lstat(path.c_str(), &there) == 0;
}

std::uint64_t size_of(const std::string& path) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) return 0;
  return static_cast<std::uint64_t>(there.st_size);
}

/// A process id alone would be somebody else's after a while: the lock is its own.
bool holds_lock(const std::string& path, pid_t keeper) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (!file) return false;
  struct flock wanted{};
  wanted.l_type = F_RDLCK;
  wanted.l_whence = SEEK_SET;
  if (::fcntl(file.number(), F_GETLK, &wanted) != 0 || wanted.l_type == F_UNLCK) return false;
  return wanted.l_pid == keeper || wanted.l_pid == 0;  // 0: of another process namespace
}

bool keeper_lives(const std::string& folder, pid_t keeper) {
  if (keeper <= 0) return false;
  // A shell that was started without us holds no lock, and leaves no such file.
  if (!exists(folder + "/job")) return ::kill(keeper, 0) == 0 || errno == EPERM;
  return holds_lock(folder + "/keeper", keeper);
}

Phase phase_of(const std::string& folder, pid_t keeper, std::optional<int>& status) {
  const auto ended = [&] {
    const auto said = read_word(folder + "/exit");
    status = said ? number<int>(*said) : std::nullopt;
    return status.has_value();
  };
  if (!exists(folder + "/started")) return Phase::unknown;
  if (ended()) return Phase::ended;
  const auto boot = read_word(folder + "/boot");
  if (boot && *boot != boot_id()) return Phase::lost;
  if (keeper == 0) return Phase::starting;
  if (keeper_lives(folder, keeper)) return Phase::running;
  return ended() ? Phase::ended : Phase::lost;  // it may have ended since we looked first
}

}  // namespace

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::unknown:
      return "unknown";
    case Phase::starting:
      return "starting";
    case Phase::running:
      return "running";
    case Phase::ended:
      return "ended";
    case Phase::stopped:
      return "stopped";
    case Phase::lost:
      return "lost";
  }
  __builtin_unreachable();
}

Look look(const std::string& folder) {
  Look seen;
  const auto keeper = read_word(folder + "/keeper");
  if (keeper) seen.keeper = number<pid_t>(*keeper).value_or(0);
  std::optional<int> status;
  seen.phase = phase_of(folder, seen.keeper, status);
  seen.exit_status = status.value_or(0);
  const bool over = seen.phase == Phase::ended || seen.phase == Phase::lost;
  if (over && exists(folder + "/stopped")) seen.phase = Phase::stopped;
  if (seen.phase != Phase::running) seen.keeper = 0;
  // After the phase: of a job that has ended, this is all that it ever wrote.
  seen.out_size = size_of(folder + "/out");
  seen.err_size = size_of(folder + "/err");
  const auto beat = read_word(folder + "/beat");
  const auto at = beat ? number<double>(*beat) : std::nullopt;
  if (at) seen.beat_age = std::chrono::duration<double>{since_boot()}.count() - *at;
  seen.over = exists(folder + "/over");
  seen.full = exists(folder + "/full");
  return seen;
}

std::optional<Begun> begun(const std::string& folder) {
  const auto file = read_small(folder + "/job", 4096);
  if (!file) return std::nullopt;
  const auto told = lines(file.assume_value());
  if (told.size() != 3) return std::nullopt;
  return Begun{std::string{told[0]}, number<std::uint64_t>(told[1]).value_or(0),
               number<std::uint64_t>(told[2]).value_or(0)};
}

Result<std::string> checked_folder(std::string_view folder) {
  const auto levels = split(folder, '/');
  bool plain = levels.size() >= 4 && levels.front().empty() && folder.size() < 4000;
  for (std::size_t i = 1; i < levels.size(); ++i)
    plain = plain && !levels[i].empty() && levels[i] != "." && levels[i] != "..";
  if (plain && printable(folder) == folder) return std::string{folder};
  return Error{Code::kInvalid, "--folder '" + printable(folder) +
                                   "': an absolute path of three levels or more is due"};
}

Result<void> make_own_folder(const std::string& folder) {
  for (auto end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const auto above = folder.substr(0, end);
    if (::mkdir(above.c_str(), 0755) != 0 && errno != EEXIST && errno != EROFS)
      return Error{Code::kFailed, "make " + above + ": " + std::strerror(errno)};
    if (end == folder.npos) break;
  }
  struct stat there{};
  if (::lstat(folder.c_str(), &there) != 0)
    return Error{Code::kFailed, folder + ": " + std::strerror(errno)};
  if (S_ISDIR(there.st_mode) && there.st_uid == ::geteuid() && (there.st_mode & 022) == 0)
    return ok();
  return Error{Code::kFailed, folder + ": no folder of our own that nobody else can write to"};
}

std::chrono::nanoseconds since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

std::string boot_id() { return read_word("/proc/sys/kernel/random/boot_id").value_or("unknown"); }

bool hold_keeper_lock(int descriptor) {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(descriptor, F_SETLK, &whole) == 0;
}

}  // namespace cupel::agent
