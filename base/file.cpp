#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace cupel {
namespace {

/// Closes the descriptor on every path.
struct Descriptor {
  int fd = -1;
  explicit Descriptor(int opened) : fd{opened} {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

Error failure(Code code, const std::filesystem::path& file, std::string_view verb) {
  return Error{code, std::string{verb} + " " + file.string() + ": " + std::strerror(errno)};
}

/// 16 digits that nobody can know beforehand.
std::string random_word() {
  std::uint64_t value = 0;
  // Of so few bytes it gives all, from start-up on (getrandom(2)); where it cannot, O_EXCL guards.
  if (::getrandom(&value, sizeof value, 0) < 0) value = static_cast<std::uint64_t>(::getpid());
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

/// Within what a shell's "<(...)" takes to print its next bytes, or to end.
bool brings_more(int pipe) {
  constexpr int kPatience = 10'000;  // ms
  pollfd wanted{.fd = pipe, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&wanted, 1, kPatience);
  if (ready == 0) errno = EAGAIN;
  return ready > 0 || (ready < 0 && errno == EINTR);
}

/// Root may rename a file over a device: /dev/null would be a report from then on.
Result<void> check_replaceable(const std::filesystem::path& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0)
    return errno == ELOOP ? Result<void>{failure(Code::kStorage, file, "cannot replace")} : ok();
  if (S_ISREG(found.st_mode)) return ok();
  const auto* what = S_ISDIR(found.st_mode)    ? "a folder"
                     : S_ISFIFO(found.st_mode) ? "a pipe"
                                               : "a device or a socket";
  return Error{Code::kStorage, "cannot replace " + file.string() + ": it is " + what +
                                   ", and no file: name another one"};
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& file, std::size_t limit) {
  // Whoever may put a pipe in a file's place cannot hold up a service: open(2) would wait for its
  // writer, and read(2) for its bytes.
  const Descriptor opened{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (opened.fd < 0)
    return failure(errno == ENOENT ? Code::kNotFound : Code::kInvalid, file, "cannot open");
  std::string bytes;
  char buffer[65536];
  for (;;) {
    const auto got = ::read(opened.fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN && brings_more(opened.fd)) continue;
    if (got < 0 && errno == EAGAIN)
      return Error{Code::kInvalid, file.string() +
                                       " is a pipe that brought nothing for 10 s: write what it is "
                                       "to bring into a file, and name that"};
    if (got < 0) return failure(Code::kInvalid, file, "cannot read");
    if (got == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(got));
    if (bytes.size() > limit)
      return Error{Code::kInvalid,
                   file.string() + " is larger than " + std::to_string(limit) + " bytes"};
  }
}

Result<void> write_file(const std::filesystem::path& file, std::string_view bytes, unsigned mode) {
  TRY(check_replaceable(file));
  auto fresh = file;
  fresh += ".new-" + random_word();
  {
    // Never through a link that somebody has put there, nor into a file of theirs.
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const Descriptor opened{::open(fresh.c_str(), flags, static_cast<mode_t>(mode))};
    if (opened.fd < 0) return failure(Code::kStorage, fresh, "cannot create");
    if (!write_all(opened.fd, bytes) || ::fsync(opened.fd) != 0) {
      auto error = failure(Code::kStorage, fresh, "cannot write");
      ::unlink(fresh.c_str());
      return error;
    }
  }
  if (::rename(fresh.c_str(), file.c_str()) != 0) {
    auto error = failure(Code::kStorage, file, "cannot replace");
    ::unlink(fresh.c_str());
    return error;
  }
  return ok();
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const Descriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (opened.fd < 0 || ::fsync(opened.fd) != 0)
    return failure(Code::kStorage, folder, "cannot make durable");
  return ok();
}

}  // namespace cupel
