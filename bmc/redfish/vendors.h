#pragma once
// How BMCs differ from the standard and from each other: data, one row a vendor. A new difference
// is a new column here and a named test, not an `if` somewhere else.
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace cupel::bmc::redfish {

/// Where a machine's standby power is cut and given back, as if the cord were pulled: an action of
/// the System or of its chassis that takes `word` as ResetType.
struct AcCycle {
  enum class At { system, chassis } at = At::system;
  std::string_view action{};   // its path in the resource; empty: none
  std::string_view word{};     // of ResetType
  bool only_when_off = false;  // refused while the machine is on
};

/// What IndicatorLED says while the machine is to be found, and else. Source: DSP0268,
/// IndicatorLED: Lit, Blinking, Off.
struct LocatorWords {
  std::string_view on = "Lit", off = "Off";
};

/// Where NTP servers are written, where NetworkProtocol does not have them.
struct NtpPlace {
  std::string_view link{};     // in the Manager, to the resource; empty: NetworkProtocol
  std::string_view servers{};  // its list of so many texts, however few are requested
};

/// Where the one syslog server is written, where that is no subscription: an object of
/// NetworkProtocol. A BMC without that object takes a subscription.
struct SyslogPlace {
  std::string_view object{};  // its path; empty: a subscription
  std::string_view host{}, port{};
  std::string_view enabled{}, on{};  // `on`: the word for it; empty: true
  std::string_view protocol{};       // takes "UDP" or "TCP"; empty: UDP alone
};

/// What a new password must be, where the BMC does not say so itself. 0: no rule of this kind.
struct PasswordRules {
  std::size_t shortest = 0, longest = 0;
  int classes = 0;       // of lower case, upper case, digits and others, so many at least
  bool special = false;  // one of the others among them
};

/// A word, or a text, of one component ("bmc", "bios"); an empty component: of every other.
struct OfComponent {
  std::string_view component, text;
};

/// How a BMC takes images, where its UpdateService does not show it.
struct UpdateRules {
  /// The row holds only where the service has this ("Oem/AMIUpdateService"); empty: always.
  std::string_view sign{};
  /// What is named as target where an order names none: a URI, with {system} and {manager} filled
  /// in.
  std::span<const OfComponent> targets{};
  /// The same of SimpleUpdate.
  std::span<const OfComponent> simple_targets{};
  /// The JSON of the form's part OemParameters; none: no such part.
  std::span<const OfComponent> oem_parameters{};
  /// JSON that stands as Oem in UpdateParameters.
  std::span<const OfComponent> oem{};
  /// An upload is only verified; a second act installs it.
  bool verifies_first = false;
  /// HttpPushUri takes a form whose first field, and a cookie, of this name is the session's token.
  std::string_view form_session{};
  /// It refuses all requests, good tokens and passwords too, while its own firmware is written.
  bool locks_while_writing = false;
};

struct Rules {
  std::string_view vendor;  // as Identity tells it

  // What gives it away, each as a part of what is reported, lower case.
  std::string_view system_manufacturer{};  // ComputerSystem.Manufacturer
  std::string_view root_vendor{};          // ServiceRoot.Vendor
  std::string_view oem_key{};              // in Oem of the root, the system or the manager
  std::string_view model{};                // of the system or the manager

  /// SerialNumber names the board; what people call the serial is in SKU (Dell: the service tag).
  bool serial_is_sku = false;
  /// Where a chassis lists its devices outside of the standard ("Oem/Hpe/Links/Devices").
  std::string_view device_list{};
  /// Where a System lists its network cards with their serial numbers and ports outside of the
  /// standard ("Oem/Hpe/Links/NetworkAdapters"): cards of device_list have no MACs there.
  std::string_view card_list{};
  /// BIOS attributes tell the MACs of a slot
  /// ("NvidiaNetworkAdapter_08C0EB53C9F0__Slot3_MACAddress"), also where its adapter tells none.
  bool bios_names_macs = false;
  /// Power supplies of these models are fans that fill an empty bay.
  std::string_view dummy_psu{};
  /// Names of chassis that hold no part and are slow or hang (roots of trust).
  std::span<const std::string_view> idle_chassis{};

  /// Sessions. So many 401 in a row mean a wrong password.
  int wrong_after_refusals = 1;
  std::chrono::seconds pause_after_refusal{0};
  /// Managers that break a connection after its answer where it is kept ("iLO 5"), as the root
  /// names them.
  std::span<const std::string_view> break_kept_connections{};
  /// No boot override stays: it is for the next boot, or not at all.
  bool override_only_once = false;
  /// The boot target that is the virtual disc, where "Cd" is another drive.
  std::string_view virtual_cd{};
  /// How the machine is given a URI for UEFI HTTP, where there is no Boot.HttpBootUri.
  std::string_view http_uri_instead{};
  /// What takes effect at the next boot is written behind the resource's own URI ("/SD"), also
  /// where @Redfish.Settings does not say so.
  std::string_view future_state{};
  AcCycle ac_cycle{};
  LocatorWords locator{};
  /// Slots of virtual media that take an URL have an Id that begins so; the others do not.
  std::string_view media_slot{};
  /// Characters that an image's URL had better not have.
  std::string_view media_url_trouble{};
  /// What to do where there are no slots at all.
  std::string_view no_media_advice{};
  /// The account of the factory's user, where the BMC shows no list before its password is
  /// changed: the last part of its URI, or "{user}".
  std::string_view own_account{};
  PasswordRules password{};
  /// LogServices that are the machine's event log, besides those called SEL and EventLog.
  std::span<const std::string_view> event_logs{};
  /// What opens the serial console after an SSH login, where no resource tells.
  std::string_view console_command{};
  /// ResetType of Bios.ResetBios, where no resource tells that the action wants one.
  std::string_view bios_reset{};
  /// Where the settings resource of the BIOS names the queue of jobs that apply it.
  std::string_view job_queue{};
  NtpPlace ntp{};
  SyslogPlace syslog{};
  /// Its System may lack what it always tells, until the BMC is restarted.
  bool forgets_until_reset = false;
  /// Whole collections may be asked for at once ($expand): members come with what they must have.
  bool expands = false;
  /// The first one whose sign is there; none: as the standard has it.
  std::span<const UpdateRules> updates{};
  /// Ends of URIs of what takes minutes: kSlowPatience for each, and nobody else waits behind them.
  std::span<const std::string_view> slow_resources{};
};

/// What one slow resource is given at least. A DGX H100's firmware inventory takes 2 to 3 minutes.
constexpr std::chrono::seconds kSlowPatience{240};

bool is_slow(const Rules& rules, std::string_view uri);

/// What may tell the vendor: any of these may be null.
struct VendorHints {
  const json::value* root = nullptr;
  const json::value* system = nullptr;
  const json::value* manager = nullptr;
};

/// What is so with some models or firmware alone.
struct ModelQuirks {
  /// ForceRestart may hang the host: power it off and on.
  bool restart_is_off_on = false;
  /// A restart by Redfish cuts the power of DPUs too: one by IPMI does not.
  bool restart_cuts_dpu_power = false;
  /// This firmware has accepted power-on and ignored it: never trust the acceptance.
  bool may_ignore_power_on = false;
  /// UpdateParameters without a target has an empty list of them, which means all (HGX trays).
  bool names_no_targets = false;
  /// The content type of UpdateParameters, where it is not application/json.
  std::string_view update_parameters_type{};
  /// Instead of the vendor's row, where they say anything.
  PasswordRules password{};
  std::string_view own_account{};
};

/// All that is known of this vendor (as Identity tells it), model and version of the BMC's
/// firmware. A composite that also speaks IPMI asks this too.
ModelQuirks handling_for(std::string_view vendor, std::string_view model,
                         std::string_view firmware);

/// The row that fits best; a row without a name where none fits.
const Rules& rules_for(const VendorHints& signs);

/// How this BMC takes images, by its vendor's row and its UpdateService.
const UpdateRules& update_rules_of(const Rules& rules, const json::value& update_service);

/// The text for a component; empty where there is none.
std::string_view text_for(std::span<const OfComponent> rows, std::string_view component);

/// Whether connections to this BMC are to be closed after each answer.
bool breaks_kept_connections(const Rules& rules, const json::value& root);

}  // namespace cupel::bmc::redfish
