#include "bmc/redfish/redfish.h"

#include "base/text.h"
#include "bmc/redfish/ac_cycle.h"
#include "bmc/redfish/accounts.h"
#include "bmc/redfish/bios.h"
#include "bmc/redfish/boot.h"
#include "bmc/redfish/console_ways.h"
#include "bmc/redfish/event_log.h"
#include "bmc/redfish/events.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/locate.h"
#include "bmc/redfish/log_clear.h"
#include "bmc/redfish/manager.h"
#include "bmc/redfish/media.h"
#include "bmc/redfish/network.h"
#include "bmc/redfish/refusals.h"
#include "bmc/redfish/reset.h"
#include "bmc/redfish/sensors.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

/// How often a BMC that tells nothing by itself is looked at.
constexpr std::chrono::seconds kLookAgain{15};

class RedfishBmc final : public Bmc {
 public:
  RedfishBmc(Transport& transport, Peer peer, std::string user, SecretSource password,
             Expected expected, ReadCache* cache)
      : node_{peer.node},
        has_ipmi_{expected.has_ipmi},
        whereabouts_{transport, std::move(peer), user, password, std::move(expected)},
        client_{transport, whereabouts_.peer(), user, password},
        cache_{cache} {
    client_.at(whereabouts_.moments(client_));
  }

  Task<Result<Sourced<PowerState>>> power_state(Deadline deadline) override {
    auto system = co_await the_system(deadline);
    if (!system) co_return named("power state", std::move(system).error());
    co_return Sourced<PowerState>{power_of(system->body)};
  }

  Task<Result<Protocol>> reset(ResetType type, Deadline deadline) override {
    const std::string attempt = "reset " + std::string{to_string(type)};
    auto place = co_await the_place(deadline);
    if (!place) co_return named(attempt, std::move(place).error());
    auto& [layout, system] = *place;
    auto done = type == ResetType::ac_cycle
                    ? ac_cycle(client_, layout, std::move(system), deadline)
                    : reset_system(client_, layout, std::move(system), type, has_ipmi_, deadline);
    co_return accepted(attempt, co_await std::move(done));
  }

  Task<Result<std::vector<ResetType>>> allowed_resets(Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("allowed resets", std::move(place).error());
    auto& [layout, system] = *place;
    auto words = co_await allowed_words(client_, system.body, deadline);
    if (!words) co_return named("allowed resets", std::move(words).error());
    auto known = known_resets(*words, layout.handling);
    if (known.empty()) co_return known;  // not told: everything may be tried
    if (!has_ac_cycle_) {
      auto way = co_await find_ac_cycle(client_, layout, std::move(system), deadline);
      if (!way) co_return named("allowed resets", std::move(way).error());
      has_ac_cycle_ = way->has_value();
    }
    if (*has_ac_cycle_) known.push_back(ResetType::ac_cycle);
    co_return known;
  }

  Task<Result<Protocol>> set_boot(BootOverride wanted, Deadline deadline) override {
    const std::string attempt =
        "boot " + std::string{to_string(wanted.target)} + (wanted.once ? " once" : "");
    auto place = co_await the_place(deadline);
    if (!place) co_return named(attempt, std::move(place).error());
    auto& [layout, system] = *place;
    co_return accepted(attempt, co_await redfish::set_boot(client_, layout, std::move(system),
                                                           std::move(wanted), deadline));
  }

  Task<Result<Sourced<BootOverride>>> boot_override(Deadline deadline) override {
    auto system = co_await the_system(deadline);
    if (!system) co_return named("boot override", std::move(system).error());
    auto seen = co_await read_boot(client_, *std::move(system), deadline);
    if (!seen) co_return named("boot override", std::move(seen).error());
    co_return Sourced<BootOverride>{*std::move(seen)};
  }

  Task<Result<Protocol>> locate(bool on, Deadline deadline) override {
    const std::string attempt = std::string{"locator light "} + (on ? "on" : "off");
    auto place = co_await the_place(deadline);
    if (!place) co_return named(attempt, std::move(place).error());
    auto& [layout, system] = *place;
    co_return accepted(attempt,
                       co_await set_locator(client_, layout, std::move(system), on, deadline));
  }

  Task<Result<Sourced<bool>>> located(Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("locator light", std::move(place).error());
    auto& [layout, system] = *place;
    const auto on = co_await read_locator(client_, layout, std::move(system), deadline);
    if (!on) co_return named("locator light", on.error());
    co_return Sourced<bool>{*on};
  }

  Task<Result<Protocol>> clear_event_log(Deadline deadline) override {
    constexpr auto kAttempt = "clear the event log";
    auto place = co_await the_place(deadline);
    if (!place) co_return named(kAttempt, std::move(place).error());
    co_return accepted(kAttempt,
                       co_await redfish::clear_event_log(client_, place->layout, deadline));
  }

  Task<Result<std::vector<MediaSlot>>> media(Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("virtual media", std::move(place).error());
    auto& [layout, system] = *place;
    auto slots = co_await read_media(client_, layout, std::move(system), deadline);
    if (!slots) co_return named("virtual media", std::move(slots).error());
    co_return slots;
  }

  Task<Result<Protocol>> insert_media(std::string url, Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("insert media", std::move(place).error());
    auto& [layout, system] = *place;
    co_return accepted("insert media",
                       co_await redfish::insert_media(client_, layout, std::move(system),
                                                      std::move(url), deadline));
  }

  Task<Result<Protocol>> eject_media(Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("eject media", std::move(place).error());
    auto& [layout, system] = *place;
    co_return accepted("eject media",
                       co_await redfish::eject_media(client_, layout, std::move(system), deadline));
  }

  Task<Result<Sourced<std::vector<Account>>>> accounts(Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("accounts", std::move(place).error());
    auto all = co_await read_accounts(client_, place->layout, deadline);
    if (!all) co_return named("accounts", std::move(all).error());
    co_return Sourced<std::vector<Account>>{*std::move(all)};
  }

  Task<Result<Protocol>> change_password(std::string user, std::string password,
                                         Deadline deadline) override {
    const std::string attempt = "change the password of " + printable(user);
    // A BMC that still has its factory password may show nothing else: then nothing is known.
    auto place = co_await the_place(deadline);
    const bool locked = !place && says(place.error(), "PasswordChangeRequired");
    if (!place && !locked) co_return named(attempt, std::move(place).error());
    if (locked) {
      auto done = co_await change_first_password(client_, std::move(place).error(), std::move(user),
                                                 std::move(password), deadline);
      co_return accepted(attempt, std::move(done));
    }
    auto done = co_await redfish::change_password(client_, place->layout, std::move(user),
                                                  std::move(password), deadline);
    co_return accepted(attempt, std::move(done));
  }

  Task<Result<Sourced<std::vector<NetworkService>>>> network_services(Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("network services", std::move(place).error());
    auto all = co_await read_services(client_, place->layout, deadline);
    if (!all) co_return named("network services", std::move(all).error());
    co_return Sourced<std::vector<NetworkService>>{*std::move(all)};
  }

  Task<Result<Protocol>> enable_service(std::string name, bool enabled,
                                        Deadline deadline) override {
    const std::string attempt = (enabled ? "enable " : "disable ") + printable(name);
    auto place = co_await the_place(deadline);
    if (!place) co_return named(attempt, std::move(place).error());
    co_return accepted(attempt, co_await redfish::enable_service(
                                    client_, place->layout, std::move(name), enabled, deadline));
  }

  Task<Result<Protocol>> reset_bmc(Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("reset the BMC", std::move(place).error());
    co_return accepted("reset the BMC", co_await reset_manager(client_, place->layout, deadline));
  }

  Task<Result<BmcClock>> clock(Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("clock", std::move(place).error());
    auto clock = co_await read_clock(client_, place->layout, deadline);
    if (!clock) co_return named("clock", std::move(clock).error());
    co_return clock;
  }

  Task<Result<Protocol>> set_clock(Seconds time, Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("set the clock", std::move(place).error());
    co_return accepted("set the clock",
                       co_await redfish::set_clock(client_, place->layout, time, deadline));
  }

  Task<Result<BiosSettings>> bios(Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("BIOS settings", std::move(place).error());
    auto& [layout, system] = *place;
    auto settings = co_await read_bios(client_, layout, std::move(system), deadline);
    if (!settings) co_return named("BIOS settings", std::move(settings).error());
    co_return settings;
  }

  Task<Result<void>> stage_bios(BiosValues wanted, Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("stage BIOS settings", std::move(place).error());
    auto& [layout, system] = *place;
    auto done = co_await redfish::stage_bios(client_, layout, std::move(system), std::move(wanted),
                                             deadline);
    if (!done) co_return named("stage BIOS settings", std::move(done).error());
    co_return ok();
  }

  Task<Result<std::vector<ConsoleWay>>> console_ways(Deadline deadline) override {
    auto place = co_await the_place(deadline);
    if (!place) co_return named("console", std::move(place).error());
    auto& [layout, system] = *place;
    auto ways = co_await read_console_ways(client_, layout, std::move(system), deadline);
    if (!ways) co_return named("console", std::move(ways).error());
    co_return ways;
  }

  Task<Result<Identity>> identity(Deadline deadline) override {
    Observed seen;
    Survey survey{client_, deadline, seen};
    auto machine = co_await find_machine(survey);
    if (!machine) co_return named("identity", std::move(machine).error());
    layout_ = layout_of(*machine);
    const Identity identity = co_await identify(survey, *machine);
    if (survey.stopped()) co_return named("identity", *survey.stopped());
    co_return identity;
  }

  Task<Result<Observed>> observe(Deadline deadline) override {
    const int before = client_.requests();
    AuditFetch fetch{client_, cache_};
    auto seen = co_await read_inventory(fetch, deadline);
    if (!seen) co_return named("inventory", std::move(seen).error());
    seen->requests = client_.requests() - before;
    seen->bytes = fetch.bytes();
    seen->unchanged = fetch.unchanged();
    co_return seen;
  }

  Task<Result<Sourced<std::vector<inventory::Part>>>> firmware(Deadline deadline) override {
    auto parts = co_await read_versions(client_, deadline);
    if (!parts) co_return named("firmware", std::move(parts).error());
    co_return Sourced<std::vector<inventory::Part>>{*std::move(parts)};
  }

  Task<Result<Sensors>> sensors(Deadline deadline) override {
    auto found = co_await read_sensors(client_, deadline);
    if (!found) co_return named("sensors", std::move(found).error());
    co_return found;
  }

  Task<Result<EventLog>> event_log(std::optional<Seconds> since, std::size_t most,
                                   Deadline deadline) override {
    auto log = co_await read_event_log(client_, since, most, deadline);
    if (!log) co_return named("event log", std::move(log).error());
    co_return log;
  }

  Task<Result<std::unique_ptr<Events>>> events(Deadline deadline) override {
    auto events = co_await subscribe(client_, *this, kLookAgain, deadline);
    if (!events) co_return named("events", std::move(events).error());
    co_return events;
  }

  Task<void> log_out() override { return client_.log_out(); }

 private:
  /// Where things are, and the System as it is now.
  struct Place {
    Layout layout;
    Document system;
  };

  /// Which System is the machine is found out once, and again where it is no longer there.
  Task<Result<Place>> the_place(Deadline deadline) {
    if (!layout_.system.empty()) {
      auto body = co_await client_.get(layout_.system, deadline);
      if (body) co_return Place{layout_, {layout_.system, *std::move(body)}};
      if (body.error().code != Code::kNotFound) co_return std::move(body).error();
    }
    Observed seen;
    Survey survey{client_, deadline, seen};
    CO_TRY(Machine machine, co_await find_machine(survey));
    layout_ = layout_of(machine);
    has_ac_cycle_.reset();
    co_return Place{layout_, std::move(machine.system)};
  }

  Task<Result<Document>> the_system(Deadline deadline) {
    CO_TRY(Place place, co_await the_place(deadline));
    co_return std::move(place.system);
  }

  Result<Protocol> accepted(std::string_view attempt, Result<void> done) const {
    if (!done) return named(attempt, std::move(done).error());
    return Protocol::redfish;
  }

  /// Errors from below the client do not name the node, those of the client do.
  Error named(std::string_view attempt, Error error) const {
    const std::string prefix = node_ + ": ";
    if (error.what.starts_with(prefix)) error.what.erase(0, prefix.size());
    return explained(std::move(error)).within(prefix + std::string{attempt});
  }

  std::string node_;
  bool has_ipmi_;
  Whereabouts whereabouts_;
  Client client_;
  ReadCache* cache_;
  Layout layout_{};
  std::optional<bool> has_ac_cycle_{};
};

}  // namespace

std::unique_ptr<Bmc> open(Transport& transport, std::string node, inventory::BmcAccess access,
                          SecretSource password, inventory::KnownKeys& known, Expected expected,
                          ReadCache* cache) {
  Peer peer{.node = std::move(node),
            .endpoint = std::move(access.endpoint),
            .trust = std::move(access.trust),
            .known = &known};
  return std::make_unique<RedfishBmc>(transport, std::move(peer), std::move(access.user),
                                      std::move(password), std::move(expected), cache);
}

}  // namespace cupel::bmc::redfish
