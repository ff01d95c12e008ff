#include "rehearsal/physics/event_count.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cupel::rehearsal {
namespace {

/// Above it, draws are normal ones, rounded: nobody can tell them apart.
constexpr double kMany = 512;

std::uint64_t rounded(double mean, double deviation, double normal) {
  return static_cast<std::uint64_t>(std::max(std::round(mean + deviation * normal), 0.0));
}

/// Knuth, The Art of Computer Programming, volume 2, 3.4.1, algorithm P.
std::uint64_t poisson(Draw of, double mean) {
  if (mean > kMany) return rounded(mean, std::sqrt(mean), of.normal());
  double left = -mean;
  std::uint64_t count = 0;
  for (; count < 4 * static_cast<std::uint64_t>(kMany); ++count) {
    left -= std::log(1 - of.of(count).uniform());
    if (left >= 0) break;
  }
  return count;
}

/// Of `count` events, those that lie in the first half: a coin for each.
std::uint64_t first_half(Draw of, std::uint64_t count) {
  const double many = static_cast<double>(count);
  if (many > kMany) return std::min(rounded(many / 2, std::sqrt(many) / 2, of.normal()), count);
  std::uint64_t heads = 0;
  for (std::uint64_t done = 0; done < count; done += 64) {
    const auto coins = std::min<std::uint64_t>(count - done, 64);
    const auto thrown = of.of(done).bits() >> (64 - coins);
    heads += static_cast<std::uint64_t>(std::popcount(thrown));
  }
  return heads;
}

}  // namespace

/// Blocks [0, 1), [1, 2), [2, 4), [4, 8)... have each their count; the block in which the exposure
/// ends is halved until the end is known well enough.
std::uint64_t events_until(Draw of, double exposure) {
  constexpr int kMostBlocks = 60, kHalvings = 48;
  constexpr double kFine = 1e-6;
  std::uint64_t sum = 0;
  double low = 0, high = 1;
  for (int block = 0; block < kMostBlocks && exposure > low; ++block) {
    const auto mine = of.of(static_cast<std::uint64_t>(block));
    auto count = poisson(mine.of("count"), high - low);
    if (exposure >= high) {
      sum += count;
      low = high;
      high *= 2;
      continue;
    }
    auto here = mine.of("halves");
    for (int i = 0; i < kHalvings && count > 0 && high - low > kFine; ++i) {
      const double middle = (low + high) / 2;
      const auto first = first_half(here, count);
      const bool second = exposure >= middle;
      if (second) sum += first;
      count = second ? count - first : first;
      (second ? low : high) = middle;
      here = here.of(second ? 2 : 1);
    }
    return sum;
  }
  return sum;
}

double first_event(Draw of, double exposure) {
  constexpr int kHalvings = 60;
  double low = 0, high = exposure;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (events_until(of, middle) == 0 ? low : high) = middle;
  }
  return high;
}

}  // namespace cupel::rehearsal
