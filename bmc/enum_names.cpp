// The words for states, resets and boot targets, as people and JSON see them.
#include "bmc/bmc.h"

namespace cupel::bmc {

std::string_view to_string(Protocol protocol) {
  return protocol == Protocol::redfish ? "redfish" : "ipmi";
}

std::string_view to_string(PowerState state) {
  switch (state) {
    case PowerState::off:
      return "off";
    case PowerState::powering_on:
      return "powering on";
    case PowerState::on:
      return "on";
    case PowerState::powering_off:
      return "powering off";
    case PowerState::unknown:
      return "unknown";
  }
  __builtin_unreachable();
}

std::string_view to_string(ResetType type) {
  switch (type) {
    case ResetType::on:
      return "On";
    case ResetType::force_off:
      return "ForceOff";
    case ResetType::graceful_shutdown:
      return "GracefulShutdown";
    case ResetType::force_restart:
      return "ForceRestart";
    case ResetType::graceful_restart:
      return "GracefulRestart";
    case ResetType::power_cycle:
      return "PowerCycle";
    case ResetType::ac_cycle:
      return "FullPowerCycle";
  }
  __builtin_unreachable();
}

std::string_view to_string(BootTarget target) {
  switch (target) {
    case BootTarget::none:
      return "none";
    case BootTarget::pxe:
      return "pxe";
    case BootTarget::uefi_http:
      return "http";
    case BootTarget::disk:
      return "disk";
    case BootTarget::virtual_cd:
      return "cd";
    case BootTarget::bios_setup:
      return "bios";
  }
  __builtin_unreachable();
}

std::string_view to_string(SensorKind kind) {
  switch (kind) {
    case SensorKind::power:
      return "power";
    case SensorKind::energy:
      return "energy";
    case SensorKind::temperature:
      return "temperature";
    case SensorKind::fan:
      return "fan";
    case SensorKind::voltage:
      return "voltage";
    case SensorKind::current:
      return "current";
    case SensorKind::humidity:
      return "humidity";
    case SensorKind::flow:
      return "flow";
    case SensorKind::pressure:
      return "pressure";
    case SensorKind::leak:
      return "leak";
    case SensorKind::redundancy:
      return "redundancy";
    case SensorKind::other:
      return "other";
  }
  __builtin_unreachable();
}

}  // namespace cupel::bmc
