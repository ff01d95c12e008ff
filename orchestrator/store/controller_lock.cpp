#include "orchestrator/store/controller_lock.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

namespace cupel::store {
namespace {

constexpr std::size_t kLongest = 512;  // bytes of the file: three short lines

std::filesystem::path file_of(const std::filesystem::path& state) {
  return state / "controller.lock";
}

/// The whole file, for writing. An open file description's lock, unlike flock(2)'s, can be asked
/// for without being taken for a moment. Source: fcntl(2), "Open file description locks".
struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

Error storage(const std::filesystem::path& file, std::string_view verb) {
  return Error{Code::kStorage,
               fmt::format("cannot {} {}: {}: the folder must be writable by the controller", verb,
                           file.string(), std::strerror(errno))};
}

bool gone(const ControllerLock::Holder& holder) {
  return holder.host == own_host() && ::kill(holder.pid, 0) != 0 && errno == ESRCH;
}

/// What the file says: "pid\nhost\nmilliseconds since 1970\n".
ControllerLock::Holder holder_in(const std::filesystem::path& file) {
  const auto text = read_file(file, kLongest);
  if (!text) return {};
  const auto lines_of_file = lines(*text);
  if (lines_of_file.size() < 3) return {};
  ControllerLock::Holder holder{
      number<int>(lines_of_file[0]).value_or(0), printable(lines_of_file[1]),
      engine::WallTime{
          std::chrono::milliseconds{number<std::int64_t>(lines_of_file[2]).value_or(0)}}};
  // Left by one that died; the one that holds the lock is about to write its own.
  return holder.pid <= 0 || gone(holder) ? ControllerLock::Holder{} : holder;
}

Error refused(const std::filesystem::path& state, const ControllerLock::Holder& holder) {
  const auto since = std::chrono::floor<std::chrono::seconds>(holder.since);
  const auto who = holder.pid == 0
                       ? std::string{"another process has just become"}
                       : fmt::format("process {} on {} has been, since {:%Y-%m-%d %H:%M:%S} UTC,",
                                     holder.pid, holder.host, fmt::gmtime(since));
  return Error{Code::kConflict,
               fmt::format("{} the controller of {}: ask it (cupel status, cupel cancel), end it, "
                           "or name another folder with --state",
                           who, state.string())};
}

}  // namespace

std::string own_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

Result<ControllerLock> ControllerLock::take(const std::filesystem::path& state) {
  const auto file = file_of(state);
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return storage(file, "open");
  ControllerLock lock{fd};
  auto requested = whole_file();
  if (::fcntl(fd, F_OFD_SETLK, &requested) != 0) {
    if (errno == EAGAIN || errno == EACCES) return refused(state, holder_in(file));
    return storage(file, "lock");
  }
  const auto since =
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto text =
      fmt::format("{}\n{}\n{}\n", ::getpid(), own_host(), since.time_since_epoch().count());
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return storage(file, "write");
  return lock;
}

std::optional<ControllerLock::Holder> ControllerLock::holder(const std::filesystem::path& state) {
  const auto file = file_of(state);
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  auto asked = whole_file();
  const bool held = ::fcntl(fd, F_OFD_GETLK, &asked) == 0 && asked.l_type != F_UNLCK;
  ::close(fd);
  return held ? std::optional{holder_in(file)} : std::nullopt;
}

ControllerLock::~ControllerLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace cupel::store
