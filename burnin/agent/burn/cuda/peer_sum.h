#pragma once
// Adding up gradients over GPUs without NCCL: each GPU fetches its share of all others by copies,
// adds it up in the order of the ranks, and then fetches the others' sums.
#include <cstddef>
#include <vector>

#include "burnin/agent/burn/cuda/owned.h"
#include "burnin/agent/common/cancellable_barrier.h"

namespace cupel::burn {

class PeerSum {
 public:
  /// `ordinals` as CUDA counts. `most`: elements of bf16, a multiple of 8.
  PeerSum(std::vector<int> ordinals, std::size_t most, agent::CancellableBarrier& barrier)
      : ordinals_{std::move(ordinals)}, most_{most}, barrier_{barrier}, ranks_(ordinals_.size()) {}

  /// By each rank's own thread, with its device current, before the first sum.
  Outcome<> join(int rank);
  /// In place, queued on `stream`; all ranks with the same count, in the same order. The buffers
  /// may be written again once all ranks have waited for their streams and met.
  Outcome<> sum(int rank, void* buffer, std::size_t count, cudaStream_t stream);

 private:
  struct Rank {
    Memory pieces;
    Event ready;
    Event summed;
    void* buffer = nullptr;
  };

  const std::vector<int> ordinals_;
  const std::size_t most_;
  agent::CancellableBarrier& barrier_;
  std::vector<Rank> ranks_;
};

}  // namespace cupel::burn
