#include "bmc/redfish/redfish.h"

#include "base/text.h"
#include "bmc/redfish/ac_cycle.h"
#include "bmc/redfish/accounts.h"
#include "bmc/redfish/bios.h"
#include "bmc/redfish/boot.h"
#include "bmc/redfish/boot_order.h"
#include "bmc/redfish/console_ways.h"
#include "bmc/redfish/diagnostics.h"
#include "bmc/redfish/event_log.h"
#include "bmc/redfish/event_targets.h"
#include "bmc/redfish/events.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/locate.h"
#include "bmc/redfish/log_clear.h"
#include "bmc/redfish/manager.h"
#include "bmc/redfish/media.h"
#include "bmc/redfish/network.h"
#include "bmc/redfish/ntp.h"
#include "bmc/redfish/refusals.h"
#include "bmc/redfish/reset.h"
#include "bmc/redfish/secure_boot.h"
#include "bmc/redfish/sensors.h"
#include "bmc/redfish/session_timeout.h"
#include "bmc/redfish/task_end.h"
#include "bmc/redfish/update.h"
#include "bmc/redfish/uri.h"
#include "inventory/access.h"

namespace cupel::bmc::redfish {
namespace {

/// How often a BMC that tells nothing by itself is looked at.
constexpr std::chrono::seconds kLookAgain{15};

Task<Result<PowerState>> read_system_power(Client&, Document system, Deadline) {
  co_return power_of(system.body);
}

std::string boot_attempt(const BootOverride& requested) {
  return "boot " + std::string{to_string(requested.target)} + (requested.once ? " once" : "");
}

std::string service_attempt(const std::string& name, bool enabled) {
  return (enabled ? "enable " : "disable ") + printable(name);
}

std::string update_attempt(const UpdateOrder& order) {
  return "firmware update" + (order.component.empty() ? "" : " of " + printable(order.component));
}

Error no_system() {
  return Error{Code::kUnsupported,
               "this BMC has no Systems: it is an enclosure's or a switch's, and turns no machine "
               "on; inventory, sensors and log read what its chassis report"};
}

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
    assign_machine();
    assign_manager();
    assign_settings();
  }

  Task<void> log_out() override { return client_.log_out(); }

 private:
  void assign_machine() {
    assign(power.state, "power state", read_system_power);
    assign(
        power.reset, [](ResetType type) { return "reset " + std::string{to_string(type)}; },
        [this](Client& client, Layout layout, Document system, ResetType type, Deadline deadline) {
          return followed(type == ResetType::ac_cycle
                              ? ac_cycle(client, std::move(layout), std::move(system), deadline)
                              : reset_system(client, std::move(layout), std::move(system), type,
                                             has_ipmi_, deadline));
        });
    assign(power.given_up, "the last reset's task",
           [this](Client&, Deadline deadline) { return given_up(deadline); });
    assign(power.allowed_resets, "allowed resets", allowed_resets);
    assign(power.has_ac_cycle, "AC cycle", has_ac_cycle);
    assign(boot.set, boot_attempt, set_boot);
    assign(boot.read, "boot override", read_boot);
    assign(facts.identity, "identity",
           [this](Client&, Deadline deadline) { return read_identity(deadline); });
    assign(facts.observe, "inventory",
           [this](Client&, Deadline deadline) { return observe(deadline); });
    assign(update.versions, "firmware", read_versions);
    assign(update.service, "update service", read_update_service);
    assign(update.push, update_attempt, push_update);
    assign(update.go_on, "start the verified update", start_verified_update);
    assign(update.progress, "firmware update", read_update_progress);
    assign(sensors.read, "sensors", read_sensors);
    assign(
        locator.set, [](bool on) { return std::string{"locator light "} + (on ? "on" : "off"); },
        set_locator);
    assign(locator.read, "locator light", read_locator);
    assign(media.slots, "virtual media", read_media);
    assign(media.insert, "insert media", insert_media);
    assign(media.eject, "eject media", eject_media);
    assign(bios.read, "BIOS settings", read_bios);
    assign(bios.stage, "stage BIOS settings", stage_bios);
    assign(bios.reset, "reset the BIOS settings", reset_bios);
    assign(console.ways, "console", read_console_ways);
  }

  void assign_manager() {
    assign(log.read, "event log", read_event_log);
    assign(log.clear, "clear the event log", clear_event_log);
    assign(log.subscribe, "events", [this](Client& client, Deadline deadline) {
      return subscribe(client, *this, kLookAgain, deadline);
    });
    assign(diagnostics.offered, "diagnostic data", read_diagnostic_offers);
    assign(
        diagnostics.collect,
        [](const DiagnosticOrder& order) {
          return "collect " + printable(order.oem_type.empty() ? order.type : order.oem_type) +
                 " of " + short_name_of_service(order.service);
        },
        collect_diagnostic_data);
    assign(diagnostics.download, "download diagnostic data", download_diagnostic_data);
    assign(accounts.read, "accounts", read_accounts);
    accounts.change_password.bind(this, &RedfishBmc::change_password);
    assign(manager.services, "network services", read_services);
    assign(manager.enable_service, service_attempt, enable_service);
    assign(manager.reset, "reset the BMC",
           [this](Client& client, Layout layout, Deadline deadline) {
             return followed(reset_manager(client, std::move(layout), deadline));
           });
    assign(manager.clock, "clock", read_clock);
    assign(manager.set_clock, "set the clock", set_clock);
  }

  void assign_settings() {
    assign(settings.bios_registry, "BIOS attribute registry", read_bios_registry);
    assign(settings.boot_order, "boot order", read_boot_order);
    assign(settings.set_boot_order, "set the boot order", set_boot_order);
    assign(settings.secure_boot, "secure boot", read_secure_boot);
    assign(
        settings.set_secure_boot,
        [](bool on) { return std::string{"secure boot "} + (on ? "on" : "off"); }, set_secure_boot);
    assign(settings.ntp, "NTP servers", read_ntp);
    assign(settings.set_ntp, "set the NTP servers", set_ntp);
    assign(settings.event_targets, "event destinations", read_event_targets);
    assign(
        settings.add_event_target,
        [](const EventTarget& target) { return "send events to " + printable(target.destination); },
        add_event_target);
    assign(settings.session_timeout, "session timeout", read_session_timeout);
    assign(settings.set_session_timeout, "set the session timeout", set_session_timeout);
  }

  /// Where things are, and the System as it is now.
  struct Place {
    Layout layout;
    Document system;
  };

  /// `verb` is done by `how`, which takes the client, then the Layout and the System if it needs
  /// them (they are looked up only then), the verb's arguments and the deadline. `attempt` names it
  /// in errors: a text, or a function of the arguments that makes one.
  template <class T, class... Args, class Attempt, class How>
  void assign(Verb<T(Args...)>& verb, Attempt attempt, How how) {
    verb = [this, attempt, how](Args... args, Deadline deadline) {
      std::string text;
      if constexpr (std::is_convertible_v<Attempt, std::string>)
        text = attempt;
      else
        text = attempt(args...);
      return done<T>(std::move(text), how, deadline, std::move(args)...);
    };
  }
  template <class T, class How, class... Args>
  Task<Result<T>> done(std::string attempt, How how, Deadline deadline, Args... args) {
    if constexpr (std::is_invocable_v<How, Client&, Args..., Deadline>) {
      co_return answer<T>(attempt, co_await how(client_, std::move(args)..., deadline));
    } else {
      auto place = co_await the_place(deadline);
      if (!place) co_return named(attempt, std::move(place).error());
      auto& [layout, system] = *place;
      if constexpr (std::is_invocable_v<How, Client&, Layout, Args..., Deadline>) {
        co_return answer<T>(attempt, co_await how(client_, layout, std::move(args)..., deadline));
      } else if (layout.system.empty()) {
        co_return named(attempt, no_system());
      } else if constexpr (std::is_invocable_v<How, Client&, Document, Args..., Deadline>) {
        co_return answer<T>(attempt,
                            co_await how(client_, std::move(system), std::move(args)..., deadline));
      } else {
        co_return answer<T>(attempt, co_await how(client_, layout, std::move(system),
                                                  std::move(args)..., deadline));
      }
    }
  }
  template <class T, class Value>
  Result<T> answer(std::string_view attempt, Result<Value> value) const {
    if (!value) return named(attempt, std::move(value).error());
    return answered<T>(std::move(value), Protocol::redfish);
  }

  /// Keeps the task of a reset, so that it can be reported why nothing comes of that.
  Task<Result<void>> followed(Task<Result<Accepted>> reset) {
    task_.clear();
    CO_TRY(const Accepted accepted, co_await std::move(reset));
    task_ = accepted.task;
    look_at_task_ = Deadline::in({});
    co_return ok();
  }

  Task<Result<std::string>> given_up(Deadline deadline) {
    if (task_.empty() || !look_at_task_.passed()) co_return std::string{};
    CO_TRY(const TaskLook look, co_await look_at_task_end(client_, task_, deadline));
    if (look.ended) task_.clear();
    look_at_task_ = Deadline::in(look.look_again);
    co_return look.failure;
  }

  Task<Result<Identity>> read_identity(Deadline deadline) {
    Observed seen;
    Survey survey{client_, deadline, seen};
    CO_TRY(Machine machine, co_await find_machine(survey));
    layout_ = layout_of(machine);
    const Identity identity = co_await identify(survey, machine);
    if (survey.stopped()) co_return *survey.stopped();
    co_return identity;
  }

  Task<Result<Observed>> observe(Deadline deadline) {
    const int before = client_.requests();
    AuditFetch fetch{client_, cache_};
    CO_TRY(Observed seen, co_await read_inventory(fetch, deadline));
    if (fetch.lost_its_session())
      for (const auto kind : inventory::kCountedKinds)
        inventory::add_partial(
            seen.partial, {kind, "the BMC's session",
                           "it ended while the BMC was read: the BMC may have restarted", true});
    seen.requests = client_.requests() - before;
    seen.bytes = fetch.bytes();
    seen.unchanged = fetch.unchanged();
    co_return seen;
  }

  Task<Result<Protocol>> change_password(std::string user, std::string password,
                                         Deadline deadline) {
    const std::string attempt = "change the password of " + printable(user);
    // A BMC that still has its factory password may show nothing else: then nothing is known.
    auto place = co_await the_place(deadline);
    const bool locked = !place && says(place.error(), "PasswordChangeRequired");
    if (!place && !locked) co_return named(attempt, std::move(place).error());
    auto changed = locked
                       ? change_first_password(client_, std::move(place).error(), std::move(user),
                                               std::move(password), deadline)
                       : redfish::change_password(client_, place->layout, Error{}, std::move(user),
                                                  std::move(password), deadline);
    co_return answer<Protocol>(attempt, co_await std::move(changed));
  }

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
    co_return Place{layout_, std::move(machine.system)};
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
  std::string task_{};  // of the reset that was accepted last; empty: it has none, or is over
  Deadline look_at_task_ = Deadline::in({});  // not before
};

}  // namespace

std::unique_ptr<Bmc> open(Transport& transport, std::string node, inventory::BmcAccess access,
                          SecretSource password, inventory::KnownKeys& known, Expected expected,
                          ReadCache* cache) {
  Peer peer{.node = std::move(node),
            .endpoint = std::move(access.endpoint),
            .trust = std::move(access.trust),
            .known = &known,
            .shared_as = std::move(access.shared_as),
            .system = std::move(access.system)};
  return std::make_unique<RedfishBmc>(transport, std::move(peer), std::move(access.user),
                                      std::move(password), std::move(expected), cache);
}

}  // namespace cupel::bmc::redfish
