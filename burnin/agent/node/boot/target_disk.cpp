#include "burnin/agent/node/boot/target_disk.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace cupel::agent::boot {
namespace {

constexpr std::uint64_t kWritebackStep = 8 * kMiB;

std::string at(const std::string& path, std::uint64_t offset, int why) {
  return path + ", byte " + std::to_string(offset) + ": " +
         (why == 0 ? "unexpected end" : std::strerror(why));
}

}  // namespace

Outcome<TargetDisk> TargetDisk::open(const std::string& path) {
  struct stat what{};
  if (::stat(path.c_str(), &what) != 0)
    return Failure{Cause::kDiskMissing, path + ": " + std::strerror(errno)};
  const bool device = S_ISBLK(what.st_mode);
  if (!device && !S_ISREG(what.st_mode))
    return Failure{Cause::kDiskRefused, path + " is neither a block device nor a file"};
  TargetDisk disk;
  disk.path_ = path;
  disk.device_ = device;
  disk.file_ = Descriptor{::open(path.c_str(), O_RDWR | O_CLOEXEC | (device ? O_EXCL : 0))};
  if (!disk.file_)
    return Failure{Cause::kDiskRefused,
                   path + ": " + (errno == EBUSY ? "in use (O_EXCL)" : std::strerror(errno))};
  disk.size_ = static_cast<std::uint64_t>(what.st_size);
  if (device && ::ioctl(disk.file_.number(), BLKGETSIZE64, &disk.size_) != 0)
    return Failure{Cause::kDiskRefused, path + ": its size: " + std::strerror(errno)};
  return disk;
}

bool TargetDisk::zero(std::uint64_t offset, std::uint64_t length) const {
  return ::fallocate(file_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     static_cast<off_t>(offset), static_cast<off_t>(length)) == 0;
}

Outcome<void> TargetDisk::make_unbootable() {
  const std::vector<char> zeros(std::min(size_, kMiB));
  TRY(write(0, zeros));
  TRY(write(size_ - zeros.size(), zeros));
  return flush();
}

Outcome<void> TargetDisk::write(std::uint64_t offset, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const auto put =
        ::pwrite(file_.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return Failure{Cause::kWriteError, at(path_, offset, put < 0 ? errno : 0)};
    offset += static_cast<std::uint64_t>(put);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  start_writeback(offset);
  return {};
}

void TargetDisk::start_writeback(std::uint64_t end) {
  if (end < started_ + kWritebackStep) return;
  const auto from = static_cast<off_t>(started_);
  ::sync_file_range(file_.number(), from, static_cast<off_t>(end - started_),
                    SYNC_FILE_RANGE_WRITE);
  started_ = end;
  if (end < waited_ + kWindow) return;
  // Errors of these are not lost: flush() reports every one since the disk was opened.
  const auto start = static_cast<off_t>(waited_);
  const auto length = static_cast<off_t>(end - kWindow - waited_);
  ::sync_file_range(
      file_.number(), start, length,
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  ::posix_fadvise(file_.number(), start, length, POSIX_FADV_DONTNEED);
  waited_ = end - kWindow;
}

Outcome<void> TargetDisk::flush() {
  started_ = waited_ = 0;
  if (::fsync(file_.number()) == 0) return {};
  return Failure{Cause::kWriteError, path_ + ": fsync: " + std::strerror(errno)};
}

void TargetDisk::forget() const {
  if (device_) ::ioctl(file_.number(), BLKFLSBUF, 0);
  ::posix_fadvise(file_.number(), 0, 0, POSIX_FADV_DONTNEED);
}

Outcome<void> TargetDisk::read(std::uint64_t offset, std::span<char> into) {
  while (!into.empty()) {
    const auto got = ::pread(file_.number(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Failure{Cause::kReadBack, at(path_, offset, got < 0 ? errno : 0)};
    offset += static_cast<std::uint64_t>(got);
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace cupel::agent::boot
