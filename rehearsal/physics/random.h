#pragma once
// Chance that is the same everywhere: each draw is a function of a seed and of what is drawn, so
// that no draw depends on how many there were before. Not <random>, whose distributions differ from
// one library to the next.
#include <cstdint>
#include <string_view>

namespace cupel::rehearsal {

/// How healthy parts of one kind differ: less is worse. Of all but `bimodal` the mean is 0 and the
/// deviation 1.
enum class SpreadShape : std::uint8_t {
  normal,
  gamma,        // of shape 4: a skew of -1
  exponential,  // a ceiling, and a tail below it
  laplace,
  student_t,  // with 4 degrees of freedom
  bimodal,    // a tenth is three deviations slower, and spreads by one and a half
  uniform,
};

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
    return Draw{state_ ^ mixed(number + 0x632be59bd9b4e019)}.shaped(shape_);
  }
  /// The same draw, and all that come of it, with a spread() of that shape.
  constexpr Draw shaped(SpreadShape shape) const {
    auto other = *this;
    other.shape_ = shape;
    return other;
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
  /// 1, give or take `deviation`, within three of them; of another shape than normal, within six.
  double spread(double deviation) const { return 1 + deviation * deviate(); }

 private:
  double deviate() const;

  /// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
  /// figure 15 (mix64).
  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
  SpreadShape shape_ = SpreadShape::normal;
};

}  // namespace cupel::rehearsal
