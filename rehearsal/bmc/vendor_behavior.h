#pragma once
// How the BMCs of different vendors differ, as a virtual BMC plays them: one row each. Data only:
// what a column means is done where that resource is served. Ids, words and locations follow
// captured machines; behaviour follows what users of these machines reported.
#include <array>
#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "rehearsal/clock.h"

namespace cupel::rehearsal {

using Words = std::span<const std::string_view>;

/// Which of its two generations of sensor resources a BMC has. Source: DSP0268, Thermal and Power
/// are deprecated in favour of ThermalSubsystem, PowerSubsystem and Sensors.
enum class SensorStyle { legacy, modern, both };

/// Who the machine and its BMC say they are. Empty: what the machine's profile says, or absent.
struct Names {
  std::string_view root_vendor{}, product{}, oem{};
  std::string_view oem_root{};  // type of the vendor's own part of the root; Supermicro's has none
  std::string_view manufacturer{}, model{}, sku{};
  std::string_view bmc_model{}, bmc_version{};
  std::string_view server{};  // the Server header
  std::string_view redfish = "1.11.0";
  bool serial_is_sku = false;       // the service tag
  bool system_is_nameless = false;  // its maker, model and serial number stand elsewhere
};

/// Where things are.
struct Layout {
  std::string_view system{}, manager{}, chassis{};
  std::string_view system_of_gpus{};  // a second System; empty: GPUs are Processors of the first
  std::string_view boot_settings{};   // "SD": below the System; empty: none
  bool form_beside_system = false;    // a System called Capabilities, which is a form to fill in
  bool boot_is_in_settings = false;   // else the settings resource holds the order alone
  std::string_view bios = "Bios", bios_settings = "Settings";
  bool trailing_slash = false;  // of what is under `bios`
  bool bios_registry = true;
  bool log_of_manager = true;
  std::string_view log{};
  std::string_view host_log{};      // a log of the host beside it, which stays empty; empty: none
  bool host_lists_devices = false;  // PCIeDevices and SimpleStorage of the System
  bool newest_first = false;        // of its entries
  std::string_view sse{};           // path of the event stream; empty: none
  SensorStyle sensors = SensorStyle::both;
  bool liquid = false;  // there are leak detectors
  std::size_t page = 1000;
  int first = 1;  // number in these ids
  std::string_view psu = "PSU{}", fan = "Fan{}", cpu = "CPU{}", dimm = "DIMM{}", nic = "NIC{}";
};

enum class TagForm { none, weak, strong, bare };

/// What a PATCH must say about the state that it changes.
enum class TagRule {
  ignored,
  compared,  // 412 for another than the current one
  required,  // 428 without
  silent,    // without: 200, and nothing changes
};

struct Tags {
  TagForm form = TagForm::strong;
  bool in_body = true;  // as @odata.etag too
  TagRule rule = TagRule::compared;
  bool weak_refused = false;     // 412 for a tag that is sent back as it came
  bool refused_on_post = false;  // 412 for any If-Match on an action
  int refuses_every = 0;         // 412 for every so-manieth good one
};

enum class ErrorStyle { base, dell, ids_only };

/// What a PATCH that worked is answered with.
enum class PatchReply { nothing, resource, messages, success_in_error };

enum class SameState { accepted, conflict };  // a reset into the state that the machine is in
enum class Restart { works, hangs };          // ForceRestart

struct AcCycle {
  std::string_view action{};  // path below /redfish/v1; empty: there is none
  std::string_view key{};     // in Actions/Oem of that resource
  std::string_view word{};
};

struct PowerBehavior {
  Words resets{};
  bool inline_words = true, action_info = false;
  SameState same_state = SameState::accepted;
  Restart force_restart = Restart::works;
  VirtualTime lag{0};  // of PowerState behind the machine, where the rack's is less
  AcCycle ac{};
  std::string_view bmc_reset = "ForceRestart";
};

struct BootBehavior {
  Words enabled{}, targets{};
  bool mode = true;               // BootSourceOverrideMode is there
  bool forgets_the_rest = false;  // what a PATCH leaves out goes back to its default
  bool not_during_post = false;
  bool http_uri = false;          // HttpBootUri is there
  bool only_in_settings = false;  // a PATCH of the System itself is refused
};

struct MediaSlotRow {
  std::string_view id;
  Words types;
};

struct MediaBehavior {
  bool of_manager = true;
  std::span<const MediaSlotRow> slots{};
  bool by_patch = false;        // no actions: Image and Inserted are written
  bool refuses_flags = false;   // Inserted, WriteProtected
  bool wants_protocol = false;  // TransferProtocolType
  bool wants_object = false;    // EjectMedia without {} is malformed
  bool eject_only_if_inserted = false;
  VirtualTime stale{0};      // Inserted stays true for so long after an eject
  std::string_view empty{};  // Image of an empty slot; "": null, "-": absent
};

struct AccountBehavior {
  int slots = 0;       // fixed ones, always shown; 0: as many as there are
  int first_slot = 1;  // that is not reserved
  int admin_slot = 1;
  bool id_is_name = false;
  std::size_t shortest = 8, longest = 20;
  int classes = 1;  // of lower case, upper case, digits and signs, that must be there
  int lockout = 0;  // wrong passwords; 0: never
};

struct BiosBehavior {
  bool by_job = false;         // Dell: what is pending waits for a job
  bool shows_pending = false;  // as if it were current
  bool needs_licence = false;
  std::string_view reset_word{};  // ResetType that Bios.ResetBios wants; empty: none
  bool tells_reset_word = false;  // in an ActionInfo
  bool names_defaults = true;     // in the registry
};

struct ConnectionBehavior {
  std::size_t sessions = 8;
  int resets_every = 0;          // so-manieth request over a kept connection: RST
  bool says_close = false;       // "Connection: close"
  int forgets_every = 0;         // so-manieth good request: 401
  VirtualTime after_restart{0};  // 503 for so long after the BMC's own restart
  bool html_when_busy = false;
  bool expand = true;
  bool expand_drops = false;  // expanded members lack their Status
  int expand_levels = 2;
};

/// A log service that collects dumps, below a Manager or a System.
struct DumpRow {
  std::string_view owner;  // path below /redfish/v1
  std::string_view type;   // DiagnosticDataType, the only one that it takes
  Words oem_types{};       // OEMDiagnosticDataType, where that is OEM
  VirtualTime takes{0};
};

/// The light by which a machine is found. Neither of the two: there is none.
struct LocatorBehavior {
  bool active = false;  // LocationIndicatorActive
  bool led = true;      // IndicatorLED
  std::string_view on = "Lit", off = "Off";
  Words words{};             // that it takes; empty: those of the standard
  bool tells_words = false;  // in @Redfish.AllowableValues
};

struct VendorBehavior {
  std::string_view vendor;
  Names names{};
  Layout layout{};
  Tags tags{};
  ErrorStyle errors = ErrorStyle::base;
  PatchReply thanks = PatchReply::nothing;
  PowerBehavior power{};
  BootBehavior boot{};
  MediaBehavior media{};
  AccountBehavior accounts{};
  BiosBehavior bios{};
  LocatorBehavior locator{};
  std::span<const DumpRow> dumps{};  // of the baseboard with the GPUs
  ConnectionBehavior connection{};
  int offset_minutes = 0;         // of its clock's time zone
  bool writes_z = false;          // "Z" rather than "+00:00"
  bool ntp_guards_clock = false;  // while NTP is on, DateTime is refused; else it does not last
};

std::span<const VendorBehavior> all_vendor_behaviors();
/// nullptr if there is no such vendor.
const VendorBehavior* vendor_behavior_of(std::string_view vendor);
/// The row of a DGX H100, which is what a rack gets that does not say.
const VendorBehavior& default_behavior();

}  // namespace cupel::rehearsal
