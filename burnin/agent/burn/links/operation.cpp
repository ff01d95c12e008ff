#include "burnin/agent/burn/links/operation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/enum_words.h"

namespace cupel::burn {
namespace {

constexpr std::array kAll{Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter,
                          Operation::kAllToAll,  Operation::kBroadcast, Operation::kSendRecv};

/// Whether S is parted among the ranks.
constexpr bool is_parted(Operation operation) {
  return operation == Operation::kAllGather || operation == Operation::kReduceScatter ||
         operation == Operation::kAllToAll;
}

/// Large parts begin where 16-byte loads may: a library that must go by single bytes measures that.
constexpr std::uint64_t kAligned = 16;

}  // namespace

std::span<const Operation> all_operations() { return kAll; }

std::string_view name_of(Operation operation) { return enum_word<'_'>(operation); }

std::optional<Operation> operation_of(std::string_view name) {
  return enum_of<Operation, '_'>(name);
}

double bus_factor(Operation operation, int ranks) {
  const double n = ranks;
  switch (operation) {
    case Operation::kAllReduce:
      return 2 * (n - 1) / n;
    case Operation::kAllGather:
    case Operation::kReduceScatter:
    case Operation::kAllToAll:
      return (n - 1) / n;
    case Operation::kBroadcast:
    case Operation::kSendRecv:
      return 1;
  }
  return std::nan("");
}

double bus_bandwidth(Operation operation, int ranks, std::uint64_t bytes, double microseconds) {
  const double algorithm = static_cast<double>(bytes) / (microseconds * 1e3);
  return algorithm * bus_factor(operation, ranks);
}

std::optional<Shape> shape_of(Operation operation, int ranks, Scalar scalar, std::uint64_t bytes) {
  const auto parts = is_parted(operation) ? static_cast<std::uint64_t>(ranks) : 1;
  const auto each = bytes / parts;
  const auto unit = each >= kAligned ? kAligned : std::uint64_t{4};  // 4: a whole of all elements
  const auto count = each / unit * unit / bytes_of(scalar);
  if (count == 0 || ranks < 1) return std::nullopt;
  const auto all = count * parts;
  Shape shape{.operation = operation, .ranks = ranks, .scalar = scalar, .count = count};
  shape.sent = operation == Operation::kAllGather ? count : all;
  shape.received = operation == Operation::kReduceScatter ? count : all;
  shape.bytes = all * bytes_of(scalar);
  return shape;
}

std::uint64_t in_place_offset(const Shape& shape, int rank) {
  const bool shifted =
      shape.operation == Operation::kAllGather || shape.operation == Operation::kReduceScatter;
  return shifted ? static_cast<std::uint64_t>(rank) * shape.count : 0;
}

std::vector<std::uint64_t> size_ladder(std::uint64_t least, std::uint64_t most, unsigned factor) {
  std::vector<std::uint64_t> sizes;
  if (least == 0 || least > most || factor < 2) return sizes;
  for (auto size = least; size < most; size *= factor) {
    sizes.push_back(size);
    if (size > most / factor) break;
  }
  sizes.push_back(most);
  return sizes;
}

std::vector<Shape> shape_ladder(Operation operation, int ranks, Scalar scalar,
                                std::span<const std::uint64_t> sizes) {
  std::vector<Shape> shapes;
  for (const auto size : sizes) {
    const auto shape = shape_of(operation, ranks, scalar, size);
    if (shape && (shapes.empty() || shape->bytes > shapes.back().bytes)) shapes.push_back(*shape);
  }
  return shapes;
}

int operations_per_sample(double microseconds_each) {
  constexpr double kLong =
      20'000;                // us: launching and waiting are then below one part in a hundred
  constexpr int kMost = 20;  // 16 ranks to the 20th power, times 2^24, is still a float
  if (!(microseconds_each > 0)) return kMost;
  return static_cast<int>(std::clamp(std::ceil(kLong / microseconds_each), 1.0, double{kMost}));
}

}  // namespace cupel::burn
