#include "burnin/agent/node/job/folder.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/enum_words.h"
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
  struct flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file.number(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return false;
  return lock.l_pid == keeper || lock.l_pid == 0;  // 0: of another process namespace
}

bool keeper_lives(const std::string& folder, pid_t keeper) {
  if (keeper <= 0) return false;
  // A shell that was started without us holds no lock, and leaves no such file.
  if (!exists(folder + "/job")) return ::kill(keeper, 0) == 0 || errno == EPERM;
  return holds_lock(folder + "/keeper", keeper);
}

Phase phase_of(const std::string& folder, pid_t keeper, std::optional<int>& status) {
  const auto ended = [&] {
    const auto exit_word = read_word(folder + "/exit");
    status = exit_word ? number<int>(*exit_word) : std::nullopt;
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

/// Empty where it is. `ours`: root's is not good enough, and it is closed to everybody else.
std::string why_not_safe(const struct stat& found, bool ours) {
  const auto us = ::geteuid();
  const auto mode = found.st_mode & 07777;
  const bool owned = found.st_uid == us || (!ours && found.st_uid == 0);
  const bool sticky = (mode & S_ISVTX) != 0 && found.st_uid == 0;
  const bool shut = ours ? (mode & 077) == 0 : (mode & 022) == 0 || sticky;
  if (S_ISDIR(found.st_mode) && owned && shut) return {};
  char octal[8];
  std::snprintf(octal, sizeof octal, "%04o", static_cast<unsigned>(mode));
  const auto* kind = S_ISLNK(found.st_mode)   ? "a symbolic link"
                     : S_ISDIR(found.st_mode) ? "a folder"
                                              : "no folder";
  return std::string{" is "} + kind + " of user " + std::to_string(found.st_uid) + ", mode " +
         octal +
         (ours ? ": it must be a folder of user " + std::to_string(us) +
                     " that is closed to everybody else (0700)"
               : ": it must be a folder of root or of user " + std::to_string(us) +
                     " that nobody else may write to");
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

/// A user who cannot have root's folder has one of his own.
Result<std::string> in_own_home(std::string folder) {
  constexpr std::string_view kOfRoot = "/var/lib/cupel-node/";
  if (::geteuid() == 0 || !folder.starts_with(kOfRoot)) return folder;
  const char* reported = std::getenv("HOME");
  std::string home = reported == nullptr ? "" : reported;
  while (home.ends_with('/')) home.pop_back();
  if (!home.starts_with('/'))
    return Error{Code::kFailed, "HOME names no folder: log in as root, or say sudo: true"};
  return checked_folder(home + "/.cupel-node/" + folder.substr(kOfRoot.size()));
}

/// Errors: kFailed: a link on the way is neither root's nor our own.
Result<void> check_links(const std::string& path) {
  for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const auto level = path.substr(0, end);
    struct stat found{};
    const bool is_link = ::lstat(level.c_str(), &found) == 0 && S_ISLNK(found.st_mode);
    if (is_link && found.st_uid != 0 && found.st_uid != ::geteuid())
      return Error{Code::kFailed,
                   level + " is a symbolic link of user " + std::to_string(found.st_uid) +
                       ". Find out who made it, set it right or remove it, and run this again"};
    if (end == path.npos) return ok();
  }
}

}  // namespace

std::string_view to_string(Phase phase) { return enum_word<'-'>(phase); }

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
  const auto reported = lines(*file);
  if (reported.size() != 3) return std::nullopt;
  return Begun{std::string{reported[0]}, number<std::uint64_t>(reported[1]).value_or(0),
               number<std::uint64_t>(reported[2]).value_or(0)};
}

Result<std::string> job_folder(std::string_view named) {
  TRY(auto folder, checked_folder(named));
  TRY(folder, in_own_home(std::move(folder)));
  const auto parent = folder.substr(0, folder.rfind('/'));
  const auto above = parent.substr(0, parent.rfind('/'));
  char real[PATH_MAX];
  if (::realpath(above.c_str(), real) == nullptr || above == real) return folder;
  TRY(check_links(above));
  const std::string_view place{real};
  return std::string{place == "/" ? "" : place} + folder.substr(above.size());
}

Result<void> make_own_folder(const std::string& folder) {
  TRY(check_safe(folder));  // nothing is made where another user's link leads to
  const auto parent = folder.substr(0, folder.rfind('/'));
  for (auto end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const auto above = folder.substr(0, end);
    const mode_t mode = above == folder || above == parent ? 0700 : 0755;
    if (::mkdir(above.c_str(), mode) != 0 && errno != EEXIST && errno != EROFS)
      return Error{Code::kFailed, "make " + above + ": " + std::strerror(errno)};
    if (end == folder.npos) break;
  }
  struct stat there{};
  if (::lstat(folder.c_str(), &there) != 0)
    return Error{Code::kFailed, folder + ": " + std::strerror(errno)};
  return check_safe(folder);
}

Result<void> check_safe(const std::string& folder) {
  const auto parent = folder.substr(0, folder.rfind('/'));
  for (auto end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const auto level = folder.substr(0, end);
    struct stat found{};
    if (::lstat(level.c_str(), &found) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return ok();
      return Error{Code::kFailed, level + ": " + std::strerror(errno)};
    }
    if (const auto why = why_not_safe(found, level == folder || level == parent); !why.empty())
      return Error{Code::kFailed, level + why +
                                      ". Find out who made it so, set it right or remove it, and "
                                      "run this again"};
    if (end == folder.npos) return ok();
  }
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
