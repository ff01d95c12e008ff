#pragma once
// Units of memory and storage, in bytes.

namespace cupel {

inline constexpr double kKiB = 1024;
inline constexpr double kMiB = 1024 * kKiB;
inline constexpr double kGiB = 1024 * kMiB;
inline constexpr double kTiB = 1024 * kGiB;

}  // namespace cupel
