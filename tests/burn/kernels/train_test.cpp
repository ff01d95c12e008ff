// The kernels of `train` between the matrix products, run on the host: against the same arithmetic
// in double, gradients against differences; and that no order of the threads changes a bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/cuda/train_kernels.h"
#include "tests/burn/kernels/grid.h"

namespace cupel::burn {
namespace {

using on_host::Backwards;
using on_host::FewBlocks;
using Bf16 = std::uint16_t;
using Numbers = std::vector<double>;

constexpr std::uint64_t kRow = 2'048;

double number(Bf16 bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

Numbers numbers(const std::vector<Bf16>& values) {
  Numbers found;
  for (const auto value : values) found.push_back(number(value));
  return found;
}

std::vector<Bf16> random_values(std::uint64_t count, std::uint64_t seed) {
  const FewBlocks few{2};
  std::vector<Bf16> values(count);
  normal_bf16(values.data(), count, seed, 1, nullptr);
  return values;
}

/// d(sum of weights times f(x)) / dx[at], by a difference.
double slope(const std::function<Numbers(const Numbers&)>& f, Numbers x, const Numbers& weights,
             std::size_t at) {
  constexpr double kStep = 1e-4;
  double sums[2] = {};
  for (const int side : {0, 1}) {
    x[at] += side == 0 ? -kStep : 2 * kStep;
    const auto y = f(x);
    for (std::size_t i = 0; i < y.size(); ++i) sums[side] += weights[i] * y[i];
  }
  return (sums[1] - sums[0]) / (2 * kStep);
}

Numbers normed(const Numbers& x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  Numbers y;
  for (const double value : x)
    y.push_back(value / std::sqrt(squares / static_cast<double>(x.size()) + 1e-6));
  return y;
}

double gelu_of(double v) {
  return 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
}

TEST(TrainKernels, ANormAndItsGradientAreThoseOfTheFormula) {
  const FewBlocks few{2};
  const auto x = random_values(2 * kRow, 1);
  const auto dy = random_values(2 * kRow, 2);
  std::vector<Bf16> y(2 * kRow);
  std::vector<Bf16> dx(2 * kRow);
  std::vector<float> inverse(2);

  norm(x.data(), y.data(), inverse.data(), kRow, 2, nullptr);
  norm_back(dy.data(), y.data(), inverse.data(), dx.data(), true, kRow, 2, nullptr);
  auto twice = dx;
  norm_back(dy.data(), y.data(), inverse.data(), twice.data(), false, kRow, 2, nullptr);

  const auto all = numbers(x);
  const Numbers second(all.begin() + kRow, all.end());
  const auto weights = numbers(dy);
  const auto should = normed(second);
  for (std::size_t at = 0; at < kRow; at += 97) {
    EXPECT_NEAR(number(y[kRow + at]), should[at], 0.01 * std::abs(should[at]) + 1e-3);
    const double gradient = slope(normed, second, {weights.begin() + kRow, weights.end()}, at);
    EXPECT_NEAR(number(dx[kRow + at]), gradient, 0.02 * std::abs(gradient) + 0.01);
    EXPECT_NEAR(number(twice[kRow + at]), 2 * gradient, 0.04 * std::abs(gradient) + 0.02);
  }
}

TEST(TrainKernels, GeluAndItsGradientAreThoseOfTheFormula) {
  const FewBlocks few{1};
  const std::uint64_t count = 8 * (256 + 3);  // some threads go around twice
  const auto x = random_values(count, 3);
  std::vector<Bf16> y(count);
  auto dx = random_values(count, 4);
  const auto dy = numbers(dx);

  gelu(x.data(), y.data(), count, nullptr);
  gelu_back(x.data(), dx.data(), count, nullptr);

  for (std::size_t at = 0; at < count; ++at) {
    const double v = number(x[at]);
    ASSERT_NEAR(number(y[at]), gelu_of(v), 0.01 * std::abs(gelu_of(v)) + 1e-3);
    const double gradient = dy[at] * (gelu_of(v + 1e-4) - gelu_of(v - 1e-4)) / 2e-4;
    ASSERT_NEAR(number(dx[at]), gradient, 0.01 * std::abs(gradient) + 1e-3);
  }
}

Numbers softmax_of(const Numbers& x) {
  double sum = 0;
  for (const double value : x) sum += std::exp(value);
  Numbers p;
  for (const double value : x) p.push_back(std::exp(value) / sum);
  return p;
}

TEST(TrainKernels, AQuerySeesTheKeysUpToItselfAndItsGradientIsTheFormulas) {
  constexpr std::uint64_t kQueries = 20;
  auto p = random_values(kQueries * kRow, 5);
  const auto scores = numbers(p);
  auto ds = random_values(kQueries * kRow, 6);
  const auto dp = numbers(ds);

  softmax(p.data(), kRow, kQueries, nullptr);
  softmax_back(p.data(), ds.data(), kRow, kQueries, nullptr);

  for (std::size_t query = 0; query < kQueries; ++query) {
    const auto row = static_cast<std::ptrdiff_t>(query * kRow);
    const auto seen = row + static_cast<std::ptrdiff_t>(query) + 1;
    const Numbers mine(scores.begin() + row, scores.begin() + seen);
    const Numbers weights(dp.begin() + row, dp.begin() + seen);
    const auto should = softmax_of(mine);
    for (std::size_t key = 0; key < kRow; ++key) {
      const auto at = query * kRow + key;
      if (key > query) {
        ASSERT_EQ(number(p[at]), 0) << query << " sees " << key;
        ASSERT_EQ(number(ds[at]), 0);
        continue;
      }
      EXPECT_NEAR(number(p[at]), should[key], 0.01 * should[key]);
      const double gradient = slope(softmax_of, mine, weights, key);
      EXPECT_NEAR(number(ds[at]), gradient, 0.02 * std::abs(gradient) + 0.005);
    }
  }
}

TEST(TrainKernels, TheLossIsHalfTheMeanSquareAndItsGradientPointsThere) {
  constexpr std::uint64_t kTokens = 3;
  const auto y = random_values(kTokens * kRow, 7);
  const auto target = random_values(kTokens * kRow, 8);
  std::vector<Bf16> dy(kTokens * kRow);
  std::vector<float> of_token(kTokens);
  double loss = 0;

  loss_and_gradient(y.data(), target.data(), dy.data(), of_token.data(), &loss, kRow, kTokens,
                    nullptr);

  double squares = 0;
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double apart = number(y[at]) - number(target[at]);
    squares += apart * apart;
    ASSERT_NEAR(number(dy[at]), apart / kTokens, 0.01 * std::abs(apart) + 1e-6);
  }
  EXPECT_NEAR(loss, squares / 2 / (kTokens * kRow), 1e-5);
}

TEST(TrainKernels, TheOptimiserIsAdamW) {
  const FewBlocks few{1};
  constexpr std::uint64_t kCount = 8 * 300;
  std::vector<float> master(kCount);
  std::vector<float> moments(2 * kCount, 5);
  std::vector<Bf16> weights(kCount);
  const auto gradients = random_values(kCount, 9);

  first_weights(master.data(), weights.data(), moments.data(), kCount, 10, 0.02f, nullptr);
  const auto before = master;
  EXPECT_EQ(moments, std::vector<float>(2 * kCount, 0));
  for (const int step : {1, 2})
    adamw(master.data(), weights.data(), moments.data(), gradients.data(), 0.5f, kCount, step,
          nullptr);

  for (std::size_t at = 0; at < kCount; at += 7) {
    double weight = before[at];
    double first = 0;
    double second = 0;
    const double gradient = 0.5 * number(gradients[at]);
    for (const int step : {1, 2}) {
      first = 0.9 * first + 0.1 * gradient;
      second = 0.95 * second + 0.05 * gradient * gradient;
      const double along = first / (1 - std::pow(0.9, step)) /
                           (std::sqrt(second / (1 - std::pow(0.95, step))) + 1e-8);
      weight -= 1e-4 * (along + 0.1 * weight);
    }
    EXPECT_NEAR(master[at], weight, 1e-7);
    EXPECT_NEAR(number(weights[at]), weight, 0.004 * std::abs(weight));
  }
}

TEST(TrainKernels, PiecesAreAddedUpInTheirOrderEachOnce) {
  const FewBlocks few{1};
  constexpr std::uint64_t kCount = 8 * 300;
  const auto pieces = random_values(3 * kCount, 11);
  std::vector<Bf16> sum(kCount);

  add_pieces(pieces.data(), 3, sum.data(), kCount, nullptr);

  for (std::size_t at = 0; at < kCount; ++at) {
    const double should =
        number(pieces[at]) + number(pieces[kCount + at]) + number(pieces[2 * kCount + at]);
    ASSERT_NEAR(number(sum[at]), should, 0.004 * std::abs(should) + 1e-6);
  }
}

TEST(TrainKernels, AChecksumIsOfAllWordsAndFindsEachPlantedBit) {
  const FewBlocks few{1};
  std::vector<std::uint64_t> memory(2 * 300);
  for (std::size_t at = 0; at < memory.size(); ++at) memory[at] = random_at(12, at);
  std::uint64_t should = 0;
  for (std::size_t at = 0; at < memory.size(); ++at) should += check_term(memory[at], at);
  const auto checksum = [&] {
    std::uint64_t sum = 0;
    add_checksum(memory.data(), memory.size(), &sum, nullptr);
    return sum;
  };
  EXPECT_EQ(checksum(), should);

  int found = 0;
  for (std::uint64_t turn = 0; turn < 100; ++turn) {
    const auto bit = random_at(13, turn) % (64 * memory.size());
    memory[bit / 64] ^= std::uint64_t{1} << (bit % 64);
    found += checksum() != should;
    memory[bit / 64] ^= std::uint64_t{1} << (bit % 64);
  }

  EXPECT_EQ(found, 100);
}

TEST(TrainKernels, TheOrderInWhichThreadsRunChangesNoBit) {
  const auto all = [] {
    auto p = random_values(3 * kRow, 14);
    auto dx = random_values(3 * kRow, 15);
    const auto y = random_values(3 * kRow, 16);
    std::vector<float> of_token(3);
    double loss = 0;
    softmax(p.data(), kRow, 3, nullptr);
    norm(y.data(), dx.data(), of_token.data(), kRow, 3, nullptr);
    softmax_back(p.data(), dx.data(), kRow, 3, nullptr);
    norm_back(y.data(), p.data(), of_token.data(), dx.data(), false, kRow, 3, nullptr);
    loss_and_gradient(p.data(), y.data(), dx.data(), of_token.data(), &loss, kRow, 3, nullptr);
    p.insert(p.end(), dx.begin(), dx.end());
    return std::pair{p, std::bit_cast<std::uint64_t>(loss)};
  };

  const auto forwards = all();
  const Backwards backwards;

  EXPECT_EQ(all(), forwards);
}

}  // namespace
}  // namespace cupel::burn
