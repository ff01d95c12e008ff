// The words for states, resets and boot targets, as people and JSON see them.
#include "base/enum_words.h"
#include "bmc/bmc.h"

namespace cupel::bmc {

std::string_view to_string(Protocol protocol) { return enum_word<'-'>(protocol); }

std::string_view to_string(PowerState state) { return enum_word<' '>(state); }

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

std::string_view to_string(SensorKind kind) { return enum_word<'-'>(kind); }

}  // namespace cupel::bmc
