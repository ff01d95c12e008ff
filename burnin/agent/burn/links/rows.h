#pragma once
// In which order the sizes of all operations are measured: first what a verdict rests on, the
// largest and the smallest of each, then all others, as long as there is time.
#include <cstdint>
#include <span>
#include <vector>

#include "burnin/agent/burn/links/operation.h"

namespace cupel::burn {

struct Row {
  Shape shape{};
  bool in_place = false;
  bool must = false;  // measured even where the time is over

  friend bool operator==(const Row&, const Row&) = default;
};

/// What an operation is timed with: float where it adds, whole words where it only moves.
Scalar timed_scalar(Operation operation);

/// Each size of each operation, out of place, and in place where there is that. The largest and the
/// smallest out of place come first and must be measured; the others by size.
std::vector<Row> plan_rows(std::span<const Operation> operations, int ranks,
                           std::span<const std::uint64_t> sizes);

/// What is checked at this size: all three kinds of numbers where an operation adds, but only what
/// it is timed with where the messages are huge.
std::vector<Scalar> checked_scalars(const Shape& shape);

/// The largest size of the ladder, at most `requested`, of which two buffers fit into `free` bytes
/// beside what NCCL takes for itself; 0: none does.
std::uint64_t largest_fitting(std::uint64_t requested, std::uint64_t free);

}  // namespace cupel::burn
