#include "burnin/agent/burn/links/rows.h"

#include <algorithm>
#include <bit>

namespace cupel::burn {

Scalar timed_scalar(Operation operation) {
  return reduces(operation) ? Scalar::kFloat32 : Scalar::kInt32;
}

std::vector<Row> plan_rows(std::span<const Operation> operations, int ranks,
                           std::span<const std::uint64_t> sizes) {
  std::vector<Row> first;
  std::vector<Row> others;
  for (const auto operation : operations) {
    const auto shapes = shape_ladder(operation, ranks, timed_scalar(operation), sizes);
    if (shapes.empty()) continue;
    first.push_back({.shape = shapes.back(), .must = true});
    if (shapes.size() > 1) first.push_back({.shape = shapes.front(), .must = true});
    for (const auto& shape : shapes) {
      const bool is_first = shape == shapes.back() || shape == shapes.front();
      if (!is_first) others.push_back({.shape = shape});
      if (runs_in_place(operation)) others.push_back({.shape = shape, .in_place = true});
    }
  }
  std::ranges::stable_sort(others, {}, [](const Row& row) { return row.shape.bytes; });
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

std::vector<Scalar> checked_scalars(const Shape& shape) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 30;
  if (!reduces(shape.operation)) return {Scalar::kInt32};
  if (shape.bytes > kHuge) return {Scalar::kFloat32};
  return {Scalar::kFloat32, Scalar::kInt32, Scalar::kBfloat16};
}

std::uint64_t largest_fitting(std::uint64_t requested, std::uint64_t free) {
  constexpr std::uint64_t kNccl = std::uint64_t{3} << 30;  // its channels' buffers, with room
  if (free <= kNccl) return 0;
  const auto each = (free - kNccl) / 2;
  return requested <= each ? requested : std::bit_floor(each);
}

}  // namespace cupel::burn
