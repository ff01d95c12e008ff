#pragma once
// The disk that an image is written to, open for us alone, and what keeps half an image from
// booting: its first and last MiB. A regular file does as well.
#include <cstdint>
#include <span>
#include <string>

#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/node/boot/failure.h"

namespace cupel::agent::boot {

inline constexpr std::uint64_t kMiB = 1u << 20;

class TargetDisk {
 public:
  /// Exclusively (O_EXCL: nothing may mount or assemble it until it is closed). Errors:
  /// kDiskMissing, kDiskRefused.
  static Outcome<TargetDisk> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// Zeroes the first and the last MiB, durably: neither a partition table nor a copy of one is
  /// left. Errors: kWriteError.
  Outcome<void> make_unbootable();

  /// True where the device itself zeroed this range and promises that it reads as zero; false where
  /// it cannot, and zeroes must be written. Source: fallocate(2), FALLOC_FL_PUNCH_HOLE, and the
  /// kernel's blkdev_fallocate(): a block device never falls back to writing them.
  bool zero(std::uint64_t offset, std::uint64_t length) const;

  /// Errors: kWriteError.
  Outcome<void> write(std::uint64_t offset, std::span<const char> bytes);
  /// Waits until all is on the medium. Errors: kWriteError.
  Outcome<void> flush();
  /// What the medium holds, not the page cache. Errors: kReadBack.
  Outcome<void> read(std::uint64_t offset, std::span<char> into);
  /// Drops what the page cache holds of it, for read().
  void forget() const;

 private:
  /// So few bytes wait in memory at most, however slow the disk is.
  static constexpr std::uint64_t kWindow = 64 * kMiB;

  void start_writeback(std::uint64_t end);

  std::string path_{};
  Descriptor file_{};
  bool device_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t started_ = 0;  // up to where writeback has begun
  std::uint64_t waited_ = 0;   // up to where it has ended
};

}  // namespace cupel::agent::boot
