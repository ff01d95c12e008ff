#pragma once
// A machine's firmware as a profile wants it: which version of what, from which image, written how,
// and what must happen around it. Data only.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/problem.h"

namespace cupel::inventory {

/// What writes the component.
enum class UpdateWay {
  bmc,        // Redfish UpdateService
  mstflint,   // on the node: ConnectX and BlueField
  nvme,       // on the node: nvme fw-download, fw-commit
  site_tool,  // on the node: a program of the vendor's that the site provides
};

/// What a version needs before it runs, or before it may be written.
enum class FirmwareReset {
  bmc_restart,
  host_restart,  // the machine, by its BMC
  host_off,      // off, and on again behind it
  ac_cycle,      // the standby power too
  power_drain,   // off, a minute, AC cycle, on: so often until capacitors are empty (NVIDIA)
  device_reset,  // of the part alone, on the node: mstfwreset, nvme reset
};

/// What may be tried where an update has gone wrong.
enum class FirmwareRecovery {
  bmc_restart,
  ac_cycle,
  previous_image,  // written back, once, from the image that the manifest lists of that version
};

struct FirmwareImage {
  std::string file{};       // absolute once a profile is loaded
  std::string sha256{};     // 64 hexadecimal digits
  std::string signature{};  // file of the vendor's; empty: none
  Place where{};

  bool is_named() const { return !file.empty(); }
};

/// A program of the site's that writes a component on the node. Its arguments may hold {image} (the
/// image's path there), {part} ("gpu3") and {pci} ("0000:1b:00.0").
struct SiteTool {
  std::string program{};  // absolute, on the node
  std::vector<std::string> arguments{};
};

/// A version that must run before a later one may be written.
struct SteppingStone {
  std::string below{};  // versions before this one need it
  std::string version{};
  FirmwareImage image{};
  Place where{};
};

/// A component whose version is part of the baseline.
struct ExpectedFirmware {
  std::string component{};  // "bmc", "bios", "gpu", "driver"
  /// What is written, and what must run; empty where `at_least` or `below` alone judge.
  std::string version{};
  std::string at_least{}, below{};  // a range, by compare_versions(); `below` is not in it
  /// Patterns ("HGX_FW_GPU_SXM_*") of Ids or Names in the BMC's FirmwareInventory; empty: the
  /// component's own name. One component may be many there: all of them must run the version.
  std::vector<std::string> ids{};
  std::vector<std::string> models{};  // of machines that the image is for; empty: any
  std::optional<FirmwareImage> image{};
  UpdateWay way = UpdateWay::bmc;
  std::optional<SiteTool> tool{};  // of way site_tool
  /// URIs that the BMC is asked to write. Empty: those of the Ids that are off the baseline where
  /// `one_by_one`, else none, and the BMC finds out from the image.
  std::vector<std::string> targets{};
  bool one_by_one = false;
  bool force = false;                // the vendor's ForceUpdate
  std::vector<std::string> after{};  // components that must be at their version before
  std::vector<FirmwareReset> before{}, follow{};
  std::chrono::seconds takes{600};  // the write, without what follows
  std::chrono::seconds settles{
      1800};               // until the inventory shows the version, after the last reset
  bool downgrade = false;  // a newer version may be replaced by this one
  std::vector<SteppingStone> stepping_stones{};
  std::vector<FirmwareRecovery> recovery{};
  Place where{};

  bool is_written_on_node() const { return way != UpdateWay::bmc; }
};

/// As profiles, plans and reports write them: "site-tool", "ac-cycle".
std::string_view to_string(UpdateWay way);
std::string_view to_string(FirmwareReset reset);
std::string_view to_string(FirmwareRecovery recovery);

}  // namespace cupel::inventory
