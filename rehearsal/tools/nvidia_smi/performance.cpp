// Whether a GPU runs as fast as it could, and what holds it back.
#include <fmt/format.h>

#include <array>

#include "rehearsal/tools/gpu_view.h"
#include "rehearsal/tools/nvidia_smi/rows.h"

namespace cupel::rehearsal {
namespace {

struct Reason {
  std::string_view label, tag, field;
  std::uint64_t bit;  // nvml.h, nvmlClocksEventReasons
  int deeper;         // in the text
};
constexpr std::array kReasons{
    Reason{"Idle", "gpu_idle", "gpu_idle", 0x1, 0},
    Reason{"Applications Clocks Setting", "applications_clocks_setting",
           "applications_clocks_setting", 0x2, 0},
    Reason{"SW Power Cap", "sw_power_cap", "sw_power_cap", 0x4, 0},
    Reason{"HW Slowdown", "hw_slowdown", "hw_slowdown", 0x8, 0},
    Reason{"HW Thermal Slowdown", "hw_thermal_slowdown", "hw_thermal_slowdown", 0x40, 1},
    Reason{"HW Power Brake Slowdown", "hw_power_brake_slowdown", "hw_power_brake_slowdown", 0x80,
           1},
    Reason{"Sync Boost", "sync_boost", "sync_boost", 0x10, 0},
    Reason{"SW Thermal Slowdown", "sw_thermal_slowdown", "sw_thermal_slowdown", 0x20, 0},
    Reason{"Display Clock Setting", "display_clocks_setting", "", 0x100, 0},
};

void add_performance(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  rows.leaf("Fan Speed", "fan_speed", "fan.speed [%]", "N/A");
  rows.section(Section::performance);
  rows.leaf("Performance State", "performance_state", "pstate", "P0");
  rows.leaf("", "", "clocks_event_reasons.supported", "0x00000000000001FF");
  rows.leaf("", "", "clocks_event_reasons.active", fmt::format("0x{:016X}", gpu.throttle));
  rows.open("Clocks Event Reasons", "clocks_event_reasons");
  for (const auto& reason : kReasons) {
    auto& row =
        rows.leaf(std::string{reason.label}, "clocks_event_reason_" + std::string{reason.tag},
                  reason.field.empty() ? "" : "clocks_event_reasons." + std::string{reason.field},
                  (gpu.throttle & reason.bit) != 0 ? "Active" : "Not Active");
    row.deeper = reason.deeper;
  }
  rows.close();
  const std::string fields = "clocks_event_reasons_counters.";
  const std::string tags = "clocks_event_reasons_counters_";
  rows.open("Clocks Event Reasons Counters", "clocks_event_reasons_counters");
  rows.leaf("SW Power Capping", tags + "sw_power_cap", fields + "sw_power_cap [us]", "0 us");
  rows.leaf("Sync Boost", tags + "sync_boost", fields + "sync_boost [us]", "0 us");
  rows.leaf("SW Thermal Slowdown", tags + "sw_therm_slowdown", fields + "sw_thermal_slowdown [us]",
            "0 us");
  rows.leaf("HW Thermal Slowdown", tags + "hw_therm_slowdown", fields + "hw_thermal_slowdown [us]",
            "0 us");
  rows.leaf("HW Power Braking", tags + "hw_power_brake", fields + "hw_power_brake_slowdown [us]",
            "0 us");
  rows.close();
  rows.leaf("Sparse Operation Mode", "sparse_operation_mode", "", "Disabled");
  rows.section(Section::none);
}

}  // namespace

std::span<const AddRows> performance_parts() {
  static constexpr std::array<AddRows, 1> kParts{add_performance};
  return kParts;
}

}  // namespace cupel::rehearsal
