#pragma once
// NCCL's communicators of the GPUs of this node: one process, a rank for each GPU.
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <span>

#include "burnin/agent/burn/nccl.h"

namespace cupel::burn {

class Communicators {
 public:
  /// Rank i is on `ordinals[i]`. Errors: nccl, cuda.
  static Outcome<std::unique_ptr<Communicators>> open(const nccl::Library& library,
                                                      std::span<const int> ordinals);
  /// Ends in peace where all went well; else aborts, since a rank may wait for another for ever.
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  const nccl::Library& library() const { return library_; }
  /// Null once it is aborted.
  nccl::Comm of(int rank) const { return ranks_[static_cast<std::size_t>(rank)].comm; }
  int count() const { return static_cast<int>(ranks_.size()); }

  /// Errors: nccl, where the library found an error that no call has told of, or the rank is
  /// aborted.
  Outcome<> sound(int rank) const;
  /// Ends what this rank's GPU waits for. From any thread; nothing may be queued afterwards.
  void abort(int rank);
  void abort();

 private:
  explicit Communicators(nccl::Library library) : library_{std::move(library)} {}

  struct Member {
    mutable std::mutex mutex;  // asking and aborting exclude each other: it is freed
    nccl::Comm comm = nullptr;
  };

  nccl::Library library_;
  std::deque<Member> ranks_;
  std::atomic<bool> is_aborted_{false};
};

}  // namespace cupel::burn
