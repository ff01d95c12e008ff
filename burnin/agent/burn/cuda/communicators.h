#pragma once
// NCCL's communicators of the GPUs of this node: one process, a rank for each GPU; of this node
// alone, or together with the ranks of others.
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "burnin/agent/burn/nccl.h"

namespace cupel::burn {

/// This node's part of a communicator of several nodes.
struct Part {
  nccl::UniqueId id{};
  int base = 0;                     // the rank of its first GPU
  int ranks = 0;                    // of all nodes
  std::function<bool()> goes_on{};  // false: whatever NCCL waits for is given up
};

class Communicators {
 public:
  /// Rank i is on `ordinals[i]`. Errors: nccl, cuda.
  static Outcome<std::unique_ptr<Communicators>> open(const nccl::Library& library,
                                                      std::span<const int> ordinals);
  /// Nonblocking: returns when the ranks of all nodes have come, or `goes_on` has returned false.
  /// Errors: nccl, cuda.
  static Outcome<std::unique_ptr<Communicators>> join(const nccl::Library& library,
                                                      std::span<const int> ordinals, Part part);
  /// Ends in peace where all went well; else aborts, since a rank may wait for another for ever.
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  const nccl::Library& library() const { return library_; }
  /// Null once it is aborted.
  nccl::Comm of(int rank) const { return ranks_[static_cast<std::size_t>(rank)].comm; }
  int count() const { return static_cast<int>(ranks_.size()); }
  /// Of all nodes.
  int all_ranks() const { return part_.ranks; }
  /// By number on this node.
  int rank_of(int number) const { return part_.base + number; }

  /// Until NCCL has taken what it was given last; at once where calls block. Errors: as sound(),
  /// and nccl where it is given up.
  Outcome<> settled(int rank) const;

  /// By number on this node. Errors: nccl, where the library found an error that no call has
  /// reported of, or the rank is aborted.
  Outcome<> sound(int rank) const;
  /// Ends what this rank's GPU waits for. From any thread; nothing may be queued afterwards.
  void abort(int rank);
  void abort();

 private:
  Communicators(nccl::Library library, Part part)
      : library_{std::move(library)}, part_{std::move(part)} {}
  Outcome<> begin(std::span<const int> ordinals, nccl::Config config);
  Outcome<nccl::Status> state(int rank) const;

  struct Member {
    mutable std::mutex mutex;  // asking and aborting exclude each other: it is freed
    nccl::Comm comm = nullptr;
  };

  nccl::Library library_;
  Part part_;
  std::deque<Member> ranks_;
  std::atomic<bool> is_aborted_{false};
};

}  // namespace cupel::burn
