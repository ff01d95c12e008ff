#pragma once
// A compressed image, from a stream onto a disk: hashed as it comes, decompressed by zstd, written,
// read back; bootable last. Whatever goes wrong, the disk does not boot.
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "burnin/agent/node/boot/image_content.h"

namespace cupel::agent::boot {

struct ImageOrder {
  std::string name{};
  std::string file{};
  std::string mirror{};            // URL of the same bytes, tried first; empty: there is none
  std::string sha256{};            // of the compressed stream, lower-case hex
  std::uint64_t size = 0;          // of the compressed stream; 0: not known
  std::uint64_t content_size = 0;  // what it becomes
};

/// The next bytes of the compressed stream, at most as many as fit; 0 at its end.
using ImageSource = std::function<Outcome<std::size_t>(std::span<char> into)>;

enum class Phase { kChoosing, kErasing, kWriting, kReadingBack, kGrowing, kSeeding, kBootOrder };
std::string_view to_string(Phase phase);  // "reading-back"
using Progress = std::function<void(Phase phase, std::uint64_t bytes, std::uint64_t of)>;

struct WrittenImage {
  std::string sha256{};
  std::uint64_t content = 0;
  std::uint64_t written = 0;  // the rest was zero, and the disk had zeroed it itself
  std::uint64_t checked = 0;
  std::string unfinished_bytes{};  // for finish_image()
};

/// The disk of one image. After write() it boots, and kUnfinished is on it until finish_image().
class ImageWriter {
 public:
  ImageWriter(TargetDisk disk, ImageOrder order, ReadBack read_back);
  ImageWriter(const ImageWriter&) = delete;
  ImageWriter& operator=(const ImageWriter&) = delete;

  /// Errors: kImageTooLarge (nothing is touched), kCut, kWrongHash, kWriteError, kReadBack,
  /// kOutOfMemory, and those of the source. The first and the last MiB are zero then.
  Outcome<WrittenImage> write(const ImageSource& source, const Progress& progress);

 private:
  Outcome<WrittenImage> write_checked(const ImageSource& source, const Progress& progress);
  bool zero_disk(const Progress& progress) const;

  TargetDisk disk_;
  ImageOrder order_;
  ImageContent content_;
};

}  // namespace cupel::agent::boot
