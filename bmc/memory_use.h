#pragma once
// How much memory the answers of one BMC take at this moment: bodies on their way, and documents
// for as long as somebody has them. One answer is bounded; this bounds all of them together.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace cupel::bmc {

/// One for each BMC. One thread only.
class MemoryUse {
 public:
  /// What the documents of a whole machine need, some times over (docs/do/bmc.md).
  static constexpr std::size_t kLimit = 48u << 20;

  explicit MemoryUse(std::size_t limit = kLimit) : limit_{limit} {}

  /// False: there is no room for so much more, and none was taken.
  bool take(std::size_t bytes) {
    if (bytes > limit_ - used_) return false;
    used_ += bytes;
    most_ = std::max(most_, used_);
    return true;
  }
  void give(std::size_t bytes) { used_ -= std::min(bytes, used_); }

  std::size_t used() const { return used_; }
  std::size_t most() const { return most_; }  // at any time
  std::size_t limit() const { return limit_; }

 private:
  std::size_t limit_;
  std::size_t used_ = 0;
  std::size_t most_ = 0;
};

/// Room that was taken, until this goes. Of no account: whatever is requested is there.
class HeldMemory {
 public:
  HeldMemory() = default;
  explicit HeldMemory(std::shared_ptr<MemoryUse> use) : use_{std::move(use)} {}
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  HeldMemory(HeldMemory&& other) noexcept
      : use_{std::move(other.use_)}, bytes_{std::exchange(other.bytes_, 0)} {}
  HeldMemory& operator=(HeldMemory&&) = delete;
  ~HeldMemory() {
    if (use_) use_->give(bytes_);
  }

  /// Takes more of it. False: there is no room.
  bool grow(std::size_t bytes) {
    if (use_ && !use_->take(bytes)) return false;
    bytes_ += bytes;
    return true;
  }

 private:
  std::shared_ptr<MemoryUse> use_{};
  std::size_t bytes_ = 0;
};

}  // namespace cupel::bmc
