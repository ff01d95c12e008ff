#pragma once
// What a controller asks of one BMC. Every verb is one round of the protocol: it says what the BMC
// said, and retries nothing (the step runner does). Not a place for policy or patience.
#include <string>
#include <vector>

#include "base/task.h"
#include "inventory/parts.h"

namespace cupel::bmc {

/// `unknown` covers what a BMC does not tell or tells in a word nobody defined: never taken for
/// off.
enum class PowerState { off, powering_on, on, powering_off, unknown };
enum class ResetType {
  on,
  force_off,
  graceful_shutdown,
  force_restart,
  graceful_restart,
  power_cycle
};
enum class BootTarget { none, pxe, uefi_http, disk, virtual_cd, bios_setup };

std::string_view to_string(PowerState state);
std::string_view to_string(ResetType type);
std::string_view to_string(BootTarget target);

struct Identity {
  std::string vendor;  // as detected: "NVIDIA", "Dell", ...; empty: unknown
  std::string model;
  std::string serial;  // of the system (Dell: the service tag)
  std::string part_number;
  std::string uuid;
  std::string bios_version;
  std::string bmc_version;
  friend bool operator==(const Identity&, const Identity&) = default;
};

/// Everything that the BMC tells of the machine.
struct Observed {
  Identity identity;
  PowerState power = PowerState::unknown;
  std::vector<inventory::Part> parts;
  std::vector<inventory::Unknown> unknown;
  int requests = 0;  // that it took to find out
};

/// What a boot override is set to.
struct BootOverride {
  BootTarget target = BootTarget::none;
  bool once = false;
  friend bool operator==(const BootOverride&, const BootOverride&) = default;
};

class Bmc {
 public:
  virtual ~Bmc() = default;

  virtual Task<Result<PowerState>> power_state(Deadline deadline) = 0;
  /// Returns when the BMC has accepted it, not when it is done.
  virtual Task<Result<void>> reset(ResetType type, Deadline deadline) = 0;
  virtual Task<Result<std::vector<ResetType>>> allowed_resets(Deadline deadline) = 0;
  /// For the next boot only, in UEFI mode. Returns after reading it back.
  virtual Task<Result<void>> set_boot_once(BootTarget target, Deadline deadline) = 0;
  virtual Task<Result<BootOverride>> boot_override(Deadline deadline) = 0;
  virtual Task<Result<Identity>> identity(Deadline deadline) = 0;
  virtual Task<Result<Observed>> observe(Deadline deadline) = 0;
  /// Ends the session, if there is one. Call it on every path; idempotent; works when cancelled.
  virtual Task<void> log_out() = 0;
};

}  // namespace cupel::bmc
