#pragma once
// Which of the library's ways to multiply is used: the fastest of those that give the same bits
// each time. A way that repeats on no GPU is the library's fault and not theirs. Pure.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace cupel::burn {

struct WayTrial {
  double seconds = 0;   // of one product
  bool repeats = true;  // several products of the same operands were the same bits
  bool rotates = true;  // also where each part of C was computed at another place
};

/// Of one GPU, in the order of the ways; shorter where it did not come to try all.
using WayTrials = std::vector<WayTrial>;

struct WayChoice {
  std::optional<std::size_t> way{};  // nothing: none of them repeats on any GPU
  std::size_t dropped = 0;           // ways that repeat on no GPU
  bool rotates = true;               // on one GPU at least: that is what is asked of the others
};

/// For all GPUs of one model, since only products done in the same way can be compared. One GPU
/// alone drops no way: whether it or the way is at fault is not known. It takes the fastest way
/// that rotates; where none does, a unit that is always wrong would not be seen. Without trials:
/// the first.
WayChoice choose_way(std::span<const WayTrials> of_gpus);

}  // namespace cupel::burn
