#include "burnin/agent/burn/links/pairs.h"

#include <algorithm>
#include <cmath>

#include "burnin/agent/common/json_line.h"

namespace cupel::burn {

std::string part_of(Pair pair) {
  return "gpu" + std::to_string(pair.from) + "-gpu" + std::to_string(pair.to);
}

std::vector<Pair> ordered_pairs(int count) {
  std::vector<Pair> pairs;
  for (int from = 0; from < count; ++from)
    for (int to = 0; to < count; ++to)
      if (from != to) pairs.push_back({from, to});
  return pairs;
}

Rounds paired_rounds(int count) {
  Rounds rounds;
  if (count < 2) return rounds;
  const int seats = count + count % 2;  // an odd count gets an empty seat
  const int circle = seats - 1;         // the last seat stays, all others move on by one each round
  for (int round = 0; round < circle; ++round) {
    auto& pairs = rounds.emplace_back();
    for (int i = 0; i < seats / 2; ++i) {
      const int one = i == 0 ? circle : (round + i) % circle;
      const int other = (round + circle - i) % circle;
      if (one < count && other < count)
        pairs.push_back({std::min(one, other), std::max(one, other)});
    }
  }
  return rounds;
}

Rounds one_way_rounds(int count) {
  Rounds rounds;
  for (const auto& pairs : paired_rounds(count)) {
    rounds.push_back(pairs);
    auto& back = rounds.emplace_back();
    for (const auto& pair : pairs) back.push_back({pair.to, pair.from});
  }
  return rounds;
}

Matrix::Matrix(int count) : count_{count}, cells_(static_cast<std::size_t>(count) * count) {}

void Matrix::set(Pair pair, double value) {
  cells_.at(static_cast<std::size_t>(pair.from) * count_ + pair.to) = value;
}

std::optional<double> Matrix::at(Pair pair) const {
  return cells_.at(static_cast<std::size_t>(pair.from) * count_ + pair.to);
}

std::string Matrix::rows() const {
  std::string text = "[";
  for (int from = 0; from < count_; ++from) {
    text += from == 0 ? "[" : ",[";
    for (int to = 0; to < count_; ++to) {
      if (to > 0) text += ',';
      const auto cell = at({from, to});
      text += cell ? agent::number_text(std::round(*cell * 1000) / 1000) : "null";
    }
    text += ']';
  }
  return text + "]";
}

}  // namespace cupel::burn
