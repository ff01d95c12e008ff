// A library that looks like NCCL and works in the host's memory: ranks are threads of one process,
// or streams of the stand-in driver (driver/); where communicators do not block, of several
// processes too (far_world.h). What it does follows NVIDIA's documentation of each
// call. What it pretends to be (FAKE_NCCL_VERSION) and what fails in it
// (FAKE_NCCL_FAILS=ncclAllReduce) the environment says.
#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/burn/fake/far_world.h"
#include "tests/burn/fake/on_stream.h"

namespace {

using cupel::burn::fake::on_stream;

using cupel::burn::fake::FarWorld;
using cupel::burn::fake::IdBytes;

enum Status {
  kSuccess = 0,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
};
enum Type { kInt32 = 2, kFloat32 = 7, kBfloat16 = 9 };
using Bytes = std::vector<char>;

/// Where ranks leave messages for each other.
struct World {
  std::mutex mutex;
  std::condition_variable posted;
  std::map<std::pair<int, int>, std::deque<Bytes>> mail;
  bool is_aborted = false;
  std::vector<int> here{};          // ranks of this process
  int left = 0;                     // of them
  std::unique_ptr<FarWorld> far{};  // nullptr: all are here

  void abort() {
    {
      const std::scoped_lock lock{mutex};
      is_aborted = true;
    }
    if (far != nullptr) far->abort();
    posted.notify_all();
  }

  void deliver(int from, int to, Bytes message) {
    {
      const std::scoped_lock lock{mutex};
      mail[{from, to}].push_back(std::move(message));
    }
    posted.notify_all();
  }

  void post(int from, int to, const void* data, std::size_t bytes) {
    if (far != nullptr && std::ranges::find(here, to) == here.end()) {
      far->post(from, to, data, bytes);
      return;
    }
    const auto* const begin = static_cast<const char*>(data);
    deliver(from, to, Bytes(begin, begin + bytes));
  }
  /// Nothing once a rank has given up.
  Bytes take(int from, int to) {
    std::unique_lock lock{mutex};
    auto& box = mail[{from, to}];
    posted.wait(lock, [&] { return !box.empty() || is_aborted; });
    if (box.empty()) return {};
    auto message = std::move(box.front());
    box.pop_front();
    return message;
  }
};

struct Id {
  IdBytes bytes;
};

struct Config {
  std::size_t size;
  unsigned magic, version;
  int blocking;
};

bool fails(std::string_view call) {
  const char* reported = std::getenv("FAKE_NCCL_FAILS");
  return reported != nullptr && call == reported;
}

std::size_t bytes_of(int type) { return type == kBfloat16 ? 2 : 4; }

template <class T>
T at(const Bytes& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

/// One element of the sum over all ranks, in the order of the ranks.
void add(const std::vector<Bytes>& all, std::size_t index, int type, char* out) {
  if (type == kInt32) {
    std::uint32_t sum = 0;
    for (const auto& bytes : all) sum += at<std::uint32_t>(bytes, index);
    std::memcpy(out, &sum, sizeof sum);
  } else if (type == kFloat32) {
    float sum = 0;
    for (const auto& bytes : all) sum += at<float>(bytes, index);
    std::memcpy(out, &sum, sizeof sum);
  } else {
    float sum = 0;
    for (const auto& bytes : all)
      sum += std::bit_cast<float>(std::uint32_t{at<std::uint16_t>(bytes, index)} << 16);
    const auto bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(sum) >> 16);
    std::memcpy(out, &bits, sizeof bits);
  }
}

struct Later {  // a message within a group
  bool sends;
  const void* from_memory;
  void* to_memory;
  std::size_t bytes;
  int peer;
  void* stream;
};
thread_local int groups = 0;

}  // namespace

struct ncclComm {
  std::shared_ptr<World> world;
  int rank;
  int ranks;
  std::vector<Later> later{};
};

namespace {

thread_local std::vector<ncclComm*> grouped;

/// Of all ranks; nothing where one has given up.
std::vector<Bytes> gather(const ncclComm& comm, const void* data, std::size_t bytes) {
  for (int to = 0; to < comm.ranks; ++to) comm.world->post(comm.rank, to, data, bytes);
  std::vector<Bytes> all;
  for (int from = 0; from < comm.ranks; ++from) {
    all.push_back(comm.world->take(from, comm.rank));
    if (all.back().size() != bytes) return {};
  }
  return all;
}

/// All that is sent first: what is received waits for others.
void exchange(const ncclComm& comm, const std::vector<Later>& later) {
  for (const auto& each : later)
    if (each.sends) comm.world->post(comm.rank, each.peer, each.from_memory, each.bytes);
  for (const auto& each : later) {
    if (each.sends) continue;
    const auto got = comm.world->take(each.peer, comm.rank);
    std::memcpy(each.to_memory, got.data(), got.size());
  }
}

/// What cupel-burn looks for in NCCL's log: whether sums within NVSwitches are there.
void write_log() {
  const char* const file = std::getenv("NCCL_DEBUG_FILE");
  if (file == nullptr) return;
  std::ofstream{file, std::ios::app} << "node:1:1 [0] NCCL INFO NVLS multicast support is "
                                     << (fails("NVLS") ? "not " : "") << "available on dev 0\n";
}

/// Between nodes this one has TCP alone. The forms are those of libnccl 2.28.9.
void write_far_log(int rank, int ranks) {
  const char* const file = std::getenv("NCCL_DEBUG_FILE");
  if (file == nullptr) return;
  std::ofstream{file, std::ios::app}
      << "node:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB lo:127.0.0.1<0>\n"
      << "node:1:1 [0] NCCL INFO Channel 00/0 : " << rank << "[0] -> " << (rank + 1) % ranks
      << "[0] [send] via NET/Socket/0\n";
}

/// A communicator that does not block has taken it, and may not say so at once.
Status taken(const ncclComm& comm) { return comm.world->far == nullptr ? kSuccess : kInProgress; }

Status message(ncclComm* comm, Later later) {
  if (groups == 0) return kInvalidArgument;  // this one would wait for ever
  if (comm->later.empty()) grouped.push_back(comm);
  comm->later.push_back(later);
  return kSuccess;
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  const char* reported = std::getenv("FAKE_NCCL_VERSION");
  *version = reported != nullptr ? std::atoi(reported) : 22705;
  return fails("ncclGetVersion") ? kInternalError : kSuccess;
}

const char* ncclGetErrorString(int status) {
  if (status == kRemoteError) return "remote process exited or there was a network error";
  if (status == kInvalidUsage) return "invalid usage";
  return status == kInternalError ? "internal error" : "invalid argument";
}

const char* ncclGetLastError(ncclComm*) { return "the fake was told to fail"; }

int ncclGetUniqueId(Id* id) {
  return cupel::burn::fake::make_far_id(id->bytes) ? kSuccess : kInvalidUsage;
}

int ncclCommInitRankConfig(ncclComm** comm, int ranks, Id id, int rank, Config* config) {
  static std::mutex mutex;
  // Kept for good: the first rank may be through before the last has begun.
  static auto* const worlds = new std::map<IdBytes, std::shared_ptr<World>>;
  const bool sound = config->magic == 0xcafebeef && config->size >= 20 &&
                     config->version >= 21400 && rank >= 0 && rank < ranks;
  if (!sound) return kInvalidArgument;
  const std::scoped_lock lock{mutex};
  auto& world = (*worlds)[id.bytes];
  if (world == nullptr) world = std::make_shared<World>();
  if (rank == 0) write_log();
  world->here.push_back(rank);
  if (config->blocking == 0) {
    const auto deliver = [to = world.get()](int from, int whom, Bytes message) {
      to->deliver(from, whom, std::move(message));
    };
    if (world->far == nullptr) world->far = std::make_unique<FarWorld>(id.bytes, ranks, deliver);
    world->far->join(rank);
    write_far_log(rank, ranks);
  }
  *comm = new ncclComm{world, rank, ranks};
  return world->far == nullptr ? kSuccess : kInProgress;
}

int ncclCommGetAsyncError(ncclComm* comm, int* status) {
  const auto* const far = comm->world->far.get();
  *status = kSuccess;
  if (far != nullptr && !far->is_joined()) *status = kInProgress;
  if (far != nullptr && far->is_broken()) *status = kRemoteError;
  if (fails("async")) *status = kInternalError;
  return kSuccess;
}

int ncclCommAbort(ncclComm* comm) {
  comm->world->abort();
  delete comm;
  return kSuccess;
}

int ncclCommDestroy(ncclComm* comm) {
  auto& world = *comm->world;
  if (world.far != nullptr && ++world.left == static_cast<int>(world.here.size()))
    world.far->leave();
  delete comm;
  return kSuccess;
}

int ncclGroupStart() {
  ++groups;
  return kSuccess;
}

int ncclGroupEnd() {
  if (--groups > 0) return kSuccess;
  for (auto* comm : grouped) {
    const auto later = std::exchange(comm->later, {});
    on_stream(later.front().stream, "", nullptr, [of = *comm, later] { exchange(of, later); });
  }
  grouped.clear();
  return kSuccess;
}

int ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int, ncclComm* comm,
                  void* stream) {
  if (fails("ncclAllReduce")) return kInternalError;
  on_stream(stream, "sum", receive, [=, of = *comm] {
    const auto all = gather(of, send, count * bytes_of(type));
    for (std::size_t i = 0; i < count && !all.empty(); ++i)
      add(all, i, type, static_cast<char*>(receive) + i * bytes_of(type));
  });
  return taken(*comm);
}

int ncclAllGather(const void* send, void* receive, std::size_t count, int type, ncclComm* comm,
                  void* stream) {
  on_stream(stream, "", nullptr, [=, of = *comm] {
    const auto bytes = count * bytes_of(type);
    const auto all = gather(of, send, bytes);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      std::memcpy(static_cast<char*>(receive) + rank * bytes, all[rank].data(), bytes);
  });
  return kSuccess;
}

int ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int,
                      ncclComm* comm, void* stream) {
  on_stream(stream, "", nullptr, [=, of = *comm] {
    const auto ranks = static_cast<std::size_t>(of.ranks);
    const auto all = gather(of, send, count * ranks * bytes_of(type));
    for (std::size_t i = 0; i < count && !all.empty(); ++i)
      add(all, static_cast<std::size_t>(of.rank) * count + i, type,
          static_cast<char*>(receive) + i * bytes_of(type));
  });
  return kSuccess;
}

int ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root,
                  ncclComm* comm, void* stream) {
  on_stream(stream, "", nullptr, [=, of = *comm] {
    const auto bytes = count * bytes_of(type);
    if (of.rank == root)
      for (int to = 0; to < of.ranks; ++to) of.world->post(root, to, send, bytes);
    const auto got = of.world->take(root, of.rank);
    if (got.size() == bytes) std::memcpy(receive, got.data(), bytes);
  });
  return kSuccess;
}

int ncclSend(const void* data, std::size_t count, int type, int peer, ncclComm* comm,
             void* stream) {
  return message(comm, {true, data, nullptr, count * bytes_of(type), peer, stream});
}

#ifndef FAKE_NCCL_LACKS_RECV
int ncclRecv(void* data, std::size_t count, int type, int peer, ncclComm* comm, void* stream) {
  return message(comm, {false, nullptr, data, count * bytes_of(type), peer, stream});
}
#endif
}
