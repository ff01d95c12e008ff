#pragma once
// One idea of a GPU that is in use, for every stage that works on GPUs: somebody's program is on
// one, or it is busy. What else runs there would be disturbed, and measured.
#include <string>

namespace cupel::burnin {

/// A GPU that works more than so many per cent of the time is in use. Source: DCGM's own
/// diagnosis refuses above 10 % (NVIDIA/DCGM issue 272).
inline constexpr int kBusyPercent = 10;

/// Lines after which $busy says yes or no, $gpus holds each GPU's address and how busy it is, $apps
/// the address, number and name of each program on one; `smi` asks nvidia-smi. Waits, for a minute
/// at most, until what ran before has let go. POSIX sh.
std::string wait_for_idle_gpus();

}  // namespace cupel::burnin
