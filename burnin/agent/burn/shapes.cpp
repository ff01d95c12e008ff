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

std::optional<ProductShape> shape_for(Type type, std::uint64_t free_bytes) {
  for (const std::uint64_t side : {8'192u, 4'096u, 2'048u}) {
    const ProductShape shape{.type = type, .m = side, .n = side, .k = row(type).k};
    // Both operands, the first result, the present one, and as much again for the library.
    if (shape.a_bytes() + shape.b_bytes() + 4 * shape.c_bytes() <= free_bytes) return shape;
  }
  return std::nullopt;
}

std::optional<double> peak_bf16(std::string_view gpu_name) {
  struct Peak {
    std::string_view part_of_name;
    double tflops;
  };
  static constexpr std::array kPeaks{
      Peak{"GB300", 2500}, Peak{"GB200", 2500},      Peak{"B300", 2250},
      Peak{"B200", 2250},  Peak{"GH200", 989.4},     Peak{"H200 NVL", 835.5},
      Peak{"H200", 989.4}, Peak{"H100 PCIe", 756.5}, Peak{"H100 NVL", 835.5},
      Peak{"H100", 989.4}, Peak{"H800", 989.4},      Peak{"A100", 312},
      Peak{"A800", 312},   Peak{"L40S", 362.05},     Peak{"A40", 149.7},
  };
  const auto* found = std::ranges::find_if(
      kPeaks, [&](const Peak& peak) { return gpu_name.find(peak.part_of_name) != gpu_name.npos; });
  if (found == kPeaks.end()) return std::nullopt;
  return found->tflops;
}

}  // namespace cupel::burn
