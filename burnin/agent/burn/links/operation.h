#pragma once
// The collective operations: who holds what before and after, and which figure their time gives.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "burnin/agent/burn/links/pattern.h"

namespace cupel::burn {

enum class Operation {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kSendRecv,  // each rank sends to the next and receives from the one before
};

std::span<const Operation> all_operations();
/// "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_recv".
std::string_view name_of(Operation operation);
std::optional<Operation> operation_of(std::string_view name);

/// Bus bandwidth over algorithm bandwidth.
/// Source: nccl-tests, doc/PERFORMANCE.md, "Bus bandwidth" and "Summary": 2(n-1)/n for all-reduce,
/// (n-1)/n for all-gather, reduce-scatter and all-to-all, 1 for broadcast; its sendrecv.cu has 1.
double bus_factor(Operation operation, int ranks);

/// GB/s (1e9 bytes) of an operation on `bytes`, as `bytes_of_size` counts them.
double bus_bandwidth(Operation operation, int ranks, std::uint64_t bytes, double microseconds);

CUPEL_BOTH constexpr bool reduces(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kReduceScatter;
}

/// All-to-all and send-receive have no form in place: what is sent would be overwritten while
/// others still wait for it (nccl-tests leaves them out too).
constexpr bool runs_in_place(Operation operation) {
  return operation != Operation::kAllToAll && operation != Operation::kSendRecv;
}

/// One operation at one size on one rank, in elements.
struct Shape {
  Operation operation = Operation::kAllReduce;
  int ranks = 0;
  Scalar scalar = Scalar::kFloat32;
  std::uint64_t count = 0;     // the count that the library's call takes
  std::uint64_t sent = 0;      // elements of the send buffer
  std::uint64_t received = 0;  // elements of the receive buffer
  std::uint64_t bytes = 0;     // the size S: the larger of the two buffers

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// The shape of at most `bytes`; nullopt where not even one element for each rank fits.
/// Source: nccl-tests, doc/PERFORMANCE.md: S is the size of the whole array, also where the call
/// takes the count of one rank's part.
std::optional<Shape> shape_of(Operation operation, int ranks, Scalar scalar, std::uint64_t bytes);

/// Where the send buffer begins within the receive buffer (all-gather), or the receive buffer
/// within the send buffer (reduce-scatter), in place on this rank, in elements. 0 for the others.
std::uint64_t in_place_offset(const Shape& shape, int rank);

/// 8, 16, 32 ... up to `most`: each `factor` times the one before; `most` itself is the last.
std::vector<std::uint64_t> size_ladder(std::uint64_t least, std::uint64_t most, unsigned factor);

/// The shapes of a ladder, each size once.
std::vector<Shape> shape_ladder(Operation operation, int ranks, Scalar scalar,
                                std::span<const std::uint64_t> sizes);

/// Which rank's element, at which place in that rank's send buffer, must stand at `index` of the
/// receive buffer of `rank`. Of a reducing operation: `index` of every rank.
struct Origin {
  int rank;
  std::uint64_t index;
};

CUPEL_BOTH constexpr Origin origin_of(Operation operation, int rank, int ranks, int root,
                                      std::uint64_t count, std::uint64_t index) {
  switch (operation) {
    case Operation::kAllGather:
      return {static_cast<int>(index / count), index % count};
    case Operation::kReduceScatter:
      return {rank, static_cast<std::uint64_t>(rank) * count + index};
    case Operation::kAllToAll:
      return {static_cast<int>(index / count),
              static_cast<std::uint64_t>(rank) * count + index % count};
    case Operation::kBroadcast:
      return {root, index};
    case Operation::kSendRecv:
      return {(rank + ranks - 1) % ranks, index};
    case Operation::kAllReduce:
      break;
  }
  return {rank, index};
}

/// The bits that must stand there.
CUPEL_BOTH inline std::uint32_t expected_bits(const Shape& shape, std::uint64_t seed, int rank,
                                              int root, std::uint64_t index) {
  const auto origin = origin_of(shape.operation, rank, shape.ranks, root, shape.count, index);
  if (reduces(shape.operation)) return sum_bits(shape.scalar, seed, shape.ranks, origin.index);
  return bits_of(shape.scalar,
                 number_of(shape.scalar, seed, origin.rank, shape.ranks, origin.index));
}

/// How many operations make one sample: so many that it lasts long enough to be timed, few enough
/// that sums of sums stay finite in place, and that a slow path still ends.
int operations_per_sample(double microseconds_each);

}  // namespace cupel::burn
