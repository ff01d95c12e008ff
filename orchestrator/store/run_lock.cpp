#include "orchestrator/store/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

namespace cupel::store {
namespace {

std::filesystem::path file_of(const std::filesystem::path& state, engine::RunId run) {
  return state / fmt::format("run-{}.lock", run);
}

}  // namespace

Result<RunLock> RunLock::take(const std::filesystem::path& state, engine::RunId run) {
  const auto file = file_of(state, run);
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0)
    return Error{Code::kStorage,
                 fmt::format("cannot open {}: {}", file.string(), std::strerror(errno))};
  RunLock lock{fd};
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0)
    return Error{Code::kConflict, fmt::format("run {} is being executed by process {}", run,
                                              holder(state, run).value_or(0))};
  const auto pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
    return Error{Code::kStorage,
                 fmt::format("cannot write {}: {}", file.string(), std::strerror(errno))};
  return lock;
}

std::optional<int> RunLock::holder(const std::filesystem::path& state, engine::RunId run) {
  const auto file = file_of(state, run);
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  const bool free = ::flock(fd, LOCK_SH | LOCK_NB) == 0;
  ::close(fd);
  if (free) return std::nullopt;
  const auto text = read_file(file, 64);
  return text ? number<int>(trimmed(text.assume_value())) : std::nullopt;
}

RunLock::~RunLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace cupel::store
