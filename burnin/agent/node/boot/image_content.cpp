#include "burnin/agent/node/boot/image_content.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cupel::agent::boot {
namespace {

constexpr std::uint64_t kZeroBlock = 64 * 1024;  // what is looked at, and skipped, at once
constexpr std::uint64_t kLastOfAll = 4096;       // the protective MBR and the GPT's header
constexpr std::uint64_t kSamples = 64;

/// Finds what a disk got wrong; nobody's attack. Four lanes, so that it costs less than to read.
std::uint64_t sum_of(std::span<const char> bytes) {
  constexpr std::uint64_t kPrime = 0x9E3779B185EBCA87u;
  std::uint64_t lanes[4] = {1, 2, 3, 4};
  std::size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    std::uint64_t words[4];
    std::memcpy(words, bytes.data() + at, 32);
    for (int i = 0; i < 4; ++i) lanes[i] = std::rotl((lanes[i] ^ words[i]) * kPrime, 31);
  }
  std::uint64_t sum = bytes.size();
  for (; at < bytes.size(); ++at) sum = (sum ^ static_cast<unsigned char>(bytes[at])) * kPrime;
  for (const auto lane : lanes) sum = std::rotl((sum ^ lane) * kPrime, 27);
  return sum;
}

bool is_zero(std::span<const char> bytes) {
  return bytes.empty() ||
         (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace

ImageContent::ImageContent(TargetDisk& disk, std::uint64_t size, ReadBack read_back)
    : disk_{disk}, size_{size}, read_back_{read_back} {}

bool ImageContent::is_checked(std::uint64_t chunk) const {
  if (read_back_ != ReadBack::kSampled) return read_back_ == ReadBack::kWhole;
  const auto count = (size_ + kChunk - 1) / kChunk;
  return chunk % std::max<std::uint64_t>(1, count / kSamples) == 0 || chunk + 1 == count;
}

/// Where the end begins that is kept back; never within the first MiB.
std::uint64_t ImageContent::tail() const {
  return std::max(std::min(size_, kMiB), size_ - std::min(size_, kMiB));
}

std::span<char> ImageContent::room() {
  const auto length = std::min(kChunk, size_ - received_);
  return std::span{chunk_}.subspan(held_, length - held_);
}

Outcome<void> ImageContent::put(std::size_t bytes) {
  if (bytes > room().size())
    return Failure{Cause::kImageTooLarge, "the image holds more than the " + std::to_string(size_) +
                                              " bytes that the order says. Make its manifest anew"};
  held_ += bytes;
  if (!room().empty()) return {};
  return put_chunk();
}

Outcome<void> ImageContent::put_chunk() {
  const std::span<const char> chunk{chunk_.data(), held_};
  sums_.push_back(is_checked(sums_.size()) ? sum_of(chunk) : 0);
  const auto start = received_, end = received_ + held_;
  const auto head_end = std::clamp(kMiB, start, end),
             tail_start = std::clamp(tail(), head_end, end);
  const auto part = [&](std::uint64_t from, std::uint64_t to) {
    return chunk.subspan(from - start, to - from);
  };
  const auto head = part(start, head_end);
  const auto end_part = part(tail_start, end);
  first_.insert(first_.end(), head.begin(), head.end());
  last_.insert(last_.end(), end_part.begin(), end_part.end());
  received_ = end;
  held_ = 0;
  return write_data(head_end, part(head_end, tail_start));
}

Outcome<void> ImageContent::write_data(std::uint64_t offset, std::span<const char> bytes) {
  std::size_t from = 0;
  for (std::size_t at = 0; at <= bytes.size();) {
    const auto block = bytes.subspan(at, std::min<std::size_t>(kZeroBlock, bytes.size() - at));
    const bool skipped = zeroed_ && is_zero(block);
    if (skipped || block.empty()) {
      if (at > from) {
        TRY(disk_.write(offset + from, bytes.subspan(from, at - from)));
      }
      written_ += at - from;
      from = at + block.size();
    }
    if (block.empty()) break;
    at += block.size();
  }
  return {};
}

Outcome<void> ImageContent::check() {
  if (read_back_ == ReadBack::kNone) return {};
  disk_.forget();
  for (std::uint64_t chunk = 0; chunk < sums_.size(); ++chunk)
    if (is_checked(chunk)) {
      TRY(check_chunk(chunk * kChunk));
    }
  return {};
}

Outcome<void> ImageContent::check_chunk(std::uint64_t offset) {
  const auto length = std::min(kChunk, size_ - offset);
  read_.resize(length);
  TRY(disk_.read(offset, read_));
  checked_ += length;
  // What is kept back is not there yet.
  if (offset == 0) std::ranges::copy(first_, read_.begin());
  const auto kept = std::max(tail(), offset);
  if (kept < offset + length) {
    const auto* from = last_.data() + (kept - tail());
    std::copy_n(from, offset + length - kept,
                read_.begin() + static_cast<std::ptrdiff_t>(kept - offset));
  }
  if (sum_of(read_) == sums_[offset / kChunk]) return {};
  return Failure{Cause::kReadBack, disk_.path() + " returns other bytes than were written, from " +
                                       std::to_string(offset) + " to " +
                                       std::to_string(offset + length) + ". Replace the disk"};
}

Outcome<void> ImageContent::put_back(std::uint64_t offset, std::span<const char> bytes) {
  TRY(disk_.write(offset, bytes));
  TRY(disk_.flush());
  disk_.forget();
  read_.resize(bytes.size());
  TRY(disk_.read(offset, read_));
  if (std::ranges::equal(read_, bytes)) return {};
  return Failure{Cause::kReadBack, disk_.path() + " returns other bytes than were written, at " +
                                       std::to_string(offset) + ". Replace the disk"};
}

Outcome<void> ImageContent::commit() {
  if (!last_.empty()) {
    TRY(put_back(tail(), last_));
  }
  auto marked = first_;
  if (marked.size() == kMiB) {
    std::fill(marked.begin() + static_cast<std::ptrdiff_t>(kUnfinishedAt), marked.end(), '\0');
    std::ranges::copy(kUnfinished, marked.begin() + static_cast<std::ptrdiff_t>(kUnfinishedAt));
  }
  const std::span<const char> all{marked};
  const auto last = std::min<std::size_t>(kLastOfAll, all.size());
  if (all.size() > last) {
    TRY(put_back(last, all.subspan(last)));
  }
  return put_back(0, all.first(last));
}

std::string ImageContent::unfinished_bytes() const {
  if (first_.size() < kMiB) return {};
  return {first_.begin() + static_cast<std::ptrdiff_t>(kUnfinishedAt), first_.end()};
}

Outcome<void> finish_image(const std::string& path, std::string_view bytes) {
  if (bytes.empty()) return {};
  TRY(auto disk, TargetDisk::open(path));
  TRY(disk.write(kUnfinishedAt, bytes));
  return disk.flush();
}

}  // namespace cupel::agent::boot
