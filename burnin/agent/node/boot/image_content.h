#pragma once
// The content of an image, put onto a disk from its start to its end: what is zero already is not
// written, and what makes it bootable (the first and the last MiB) is kept back until commit().
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "burnin/agent/node/boot/target_disk.h"

namespace cupel::agent::boot {

enum class ReadBack { kNone, kSampled, kWhole };

class ImageContent {
 public:
  static constexpr std::uint64_t kChunk = 4 * kMiB;  // what is read back at once

  ImageContent(TargetDisk& disk, std::uint64_t size, ReadBack read_back);

  /// The disk reads as zero wherever nothing is written: zeroes need not be.
  void skip_zeroes() { zeroed_ = true; }

  /// Where its next bytes belong, so that they need not be copied; empty once `size` have come.
  std::span<char> room();
  /// So many of them are there. Errors: kImageTooLarge past `size`; kWriteError.
  Outcome<void> put(std::size_t bytes);
  std::uint64_t received() const { return received_; }
  std::uint64_t written() const { return written_; }

  /// Reads back what was put, without what is kept back. Errors: kReadBack, naming the bytes.
  Outcome<void> check();
  std::uint64_t checked() const { return checked_; }

  /// Writes what was kept back: the end, then the start, whose first 4 KiB come last of all, each
  /// durably; and reads them back. The last 4 KiB of the first MiB hold kUnfinished until
  /// finish_image(): a machine that stops before it knows its own half work again. Errors:
  /// kWriteError, kReadBack.
  Outcome<void> commit();
  /// What belongs in the place of kUnfinished; empty where the image is smaller than a MiB.
  std::string unfinished_bytes() const;

 private:
  /// Whether the chunk is read back: the first and the last one always, the others evenly.
  bool is_checked(std::uint64_t chunk) const;
  Outcome<void> put_chunk();
  Outcome<void> write_data(std::uint64_t offset, std::span<const char> bytes);
  Outcome<void> check_chunk(std::uint64_t offset);
  Outcome<void> put_back(std::uint64_t offset, std::span<const char> bytes);
  std::uint64_t tail() const;

  TargetDisk& disk_;
  std::uint64_t size_;
  ReadBack read_back_;
  bool zeroed_ = false;
  std::uint64_t received_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t checked_ = 0;
  std::vector<char> chunk_ = std::vector<char>(kChunk);
  std::size_t held_ = 0;               // bytes of it
  std::vector<std::uint64_t> sums_{};  // of each chunk; 0: is not read back
  std::vector<char> first_{};          // the first MiB
  std::vector<char> last_{};           // the last one
  std::vector<char> read_{};
};

/// At kUnfinishedAt of a disk whose image is written but not yet grown, seeded and entered.
inline constexpr std::string_view kUnfinished = "CUPEL-UNFINISHED-DEPLOY\n";
inline constexpr std::uint64_t kUnfinishedAt = kMiB - 4096;

/// Puts `bytes` in the place of kUnfinished. Errors: kWriteError, kDiskRefused.
Outcome<void> finish_image(const std::string& path, std::string_view bytes);

}  // namespace cupel::agent::boot
