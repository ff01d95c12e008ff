#include "bmc/bmc.h"

namespace cupel::bmc {
namespace {

Error missing(std::string_view verb) {
  return Error{Code::kUnsupported, std::string{verb} + ": not by this protocol"};
}

}  // namespace

// What a protocol does not have, it does not override.

Task<Result<Protocol>> Bmc::set_boot(BootOverride, Deadline) { co_return missing("set boot"); }
Task<Result<Sourced<BootOverride>>> Bmc::boot_override(Deadline) {
  co_return missing("boot override");
}
Task<Result<Sourced<std::vector<inventory::Part>>>> Bmc::firmware(Deadline) {
  co_return missing("firmware");
}
Task<Result<Sensors>> Bmc::sensors(Deadline) { co_return missing("sensors"); }
Task<Result<Protocol>> Bmc::locate(bool, Deadline) { co_return missing("locator light"); }
Task<Result<Sourced<bool>>> Bmc::located(Deadline) { co_return missing("locator light"); }
Task<Result<EventLog>> Bmc::event_log(std::optional<Seconds>, std::size_t, Deadline) {
  co_return missing("event log");
}
Task<Result<Protocol>> Bmc::clear_event_log(Deadline) { co_return missing("clear event log"); }
Task<Result<std::vector<MediaSlot>>> Bmc::media(Deadline) { co_return missing("virtual media"); }
Task<Result<Protocol>> Bmc::insert_media(std::string, Deadline) {
  co_return missing("insert media");
}
Task<Result<Protocol>> Bmc::eject_media(Deadline) { co_return missing("eject media"); }
Task<Result<Sourced<std::vector<Account>>>> Bmc::accounts(Deadline) {
  co_return missing("accounts");
}
Task<Result<Protocol>> Bmc::change_password(std::string, std::string, Deadline) {
  co_return missing("change password");
}
Task<Result<Sourced<std::vector<NetworkService>>>> Bmc::network_services(Deadline) {
  co_return missing("network services");
}
Task<Result<Protocol>> Bmc::enable_service(std::string, bool, Deadline) {
  co_return missing("enable service");
}
Task<Result<Protocol>> Bmc::reset_bmc(Deadline) { co_return missing("reset BMC"); }
Task<Result<BmcClock>> Bmc::clock(Deadline) { co_return missing("clock"); }
Task<Result<Protocol>> Bmc::set_clock(Seconds, Deadline) { co_return missing("set clock"); }
Task<Result<BiosSettings>> Bmc::bios(Deadline) { co_return missing("BIOS settings"); }
Task<Result<void>> Bmc::stage_bios(BiosValues, Deadline) { co_return missing("BIOS settings"); }
Task<Result<std::vector<ConsoleWay>>> Bmc::console_ways(Deadline) { co_return missing("console"); }
Task<Result<std::unique_ptr<Console>>> Bmc::console(Deadline) { co_return missing("console"); }
Task<Result<std::unique_ptr<Events>>> Bmc::events(Deadline) { co_return missing("events"); }

}  // namespace cupel::bmc
