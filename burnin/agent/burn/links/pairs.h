#pragma once
// Which GPU sends to which, in what order: every ordered pair exactly once, and no GPU twice in one
// round, so that the pairs of a round can run at once without sharing an end.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cupel::burn {

struct Pair {
  int from = 0;
  int to = 0;

  friend bool operator==(const Pair&, const Pair&) = default;
};

using Rounds = std::vector<std::vector<Pair>>;

/// "gpu0-gpu1": what flows from the first to the second.
std::string part_of(Pair pair);

/// Every ordered pair, by sender and then by receiver.
std::vector<Pair> ordered_pairs(int count);

/// Each unordered pair once: from < to. count-1 rounds of count/2 pairs; an odd one sits out.
/// Source: the circle method of round-robin tournaments (a 1-factorisation of the complete graph).
Rounds paired_rounds(int count);

/// Each ordered pair once: the rounds above, first one way and then the other.
Rounds one_way_rounds(int count);

/// A square matrix as JSON: [[null,1],[0,null]]. What was not found out is null, as the diagonal
/// is.
class Matrix {
 public:
  explicit Matrix(int count);

  void set(Pair pair, double value);
  std::optional<double> at(Pair pair) const;
  /// With at most three digits after the point.
  std::string rows() const;

 private:
  int count_;
  std::vector<std::optional<double>> cells_;
};

}  // namespace cupel::burn
