#include "orchestrator/images/open_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/paths.h"
#include "base/regular_file.h"

namespace cupel::images {
namespace {

namespace fs = std::filesystem;
constexpr int kRead = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

Error refused(const std::string& path, int reason) {
  return {
      reason == ENOENT ? Code::kNotFound : Code::kInvalid,
      path + ": " +
          (reason == EXDEV ? "lies outside of the folder that is served" : std::strerror(reason))};
}

}  // namespace

Result<OpenFile::Ptr> OpenFile::regular(int fd, const std::string& path) {
  if (fd < 0) return refused(path, errno);
  struct stat found{};
  if (::fstat(fd, &found) != 0) found = {};
  Ptr file{new OpenFile{fd, static_cast<std::uint64_t>(found.st_size), path}};
  TRY(check_regular(fd, path));
  return file;
}

Result<OpenFile::Ptr> OpenFile::open(const std::string& path) {
  return regular(::open(path.c_str(), kRead | O_NOFOLLOW), path);
}

Result<OpenFile::Ptr> OpenFile::open_below(const std::string& folder, const std::string& path) {
  fs::path inside = path;
  if (inside.is_absolute()) inside = inside.lexically_relative(absolute_path(folder));
  const int root = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return refused(folder, errno);
  open_how how{};
  how.flags = kRead;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const auto fd = static_cast<int>(::syscall(SYS_openat2, root, inside.c_str(), &how, sizeof how));
  const int reason = errno;
  ::close(root);
  errno = reason;
  return regular(fd, path);
}

OpenFile::~OpenFile() { ::close(fd_); }

bool OpenFile::is(const OpenFile& other) const {
  struct stat ours{}, theirs{};
  if (::fstat(fd_, &ours) != 0 || ::fstat(other.fd_, &theirs) != 0) return false;
  return ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino &&
         ours.st_size == theirs.st_size && ours.st_mtim.tv_sec == theirs.st_mtim.tv_sec &&
         ours.st_mtim.tv_nsec == theirs.st_mtim.tv_nsec;
}

Result<std::string> OpenFile::read(std::uint64_t offset, std::size_t size) const {
  std::string bytes(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const auto more =
        ::pread(fd_, bytes.data() + have, size - have, static_cast<off_t>(offset + have));
    if (more < 0) return Error{Code::kInvalid, path_ + ": " + std::strerror(errno)};
    if (more == 0) break;
    have += static_cast<std::size_t>(more);
  }
  bytes.resize(have);
  return bytes;
}

bool OpenFile::is_cached(std::uint64_t offset, std::uint64_t size) const {
  constexpr std::uint64_t kApart = 32u * 1024;
  const auto is_there = [this](std::uint64_t at) {
    char byte = 0;
    const iovec into{.iov_base = &byte, .iov_len = 1};
    return ::preadv2(fd_, &into, 1, static_cast<off_t>(at), RWF_NOWAIT) == 1;
  };
  for (std::uint64_t done = 0; done < size; done += kApart)
    if (!is_there(offset + done)) return false;
  return size > 0 && is_there(offset + size - 1);
}

}  // namespace cupel::images
