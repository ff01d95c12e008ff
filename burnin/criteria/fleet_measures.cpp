#include "burnin/criteria/fleet_measures.h"

#include <algorithm>
#include <array>
#include <span>

namespace cupel::burnin {
namespace {

constexpr std::array<std::string_view, 6> kUnits{"GB/s", "TFLOP/s", "tokens/s",
                                                 "Gb/s", "MHz",     "IOPS"};

// Clocks are what rates are explained by. They move in steps (15 MHz on an H100), so that most
// healthy chips read alike and the few that stand a step beside them would be far off.
constexpr std::array<std::string_view, 14> kNotCompared{"gpu.clock.sm",
                                                        "cpu.clock",
                                                        "ib.port.rate",
                                                        "nic.rate",
                                                        "pcie.bandwidth",
                                                        "cpu.frequency.base",
                                                        "cpu.frequency.lowest",
                                                        "gpu.clock.sm.least",
                                                        "gpu.clock.memory",
                                                        "storage.read.bandwidth",
                                                        "storage.write.bandwidth",
                                                        "p2p.pair.bandwidth",
                                                        "disk.read.bandwidth",
                                                        "disk.write.bandwidth"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_among(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

bool is_fleet_measure(std::string_view measure) {
  const auto* row = measure_row(measure);
  return row != nullptr && row->better != Better::neither && !row->precondition &&
         is_among(kUnits, row->unit) && !is_among(kNotCompared, measure);
}

std::vector<std::string> fleet_units() { return {kUnits.begin(), kUnits.end()}; }

double least_effect(std::string_view measure) {
  constexpr double kCompute = 0.08, kDrive = 0.1;
  const auto* row = measure_row(measure);
  if (row == nullptr) return kLeastEffect;
  if (row->unit == "TFLOP/s" || row->unit == "tokens/s") return kCompute;
  const bool drive = row->unit == "IOPS" || measure.starts_with("nvme.") ||
                     measure.starts_with("disk.") || measure.starts_with("storage.");
  return drive ? kDrive : kLeastEffect;
}

std::optional<Covariate> covariate_of(std::string_view measure) {
  if (measure == "gpu.clock.sm" || measure == "cpu.clock") return Covariate::clock;
  if (measure == "gpu.power" || measure == "gpu.power.mean") return Covariate::power;
  if (measure == "gpu.temperature" || measure == "cpu.temperature") return Covariate::temperature;
  if (measure == "thermal.inlet") return Covariate::inlet;
  return std::nullopt;
}

std::string kind_of_part(std::string_view part) {
  std::string kind;
  for (const char c : part)
    if (!is_digit(c)) kind += c;
  return kind;
}

}  // namespace cupel::burnin
