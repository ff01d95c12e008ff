#pragma once
// The compressed stream on its way to zstd: a thread that reads it, hashes it and feeds it.
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "burnin/agent/common/sha256.h"
#include "burnin/agent/node/boot/tool.h"
#include "burnin/agent/node/boot/write_image.h"

namespace cupel::agent::boot {

class ImageStream {
 public:
  /// Errors: kOutOfMemory, kFailed.
  static Outcome<std::unique_ptr<ImageStream>> start(const ImageSource& source);
  /// Ends the decompressor, and waits for the source's last call.
  ~ImageStream();
  ImageStream(const ImageStream&) = delete;
  ImageStream& operator=(const ImageStream&) = delete;

  /// The next bytes of the content; 0 at its end, whatever the reason is.
  std::size_t read(std::span<char> into);
  /// No more of the content is requested; the stream is still hashed to its end.
  void drop_content();
  std::uint64_t received() const { return received_; }

  /// After the end: whether it is the image that the order names, and whole. Errors: kCut,
  /// kWrongHash, kOutOfMemory, kFailed, the source's own.
  Outcome<std::string> judge(const ImageOrder& order);

 private:
  ImageStream(const ImageSource& source, RunningTool zstd);
  void feed();

  const ImageSource& source_;
  RunningTool zstd_;
  Descriptor to_zstd_;
  Sha256 hash_{};
  std::atomic<std::uint64_t> received_ = 0;
  std::optional<Failure> source_failed_{};
  bool refused_ = false;  // zstd took no more
  bool dropped_ = false;
  std::atomic<bool> abandoned_ = false;
  std::jthread feeder_{};
};

}  // namespace cupel::agent::boot
