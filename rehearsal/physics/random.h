#pragma once
// Chance that is the same everywhere: each draw is a function of a seed and of what is drawn, so
// that no draw depends on how many there were before. Not <random>, whose distributions differ from
// one library to the next.
#include <cstdint>
#include <string_view>

namespace cupel::rehearsal {

/// What is drawn: a seed, a node, a purpose, a number of the draw.
class Draw {
 public:
  explicit constexpr Draw(std::uint64_t seed) : state_{mixed(seed)} {}
  constexpr Draw of(std::string_view what) const {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : what) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return of(hash);
  }
  constexpr Draw of(std::uint64_t number) const {
    return Draw{state_ ^ mixed(number + 0x632be59bd9b4e019)};
  }

  constexpr std::uint64_t bits() const { return mixed(state_); }
  /// From 0 to below 1.
  constexpr double uniform() const { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Mean 0, deviation 1, never beyond 6: the sum of twelve (Irwin-Hall).
  constexpr double normal() const {
    double sum = -6;
    for (std::uint64_t i = 0; i < 12; ++i) sum += of(i).uniform();
    return sum;
  }
  /// 1, give or take `deviation`, within three of them.
  constexpr double spread(double deviation) const {
    const double drawn = normal();
    return 1 + deviation * (drawn < -3 ? -3 : drawn > 3 ? 3 : drawn);
  }

 private:
  /// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
  /// figure 15 (mix64).
  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace cupel::rehearsal
