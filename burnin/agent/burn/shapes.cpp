#include "burnin/agent/burn/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cupel::burn {
namespace {

struct Row {
  Type type;
  std::string_view name;
  std::uint64_t operand_bytes;
  std::uint64_t result_bytes;
  std::uint64_t k;
  double of_result;     // relative rounding of C
  double of_deviation;  // of the accumulator, in deviations of C, which are sqrt(k)
};

constexpr std::array kRows{
    Row{Type::kBf16, "bf16", 2, 2, 16'384, 0x1p-7, 0x1p-8},
    Row{Type::kFp16, "fp16", 2, 2, 16'384, 0x1p-10, 0x1p-8},
    Row{Type::kTf32, "tf32", 4, 4, 16'384, 0x1p-16, 0x1p-8},
    Row{Type::kFp8, "fp8", 1, 2, 32'768, 0x1p-7, 0x1p-4},
    Row{Type::kFp64, "fp64", 8, 8, 8'192, 0x1p-48, 0x1p-40},
};

const Row& row(Type type) { return kRows[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view name_of(Type type) { return row(type).name; }

std::optional<Type> type_of(std::string_view name) {
  const auto* found = std::ranges::find(kRows, name, &Row::name);
  if (found == kRows.end()) return std::nullopt;
  return found->type;
}

std::uint64_t ProductShape::operand_bytes() const { return row(type).operand_bytes; }
std::uint64_t ProductShape::result_bytes() const { return row(type).result_bytes; }

double ProductShape::tolerance(double plain) const {
  return row(type).of_result * std::abs(plain) +
         row(type).of_deviation * std::sqrt(static_cast<double>(k));
}

bool runs_on(Type type, int major, int minor) {
  if (type == Type::kFp8) return major > 8 || (major == 8 && minor >= 9);
  return major >= 8;
}

bool is_slow(Type type, int major, int minor) {
  if (type != Type::kFp64) return false;
  return (major == 8 && minor >= 6) || (major == 10 && minor >= 3) || major == 12;
}

std::optional<ProductShape> shape_for(Type type, std::uint64_t free_bytes, std::uint64_t side) {
  const auto k = side < kLargestSide / 4 ? row(type).k * side / kLargestSide : row(type).k;
  for (const std::uint64_t each : {side, side / 2, side / 4}) {
    if (each < kLeastSide) break;
    const ProductShape shape{.type = type, .m = each, .n = each, .k = k};
    // A, B twice, the first result, the present one, and as much again for the library.
    if (shape.a_bytes() + 2 * shape.b_bytes() + 4 * shape.c_bytes() <= free_bytes) return shape;
  }
  return std::nullopt;
}

std::uint64_t rotated_by(const ProductShape& shape, std::uint64_t rotation) {
  const auto columns_of_chunk = kChunkBytes / (shape.m * shape.result_bytes());
  return rotation * columns_of_chunk * shape.k * shape.operand_bytes();
}

std::optional<double> peak_bf16(std::string_view gpu_name) {
  struct Peak {
    std::string_view name;
    double tflops;
  };
  // Source: NVIDIA's data sheets, "FP16/BF16 Tensor Core". Those that tell it with sparsity alone
  // are halved; those of a rack or a baseboard are divided by its GPUs.
  static constexpr std::array kPeaks{
      Peak{"GB300", 2500},       // GB300 NVL72: 360 PFLOPS with sparsity, 72 GPUs
      Peak{"GB200", 2500},       // GB200 NVL72: 360 PFLOPS with sparsity, 72 GPUs
      Peak{"B300", 2250},        // HGX B300: 36 PFLOPS with sparsity, 8 GPUs
      Peak{"B200", 2250},        // HGX B200: 36 PFLOPS with sparsity, 8 GPUs
      Peak{"GH200", 989.4},      // GH200: 1,979 with sparsity; dense by the Hopper white paper
      Peak{"H200 NVL", 835.5},   // H200 NVL: 1,671 with sparsity
      Peak{"H200", 989.4},       // H200 SXM: 1,979 with sparsity
      Peak{"H100 PCIe", 756.5},  // H100 PCIe: 1,513 with sparsity
      Peak{"H100 NVL", 835.5},   // H100 NVL: 1,671 with sparsity
      Peak{"H100", 989.4},       // H100 SXM: 1,979 with sparsity
      Peak{"A100", 312},         // A100: 312, 624 with sparsity
      Peak{"L40S", 362.05},      // L40S: 362.05, 733 with sparsity
      Peak{"A40", 149.7},        // A40: 149.7, 299.4 with sparsity
  };
  const auto is_word = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); };
  const auto* found = std::ranges::find_if(kPeaks, [&](const Peak& peak) {
    const auto at = gpu_name.find(peak.name);
    if (at == gpu_name.npos || (at > 0 && is_word(gpu_name[at - 1]))) return false;
    const auto after = at + peak.name.size();
    return after == gpu_name.size() || !is_word(gpu_name[after]);
  });
  if (found == kPeaks.end()) return std::nullopt;
  return found->tflops;
}

}  // namespace cupel::burn
