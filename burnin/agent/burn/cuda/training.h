#pragma once
// The ranks of `train` on this node: what they share, and what each does.
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "burnin/agent/burn/cross_check.h"
#include "burnin/agent/burn/cuda/across_join.h"
#include "burnin/agent/burn/cuda/peer_sum.h"
#include "burnin/agent/burn/cuda/train_worker.h"
#include "burnin/agent/burn/nccl_api.h"
#include "burnin/agent/common/cancellable_barrier.h"

namespace cupel::burn {

/// How far one GPU is, for whoever looks when the others wait.
struct RankPlace {
  std::mutex mutex{};
  const TrainWorker* worker = nullptr;
  std::uint64_t steps = 0;   // before the present one
  std::uint64_t passed = 0;  // in it, once the worker is gone

  /// The sum of a layer that it would wait in, counted from the beginning; alike on all nodes.
  std::uint64_t entered(std::uint64_t layers);
};

/// What all GPUs of this node share.
struct Training {
  const Options& options;
  const Node& node;
  Report& report;
  Stop& stop;
  Transformer shape;
  std::uint64_t seed;
  int ranks;                    // of all nodes
  const Communicators* across;  // nullptr: the GPUs of this node alone
  std::shared_ptr<const CublasLt> library;
  agent::CancellableBarrier between_steps;
  agent::CancellableBarrier within_step;
  CrossCheck cross_check;
  std::unique_ptr<NcclApi> nccl;
  PeerSum copies;
  std::atomic<std::uint64_t> differs = 0;
  Samples seconds = {};  // of a step; written by the first rank, between two steps
  std::vector<std::unique_ptr<RankPlace>> places = {};  // of the GPUs
  std::atomic<int> ended = 0;                           // across nodes: GPUs that are through
  std::once_flag ranks_reported = {};

  /// Waits for all ranks. All of them do one more step, or none.
  bool another_step() {
    return between_steps.arrive_and_wait([this] { return !stop.over(); });
  }

  /// Lets all ranks of this node end: one of them cannot go on, or its time is over.
  void give_up();

  /// {"kind":"ranks", ...}, across nodes; once, before sums are aborted.
  void tell_ranks();
};

/// Across nodes: --seconds were too few.
Failure time_over();

/// What one GPU does from beginning to end; on a thread of its own. Errors: as TrainWorker, nccl.
Outcome<> run_rank(Training& training, std::size_t rank, WatchdogScope& scope);

}  // namespace cupel::burn
