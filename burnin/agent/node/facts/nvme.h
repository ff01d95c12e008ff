#pragma once
// What an NVMe controller says of itself, as bytes and as numbers. Source: NVM Express base
// specification 2.0, figures 275 (identify controller) and 207 (SMART / health information).
#include <optional>
#include <string>
#include <string_view>

namespace cupel::agent {

struct NvmeIdentity {
  std::string serial{}, model{}, firmware{};
  double capacity = 0;  // bytes of all its memory; 0: not reported
  unsigned warning_kelvin = 0, critical_kelvin = 0;
};

struct NvmeHealth {
  unsigned warnings = 0;  // bits
  double celsius = 0;
  unsigned spare = 0, spare_threshold = 0, used = 0;  // per cent
  double read_bytes = 0, written_bytes = 0;
  double power_cycles = 0, power_on_hours = 0, unsafe_shutdowns = 0;
  double media_errors = 0, error_entries = 0;
};

inline constexpr std::size_t kIdentifyBytes = 4096, kHealthBytes = 512;

/// Nothing of anything that is not as long as it must be.
std::optional<NvmeIdentity> parse_identity(std::string_view bytes);
/// Nothing also where all is zero: a drive in use has a temperature.
std::optional<NvmeHealth> parse_health(std::string_view bytes);

/// By admin command (identify; get log page 2), which needs root. `why` where it was refused.
struct NvmeAnswer {
  std::string bytes{};
  std::string why{};
};
NvmeAnswer ask_identity(const std::string& device);
NvmeAnswer ask_health(const std::string& device);

}  // namespace cupel::agent
