#include "burnin/agent/node/boot/write_image.h"

#include <algorithm>

#include "base/enum_words.h"
#include "burnin/agent/node/boot/image_stream.h"

namespace cupel::agent::boot {
namespace {

constexpr std::uint64_t kZeroStep = std::uint64_t{4} << 30;  // between two lines of progress

Outcome<void> copy(ImageStream& from, ImageContent& to, const ImageOrder& order,
                   const Progress& progress) {
  while (true) {
    const auto room = to.room();
    char more = 0;
    const auto got = from.read(room.empty() ? std::span{&more, 1} : room);
    if (got == 0) return {};
    TRY(to.put(got));
    progress(Phase::kWriting, to.received(), order.content_size);
  }
}

}  // namespace

std::string_view to_string(Phase phase) { return enum_word<'-'>(phase); }

ImageWriter::ImageWriter(TargetDisk disk, ImageOrder order, ReadBack read_back)
    : disk_{std::move(disk)},
      order_{std::move(order)},
      content_{disk_, order_.content_size, read_back} {}

/// What the disk cannot do itself is not done: then the image's zeroes are written.
bool ImageWriter::zero_disk(const Progress& progress) const {
  for (std::uint64_t at = 0; at < order_.content_size; at += kZeroStep) {
    if (!disk_.zero(at, std::min(kZeroStep, order_.content_size - at))) return false;
    progress(Phase::kErasing, at, order_.content_size);
  }
  return true;
}

Outcome<WrittenImage> ImageWriter::write(const ImageSource& source, const Progress& progress) {
  if (order_.content_size > disk_.size())
    return Failure{Cause::kImageTooLarge, "the image needs " + std::to_string(order_.content_size) +
                                              " bytes, " + disk_.path() + " has " +
                                              std::to_string(disk_.size()) +
                                              ". Choose a larger disk or a smaller image"};
  if (order_.content_size == 0)
    return Failure{Cause::kOrder, "the order says that the image is empty"};
  auto written = write_checked(source, progress);
  if (written) return written;
  auto failure = std::move(written).error();
  if (const auto undone = disk_.make_unbootable(); !undone)
    failure.text += "; and it may boot: " + undone.error().text;
  return failure;
}

Outcome<WrittenImage> ImageWriter::write_checked(const ImageSource& source,
                                                 const Progress& progress) {
  TRY(disk_.make_unbootable());
  if (zero_disk(progress)) content_.skip_zeroes();
  TRY(auto stream, ImageStream::start(source));
  const auto copied = copy(*stream, content_, order_, progress);
  if (!copied && copied.error().cause != Cause::kImageTooLarge) return copied.error();
  // A stream that is longer than it should be is most often another one.
  if (!copied) stream->drop_content();
  TRY(auto hash, stream->judge(order_));
  if (!copied) return copied.error();
  if (content_.received() != order_.content_size)
    return Failure{Cause::kCut, "the image holds " + std::to_string(content_.received()) +
                                    " bytes, the order says " +
                                    std::to_string(order_.content_size) +
                                    ". Make its manifest anew"};
  TRY(disk_.flush());
  progress(Phase::kReadingBack, 0, order_.content_size);
  TRY(content_.check());
  TRY(content_.commit());
  return WrittenImage{std::move(hash), content_.received(), content_.written(), content_.checked(),
                      content_.unfinished_bytes()};
}

}  // namespace cupel::agent::boot
