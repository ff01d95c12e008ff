#include "burnin/agent/node/boot/image_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/text.h"
#include "burnin/agent/common/json_line.h"

namespace cupel::agent::boot {
namespace {

constexpr std::size_t kStep = 1u << 18;
/// pipe(7): what a program may ask for without privileges. 64 KiB, the default, is one turn of two
/// processes for every half of a block of zstd's.
constexpr int kPipeSize = 1 << 20;

/// zstd's own words for an end that came early.
bool ended_early(std::string_view message) {
  return message.find("premature") != message.npos ||
         message.find("unexpected end") != message.npos ||
         message.find("Read error (39)") != message.npos;
}

}  // namespace

Outcome<std::unique_ptr<ImageStream>> ImageStream::start(const ImageSource& source) {
  TRY(auto zstd, RunningTool::start({"zstd", "-dcq", "--no-progress"}, RunningTool::Input::kPipe));
  return std::unique_ptr<ImageStream>{new ImageStream{source, std::move(zstd)}};
}

ImageStream::ImageStream(const ImageSource& source, RunningTool zstd)
    : source_{source}, zstd_{std::move(zstd)}, to_zstd_{std::move(zstd_.in)} {
  // Where one stays small, it is slower and no worse.
  for (const int pipe : {to_zstd_.number(), zstd_.out.number()})
    ::fcntl(pipe, F_SETPIPE_SZ, kPipeSize);
  feeder_ = std::jthread{[this] { feed(); }};
}

ImageStream::~ImageStream() {
  abandoned_ = true;
  zstd_.kill();
}

void ImageStream::drop_content() {
  dropped_ = true;
  zstd_.kill();
}

void ImageStream::feed() {
  std::vector<char> buffer(kStep);
  while (!abandoned_) {
    const auto got = source_(buffer);
    if (!got) source_failed_ = got.error();
    if (!got || *got == 0) break;
    const std::string_view bytes{buffer.data(), *got};
    hash_.update(bytes);
    received_ += *got;
    // A zstd that has given up must not hide what is wrong with the stream: the rest is hashed.
    if (!refused_) refused_ = !write_all(to_zstd_.number(), bytes);
  }
  to_zstd_.close();
}

std::size_t ImageStream::read(std::span<char> into) {
  while (true) {
    const auto got = ::read(zstd_.out.number(), into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return 0;
  }
}

Outcome<std::string> ImageStream::judge(const ImageOrder& order) {
  feeder_.join();
  const auto zstd = zstd_.finish();
  if (source_failed_) return *source_failed_;
  const auto hash = hash_.hex();
  const auto count = std::to_string(received_) + " bytes";
  if (order.size > 0 && received_ < order.size)
    return Failure{Cause::kCut, "the image ended after " + count + " of " +
                                    std::to_string(order.size) +
                                    ". Look at the boot server, then boot again"};
  if (hash != order.sha256) {
    const bool cut = order.size == 0 && ended_early(zstd.err);
    return Failure{cut ? Cause::kCut : Cause::kWrongHash,
                   "the SHA-256 of the image (" + count + ") is " + hash + ", expected " +
                       order.sha256 + (cut ? "; zstd: it ended early" : "") +
                       ". Verify the image: cupel image verify"};
  }
  if (zstd.status == 0 || dropped_) return hash;
  const bool memory = zstd.err.find("memory") != std::string::npos;
  const auto message = failure_text({"zstd"}, zstd);
  return Failure{ended_early(zstd.err) ? Cause::kCut
                 : memory              ? Cause::kOutOfMemory
                                       : Cause::kFailed,
                 message};
}

}  // namespace cupel::agent::boot
