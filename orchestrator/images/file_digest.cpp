#include "orchestrator/images/file_digest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "base/digest.h"
#include "base/regular_file.h"

namespace cupel::images {
namespace {

constexpr std::size_t kPiece = 1u << 20;

class Opened {
 public:
  explicit Opened(const std::filesystem::path& file)
      : fd_{::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)} {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  const int fd_;
};

Error failed(const std::filesystem::path& file, int reason) {
  return {reason == ENOENT ? Code::kNotFound : Code::kInvalid,
          file.string() + ": " + std::system_category().message(reason)};
}

Result<std::uint64_t> size_of(const std::filesystem::path& file, int fd) {
  if (fd < 0) return failed(file, errno);
  TRY(check_regular(fd, file));
  struct stat found{};
  if (::fstat(fd, &found) != 0) return failed(file, errno);
  return static_cast<std::uint64_t>(found.st_size);
}

}  // namespace

Result<std::uint64_t> size_of(const std::filesystem::path& file) {
  const Opened opened{file};
  return size_of(file, opened.fd());
}

Result<FileDigest> digest_of(const std::filesystem::path& file) {
  const Opened opened{file};
  TRY(size_of(file, opened.fd()));
  std::vector<char> piece(kPiece);
  Sha256 sum;
  FileDigest digest;
  while (true) {
    const auto got = ::read(opened.fd(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(file, errno);
    if (got == 0) break;
    sum.add({piece.data(), static_cast<std::size_t>(got)});
    digest.size += static_cast<std::uint64_t>(got);
  }
  digest.sha256 = sum.hex();
  return digest;
}

}  // namespace cupel::images
