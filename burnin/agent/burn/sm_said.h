#pragma once
// The same small work on every SM and in every warp: what each came to. Most are right; the odd one
// is named by its SM, and by which of its four partitions.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cupel::burn {

inline constexpr int kSmWarps = 8;
inline constexpr int kSmUnits = 4;
inline constexpr std::string_view kSmUnitNames[kSmUnits] = {"tensor core", "fp32", "fp64",
                                                            "integer"};

/// A block's word.
struct SmReport {
  std::uint32_t sm;
  std::uint32_t written;  // 1: the block ran
  std::uint64_t sums[kSmUnits][kSmWarps];
};

struct OddSm {
  int sm = 0;
  int unit = 0;
  int warp = 0;  // its partition is warp % 4
  std::uint64_t value = 0;
  std::uint64_t most = 0;
};

struct SmJudgement {
  std::vector<OddSm> odd;
  std::vector<int> sms;  // that said something
  bool decided = true;   // false: no majority for some unit
  int silent = 0;        // blocks that said nothing
};

/// A unit's majority is over all warps of all SMs.
SmJudgement judge_sms(std::span<const SmReport> results);

}  // namespace cupel::burn
