#pragma once
// NCCL's communicators of the GPUs of this node: one process, a rank for each GPU.
#include <atomic>
#include <memory>
#include <span>
#include <vector>

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
  nccl::Comm of(int rank) const { return comms_[static_cast<std::size_t>(rank)]; }
  int count() const { return static_cast<int>(comms_.size()); }

  /// Errors: nccl, where the library found an error that no call has told of.
  Outcome<> sound(int rank) const;
  /// From any thread, once; nothing may be queued afterwards.
  void abort();

 private:
  explicit Communicators(nccl::Library library) : library_{std::move(library)} {}

  nccl::Library library_;
  std::vector<nccl::Comm> comms_;
  std::atomic<bool> is_aborted_{false};
};

}  // namespace cupel::burn
