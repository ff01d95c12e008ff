#pragma once
// The NCCL calls that `train` uses, one thread for each GPU of this node.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "burnin/agent/burn/failure.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace cupel::burn {

enum class Element { kFloat, kBf16 };

class NcclApi {
 public:
  virtual ~NcclApi() = default;

  /// "2.27.7"
  virtual std::string version() const = 0;
  /// `rank` is its number on this node. Sums `count` elements over all ranks, from `in` to `out`
  /// (which may be the same), queued on `stream`. Each rank calls it from a thread of its own, with
  /// its device current, in the same order. Errors: nccl.
  virtual Outcome<> all_reduce(int rank, const void* in, void* out, std::size_t count,
                               Element element, CUstream_st* stream) = 0;
  /// Errors: nccl, where the library found an error that no call has reported.
  virtual Outcome<> sound(int rank) = 0;
  /// Ends what hangs, so that the program can end. From any thread.
  virtual void abort() = 0;
};

class Communicators;
std::unique_ptr<NcclApi> nccl_of(std::unique_ptr<Communicators> all);

/// One communicator over these devices; rank i is on `ordinals[i]`, as CUDA counts. The library is
/// opened when it is first asked for. Errors: no-library, nccl.
Outcome<std::unique_ptr<NcclApi>> open_nccl(const std::vector<int>& ordinals);

}  // namespace cupel::burn
