#pragma once
// What a BMC can be asked: a facet for each part of its work, a verb for each question or act.
// Every verb is one round of the protocol: it says what the BMC said, and retries nothing (the step
// runner does). Not a place for policy or patience.
//
// Where a verb returns a Protocol, that one has accepted it. A verb that a protocol does not have
// ends with kUnsupported; so does one that this BMC does not have. `Twice::forbidden`: an act that
// must not happen twice, and is not asked of another protocol once this one may have accepted it.
#include "bmc/diagnostics.h"
#include "bmc/setting_answers.h"
#include "bmc/update.h"
#include "bmc/verb.h"

namespace cupel::bmc::facet {

struct Power {
  Verb<Sourced<PowerState>()> state{"power state"};
  /// Returns when the BMC has accepted it, not when it is done. Some types must not happen twice.
  Verb<Protocol(ResetType type)> reset{"reset"};
  /// Why the BMC gave up what it accepted last (a reset of the machine or of itself), as its task
  /// reports; empty: it did not, or has no task for it.
  Verb<std::string()> given_up{"the last reset's task"};
  /// The resets of the machine itself. Empty: the BMC does not tell.
  Verb<std::vector<ResetType>()> allowed_resets{"allowed resets"};
  /// Whether there is an AC cycle too. Apart from the others: it may be a chassis' action, and a
  /// chassis that cannot be read must not keep a machine from being turned off.
  Verb<bool()> has_ac_cycle{"AC cycle"};
};

struct Boot {
  /// Returns after reading it back.
  Verb<Protocol(BootOverride requested)> set{"set boot"};
  Verb<Sourced<BootOverride>()> read{"boot override"};
};

/// What the machine is and what it is made of.
struct Facts {
  Verb<bmc::Identity()> identity{"identity"};
  Verb<Observed()> observe{"inventory"};
};

struct Update {
  /// Versions alone. May take minutes.
  Verb<Sourced<std::vector<inventory::Part>>()> versions{"firmware"};
  Verb<UpdateService()> service{"update service"};
  /// Returns when the BMC has taken the whole image. An error after the first byte leaves it open
  /// whether it is at work with it. Errors besides the usual: kBusy (another update is running);
  /// kInvalid (the file is not what the order says: nothing of it was accepted as whole).
  Verb<UpdateTicket(UpdateOrder order)> push{"firmware update", Twice::forbidden};
  /// Installs what was verified, where that is a second act. The update goes on under the new
  /// ticket.
  Verb<UpdateTicket(UpdateTicket verified)> go_on{"start firmware update", Twice::forbidden};
  Verb<UpdateProgress(UpdateTicket ticket)> progress{"firmware update's progress"};
};

struct Sensors {
  Verb<bmc::Sensors()> read{"sensors"};
};

/// The light by which a person finds the machine.
struct Locator {
  /// Returns after reading it back, where the BMC tells.
  Verb<Protocol(bool on)> set{"locator light"};
  Verb<Sourced<bool>()> read{"locator light"};
};

struct Log {
  /// At most `most` entries, the newest; `since` leaves out what is older.
  Verb<EventLog(std::optional<Seconds> since, std::size_t most)> read{"event log"};
  Verb<Protocol()> clear{"clear event log"};
  /// What the BMC says by itself from now on.
  Verb<std::unique_ptr<Events>()> subscribe{"events"};
};

/// Data that a BMC collects for its vendor.
struct Diagnostics {
  /// Errors besides the usual: kUnsupported: no log service collects any.
  Verb<DiagnosticOffers()> offered{"diagnostic data"};
  /// Collects, follows the BMC's task to its end and returns the files that it has left. May take
  /// many minutes. Errors besides the usual: kFailed: the task's own messages; kTimeout: it still
  /// runs, and goes on; kNotFound: it is done, and left no file.
  Verb<std::vector<DiagnosticData>(DiagnosticOrder order)> collect{"collect diagnostic data",
                                                                   Twice::forbidden};
  /// At most `most` bytes of a file, from this BMC alone; returns how many came. Errors besides the
  /// usual: kInvalid: its URI leads elsewhere; kMalformed: larger than `most`, cut short, or empty.
  Verb<std::uint64_t(DiagnosticData file, DiagnosticSink sink, std::uint64_t most)> download{
      "download diagnostic data", Twice::forbidden};
};

/// Virtual media.
struct Media {
  Verb<std::vector<MediaSlot>()> slots{"virtual media"};
  /// Into the first slot that takes discs. Returns after reading it back.
  Verb<Protocol(std::string url)> insert{"insert media"};
  /// Out of every slot that holds something. Idempotent.
  Verb<Protocol()> eject{"eject media"};
};

struct Accounts {
  Verb<Sourced<std::vector<Account>>()> read{"accounts"};
  /// Errors besides the usual: kNotFound (no such user); kInvalid (the BMC's password policy).
  /// Our own password too: whoever supplies ours must supply the new one from then on.
  Verb<Protocol(std::string user, std::string password)> change_password{"change password",
                                                                         Twice::forbidden};
};

/// The BMC itself.
struct ManagementController {
  Verb<Sourced<std::vector<NetworkService>>()> services{"network services"};
  Verb<Protocol(std::string name, bool enabled)> enable_service{"enable service"};
  /// Restarts the BMC; the machine stays as it is. Returns when it was accepted.
  Verb<Protocol()> reset{"reset BMC", Twice::forbidden};
  Verb<BmcClock()> clock{"clock"};
  Verb<Protocol(Seconds time)> set_clock{"set clock"};
};

/// BIOS settings.
struct Bios {
  Verb<BiosSettings()> read{"BIOS settings"};
  /// Takes effect at the next boot. Returns after reading them back as pending.
  /// Errors: kInvalid names every attribute that there is not, or that may not have that value:
  /// nothing was sent then. Also what the BMC itself refused by name: then the others are staged.
  /// Returns the attributes that this BMC takes only once the others are current: after the next
  /// boot they can be staged.
  Verb<std::vector<std::string>(BiosValues requested)> stage{"stage BIOS settings"};
  /// All of them to the maker's defaults, at the next boot. Harmless when repeated.
  Verb<Protocol()> reset{"reset BIOS settings"};
};

/// Settings that a site wants the same on every machine. Setting one returns after reading it back.
struct Settings {
  /// What each BIOS attribute may be, and how they depend on each other. Empty: the BMC has no
  /// registry that can be read.
  Verb<BiosRegistry()> bios_registry{"BIOS attribute registry"};
  Verb<BootOrder()> boot_order{"boot order"};
  /// Takes effect at the next boot. Errors besides the usual: kInvalid (no such option).
  Verb<void(std::vector<std::string> references)> set_boot_order{"set boot order"};
  Verb<SecureBootState()> secure_boot{"secure boot"};
  /// Takes effect at the next boot.
  Verb<void(bool on)> set_secure_boot{"set secure boot"};
  Verb<NtpSettings()> ntp{"NTP servers"};
  /// These and no others; the service is turned on with them.
  Verb<void(std::vector<std::string> servers)> set_ntp{"set NTP servers"};
  Verb<std::vector<EventTarget>()> event_targets{"event destinations"};
  /// Idempotent: one that there is already is left alone. Others stay.
  Verb<void(EventTarget target)> add_event_target{"add event destination"};
  Verb<std::chrono::seconds()> session_timeout{"session timeout"};
  Verb<void(std::chrono::seconds timeout)> set_session_timeout{"set session timeout"};
};

/// The serial console.
struct Console {
  Verb<std::vector<ConsoleWay>()> ways{"console"};
  Verb<std::unique_ptr<bmc::Console>()> open{"console"};
};

}  // namespace cupel::bmc::facet
