#pragma once
// The matrix products: types, sizes, how near a plain sum must come. C is read once to be verified,
// which costs in proportion to 1 / k: k is chosen so that it stays well below 3 %.
#include <cstdint>
#include <optional>
#include <string_view>

namespace cupel::burn {

enum class Type : int { kBf16, kFp16, kTf32, kFp8, kFp64 };
inline constexpr std::string_view kTypeNames = "bf16,fp16,tf32,fp8,fp64";

std::string_view name_of(Type type);
std::optional<Type> type_of(std::string_view name);

/// C[i, j] = sum over k of A[i, k] * B[j, k]: both operands lie along k, C along i.
struct ProductShape {
  Type type{};
  std::uint64_t m = 0;
  std::uint64_t n = 0;
  std::uint64_t k = 0;

  std::uint64_t operand_bytes() const;  // of one element
  std::uint64_t result_bytes() const;
  std::uint64_t a_bytes() const { return m * k * operand_bytes(); }
  std::uint64_t b_bytes() const { return n * k * operand_bytes(); }
  std::uint64_t c_bytes() const { return m * n * result_bytes(); }
  double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  /// Largest |C - plain sum| of a sound unit, for a plain sum of this size: rounding of C, and of
  /// its accumulator, of which the fp8 units keep only 14 bits.
  double tolerance(double plain) const;
};

/// Whether the chip multiplies it: fp8 since 8.9, all others since 8.0.
bool runs_on(Type type, int major, int minor);

/// Whether its units for it are so few that a product hardly loads the chip: fp64 on 8.6, 8.7, 8.9,
/// 10.3 and 12.x.
/// Source: CUDA C++ Programming Guide, "Arithmetic Instructions": 2 results of fp64 per clock and
/// SM on 8.6, 8.9 and 12.0, 32 or 64 on 8.0, 9.0 and 10.0; data sheet of HGX B300 (10.3): 10
/// TFLOP/s of eight GPUs.
bool is_slow(Type type, int major, int minor);

inline constexpr std::uint64_t kLargestSide = 8'192, kLeastSide = 256;

/// The largest of the type's sizes that leaves room in `free_bytes`: `side` rows and columns of C,
/// a power of two, or half, or a quarter of that. Below 2,048, k goes down with `side`. Nothing:
/// none does.
std::optional<ProductShape> shape_for(Type type, std::uint64_t free_bytes,
                                      std::uint64_t side = kLargestSide);

/// How many elements of C are compared with plain sums: of a large one 1,024.
constexpr int samples_of(const ProductShape& shape) {
  return static_cast<int>(shape.m / 8 < 1024 ? shape.m / 8 : 1024);
}

/// C is summed in chunks of this many bytes: what is wrong is known to a chunk at once.
inline constexpr std::uint64_t kChunkBytes = 64 * 1024;

/// How far B is rotated for the `product`th product, in chunks of C: chunk c of that product must
/// be chunk (c + rotation) % chunks of the first. So each part of C is computed by other units each
/// time, and one that is always wrong is wrong at another place. `chunks` is a power of two.
constexpr std::uint64_t rotation_of(std::uint64_t product, std::uint64_t chunks) {
  return product * 0x9e3779b1u % chunks;
}
/// Where the operand B of such a product begins, in bytes, in a B that lies there twice.
std::uint64_t rotated_by(const ProductShape& shape, std::uint64_t rotation);

/// Dense bf16 rate by the chip's data sheet, in TFLOP/s; nothing for an unknown chip.
/// The name is the driver's; a chip's must stand there as a word of its own ("RTX A4000" is no
/// A40).
std::optional<double> peak_bf16(std::string_view gpu_name);

}  // namespace cupel::burn
