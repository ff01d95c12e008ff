// What nvidia-smi of a captured GPU reports, held against the profile of its kind: a good GPU must
// meet what is asked of its memory, link and power limit.
#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/burnin/stages.h"
#include "tests/support/samples.h"

namespace cupel::burnin {
namespace {

struct Captured {
  const char* sample;
  std::vector<std::string> profiles;
};

void PrintTo(const Captured& captured, std::ostream* out) { *out << captured.sample; }

/// The first number after `label` of `nvidia-smi -q`, in or below `section`.
std::optional<double> number_of(const std::string& text, std::string_view section,
                                std::string_view label) {
  auto at = text.find(section);
  if (at == text.npos) return std::nullopt;
  at = text.find(label, at);
  const auto colon = text.find(": ", at);
  if (at == text.npos || colon == text.npos) return std::nullopt;
  const auto value = trimmed(std::string_view{text}.substr(colon + 2, 16));
  return number<double>(value.substr(0, value.find_first_not_of("0123456789.")));
}

std::optional<double> asked(const inventory::Profile& profile, std::string_view measure) {
  for (const auto& each : profile.criteria)
    if (each.stage == "gpu-facts" && each.measure == measure) return each.at_least;
  return std::nullopt;
}

class CapturedGpu : public ::testing::TestWithParam<Captured> {};

TEST_P(CapturedGpu, MeetsTheProfilesOfItsKindAndOnlyJustWhereTheyAreTight) {
  CUPEL_NEEDS_SAMPLE(text, GetParam().sample);
  const auto mib = number_of(text, "FB Memory Usage", "Total").value_or(0);
  const auto watts = number_of(text, "GPU Power Readings", "Current Power Limit").value_or(0);
  const auto gen = number_of(text, "PCIe Generation", "Device Max").value_or(0);
  for (const auto& name : GetParam().profiles) {
    const auto& of = profile(name);
    const auto memory = asked(of, "gpu.memory.total").value_or(0);

    EXPECT_GE(mib / 1024, memory) << name;
    EXPECT_LE(mib / 1024, memory * 1.02) << name << " would take a smaller GPU for a good one";
    EXPECT_EQ(asked(of, "gpu.power.limit"), watts) << name;
    EXPECT_EQ(asked(of, "gpu.pcie.gen_max"), gen) << name;
    for (const auto& parts : of.parts) {
      if (parts.kind != inventory::PartKind::gpu) continue;
      const bool fits = std::ranges::any_of(
          parts.models, [&](const auto& model) { return text.contains("NVIDIA " + model); });
      EXPECT_TRUE(fits) << name;
      const double bytes = mib * 1024 * 1024;
      EXPECT_NEAR(bytes, parts.size_bytes.value_or(0), parts.size_tolerance * bytes) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    NvidiaSmi, CapturedGpu,
    ::testing::Values(Captured{"nvidia-smi/h100-80gb-hbm3_q_load.txt", {"dgx-h100", "hgx-h100-8"}},
                      Captured{"nvidia-smi/h200_q_load.txt", {"dgx-h200", "hgx-h200-8"}},
                      Captured{"nvidia-smi/l40s_q_load.txt", {"l40s-8"}}),
    [](const auto& captured) { return std::string{"Of"} + std::to_string(captured.index); });

}  // namespace
}  // namespace cupel::burnin
