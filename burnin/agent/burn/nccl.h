#pragma once
// NCCL as this program sees it: found when it runs, declared here. No header of NCCL is needed to
// build, and whichever version the node has is used, if it is new enough.
#include <array>
#include <climits>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "burnin/agent/burn/failure.h"
#include "burnin/agent/common/shared_library.h"

struct CUstream_st;  // cudaStream_t is a pointer to it
struct ncclComm;

namespace cupel::burn::nccl {

// The C interface, as it has been since 2.14.
// Source: NCCL, src/nccl.h.in (BSD-3-Clause): ncclResult_t, ncclDataType_t, ncclRedOp_t,
// ncclUniqueId, ncclConfig_v21400; NVIDIA NCCL documentation, "NCCL API".
enum Status : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
};
enum DataType : int { kInt8 = 0, kInt32 = 2, kFloat32 = 7, kBfloat16 = 9 };
enum Reduction : int { kSum = 0 };

struct UniqueId {
  std::array<char, 128> bytes{};
};

/// The oldest form: a newer library fills in what it has beyond.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned int magic = 0xcafebeef;
  unsigned int version = 21400;
  int blocking = 1;
};

using Comm = ::ncclComm*;
using Stream = ::CUstream_st*;

struct Calls {
  Status (*ncclGetVersion)(int*) = nullptr;
  const char* (*ncclGetErrorString)(Status) = nullptr;
  const char* (*ncclGetLastError)(Comm) = nullptr;
  Status (*ncclGetUniqueId)(UniqueId*) = nullptr;
  Status (*ncclCommInitRankConfig)(Comm*, int, UniqueId, int, Config*) = nullptr;
  Status (*ncclCommGetAsyncError)(Comm, Status*) = nullptr;
  Status (*ncclCommAbort)(Comm) = nullptr;
  Status (*ncclCommDestroy)(Comm) = nullptr;
  Status (*ncclGroupStart)() = nullptr;
  Status (*ncclGroupEnd)() = nullptr;
  Status (*ncclAllReduce)(const void*, void*, std::size_t, DataType, Reduction, Comm,
                          Stream) = nullptr;
  Status (*ncclAllGather)(const void*, void*, std::size_t, DataType, Comm, Stream) = nullptr;
  Status (*ncclReduceScatter)(const void*, void*, std::size_t, DataType, Reduction, Comm,
                              Stream) = nullptr;
  Status (*ncclBroadcast)(const void*, void*, std::size_t, DataType, int, Comm, Stream) = nullptr;
  Status (*ncclSend)(const void*, std::size_t, DataType, int, Comm, Stream) = nullptr;
  Status (*ncclRecv)(void*, std::size_t, DataType, int, Comm, Stream) = nullptr;
};

/// 22809: "2.28.9". Source: NCCL's macro NCCL_VERSION, which counts otherwise up to 2.8.
std::string version_text(int code);

/// The library, loaded. It stays for as long as the program: NCCL's own threads may live on.
class Library {
 public:
  /// Tries each path in turn; one that cannot be opened, lacks a function or is too old is passed
  /// over. Errors: no-library, with what was wrong with each.
  static Outcome<Library> load(std::span<const std::string> candidates);

  const Calls& operator*() const { return *calls_; }
  const Calls* operator->() const { return calls_.get(); }
  int version() const { return version_; }
  /// "2.28.9"
  std::string version_name() const { return version_text(version_); }
  const std::string& path() const { return path_; }

  /// What a call gave, as an outcome; one in progress (only of a communicator that does not block)
  /// is none yet. Errors: nccl, with the library's words.
  Outcome<> check(Status status, std::string_view call, Comm comm = nullptr) const;

 private:
  Library() = default;
  Result<void> take(const agent::SharedLibrary& library);

  std::shared_ptr<const Calls> calls_;
  int version_ = 0;
  std::string path_;
};

/// As library_places() has them.
std::vector<std::string> usual_places(std::string_view folder = agent::program_folder());

}  // namespace cupel::burn::nccl
