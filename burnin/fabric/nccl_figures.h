#pragma once
// What people compare a collective's rates with: its table as nccl-tests prints it, and figures
// that others have published. For records; no verdict rests on them alone. Pure.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/fabric/across_judge.h"

namespace cupel::burnin::fabric {

/// A rate that was published.
struct PublishedRate {
  std::string_view operation;
  std::string_view gpu;  // generation, as it stands in the GPU's name
  std::size_t nodes;
  std::string_view algorithm;  // NCCL_ALGO; empty: as NCCL chooses
  double busbw;                // GB/s
  std::string_view where;      // network, message size, version
  std::string_view source;
  int gpus_each = 8;  // of a node
};

std::span<const PublishedRate> published_rates();

/// Of the same operation, GPU generation, counts of nodes and their GPUs, and NCCL_ALGO; nullptr:
/// none is known.
const PublishedRate* published_for(const TeamRun& run, std::string_view operation);

/// "391.1 GB/s on 4 nodes of H100 (OCI, 16 GiB, NCCL 2.19.3): NVIDIA/nccl#1222".
std::string described(const PublishedRate& rate);

/// A line for each operation and size, of the slowest rank, in nccl-tests' units: bytes, us, GB/s.
/// Of a run that came to its end; at most 64 lines.
std::vector<std::string> rate_table(const TeamRun& run);

}  // namespace cupel::burnin::fabric
