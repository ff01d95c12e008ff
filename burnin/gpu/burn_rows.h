#pragma once
// nvidia-smi's lines in what a stage with cupel-burn printed, and which of the profile's GPUs each
// is about. Pure.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/gpu/burn_output.h"
#include "burnin/gpu/cupel_burn.h"
#include "inventory/fwd.h"

namespace cupel::burnin {

// Bits of clocks_event_reasons.active. Source: NVML API reference, nvmlClocksEventReasons.
inline constexpr std::uint64_t kPowerCap = 0x4;
inline constexpr std::uint64_t kHeldBack = 0x8 | 0x20 | 0x40 | 0x80;  // slowdown, heat, power brake

/// PCI addresses and the names of the GPUs there.
class GpuNames {
 public:
  GpuNames(std::span<const std::string> places, std::vector<std::string> addresses);
  std::string name_at(std::string_view address) const;

 private:
  std::span<const std::string> places_;
  std::vector<std::pair<std::string, std::string>> numbered_{};  // where the profile knows no place
};

/// Lines of values, each beginning with the GPU's address; at most 200,000.
std::vector<std::vector<std::string>> rows_of(const BurnOutput& burn, std::string_view section,
                                              std::size_t columns);

GpuNames names_of(const inventory::Profile& profile, const BurnOutput& burn, const BurnReport& run);

/// Of "0x0000000000000004".
std::optional<std::uint64_t> bits_of(std::string_view text);

}  // namespace cupel::burnin
