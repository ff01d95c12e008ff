#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/regular_file.h"

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

/// Within what a shell's "<(...)" takes to print its next bytes, or to end.
bool brings_more(int pipe) {
  constexpr int kPatience = 10'000;  // ms
  pollfd readable{.fd = pipe, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&readable, 1, kPatience);
  if (ready == 0) errno = EAGAIN;
  return ready > 0 || (ready < 0 && errno == EINTR);
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& file, std::size_t limit) {
  // Whoever may put a pipe in a file's place cannot hold up a service: open(2) would wait for its
  // writer, and read(2) for its bytes.
  const Descriptor opened{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (opened.fd < 0)
    return failure(errno == ENOENT ? Code::kNotFound : Code::kInvalid, file, "cannot open");
  std::string bytes;
  struct stat opened_as{};
  if (::fstat(opened.fd, &opened_as) == 0 && S_ISREG(opened_as.st_mode) && opened_as.st_size > 0)
    bytes.reserve(std::min(static_cast<std::size_t>(opened_as.st_size), limit));
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
  TRY(auto fresh, NewFile::beside(file, mode));
  TRY(fresh.write(bytes));
  return fresh.take_place();
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const Descriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (opened.fd < 0 || ::fsync(opened.fd) != 0)
    return failure(Code::kStorage, folder, "cannot make durable");
  return ok();
}

}  // namespace cupel
