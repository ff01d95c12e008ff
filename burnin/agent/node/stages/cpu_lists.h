#pragma once
// Lists of logical CPUs as the kernel writes them ("0-55,112-167"), and how many of them a stage
// leaves to others while it works beside one of the GPUs: the threads that feed the GPUs and NCCL's
// own must not wait for a burned core.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::agent {

inline constexpr int kMostCpus = 8192;             // logical ones of a node, as Linux is built for
inline constexpr std::uint64_t kMostSpare = 1024;  // of each NUMA node

/// Of "28-55,84-111", in order; none where it is no list of CPUs.
std::vector<int> cpus_in(std::string_view list);

/// The other way round. stress-ng refuses "5-5".
std::string list_of(const std::vector<int>& cpus);

/// How many of so many are left to others, the first ones: never more than a quarter.
std::size_t spared_of(std::size_t cpus, std::uint64_t spare);

}  // namespace cupel::agent
