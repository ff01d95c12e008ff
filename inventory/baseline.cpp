#include "inventory/baseline.h"

namespace cupel::inventory {

std::string_view to_string(UpdateWay way) {
  switch (way) {
    case UpdateWay::bmc:
      return "bmc";
    case UpdateWay::mstflint:
      return "mstflint";
    case UpdateWay::nvme:
      return "nvme";
    case UpdateWay::site_tool:
      return "site-tool";
  }
  __builtin_unreachable();
}

std::string_view to_string(FirmwareReset reset) {
  switch (reset) {
    case FirmwareReset::bmc_restart:
      return "bmc-restart";
    case FirmwareReset::host_restart:
      return "host-restart";
    case FirmwareReset::host_off:
      return "host-off";
    case FirmwareReset::ac_cycle:
      return "ac-cycle";
    case FirmwareReset::power_drain:
      return "power-drain";
    case FirmwareReset::device_reset:
      return "device-reset";
  }
  __builtin_unreachable();
}

std::string_view to_string(FirmwareRecovery recovery) {
  switch (recovery) {
    case FirmwareRecovery::bmc_restart:
      return "bmc-restart";
    case FirmwareRecovery::ac_cycle:
      return "ac-cycle";
    case FirmwareRecovery::previous_image:
      return "previous-image";
  }
  __builtin_unreachable();
}

}  // namespace cupel::inventory
