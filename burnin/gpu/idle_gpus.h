#pragma once
// One idea of a GPU that is in use, for what waits until none is and for what reports which one
// was.

namespace cupel::burnin {

/// A GPU that works more than so many per cent of the time is in use: what else runs there would be
/// disturbed, and measured. Source: DCGM's own diagnosis refuses above 10 % (NVIDIA/DCGM issue
/// 272).
inline constexpr int kBusyPercent = 10;

}  // namespace cupel::burnin
