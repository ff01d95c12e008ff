#include "bmc/fallback_bmc.h"

#include <algorithm>
#include <set>

namespace cupel::bmc {
namespace {

/// Whether an act may be asked of the other protocol after the first one broke off in the middle.
enum class Twice { harmless, forbidden };

bool lacks(Code code, Twice twice) {
  if (code == Code::kUnreachable || code == Code::kTimeout) return twice == Twice::harmless;
  return code == Code::kUnsupported || code == Code::kNotFound;
}

Error both(Error redfish, Error ipmi) {
  const bool ipmi_has_none = ipmi.code == Code::kUnsupported || ipmi.code == Code::kNotFound;
  const auto code = ipmi_has_none ? redfish.code : ipmi.code;
  const auto pause = std::max(redfish.retry_after, ipmi.retry_after);
  if (code == Code::kCancelled) return ipmi;
  return Error{code, "by Redfish: " + redfish.what + "; by IPMI: " + ipmi.what, pause};
}

/// A reset that leaves the machine where one of its kind left it already.
Twice twice(ResetType type) {
  const bool settles =
      type == ResetType::on || type == ResetType::force_off || type == ResetType::graceful_shutdown;
  return settles ? Twice::harmless : Twice::forbidden;
}

/// How long IPMI is waited for before a restart is asked of it.
constexpr std::chrono::seconds kIpmiThere{10};

/// Takes over what is missing. True where something was.
bool fill(std::string& into, const std::string& from) {
  if (!into.empty() || from.empty()) return false;
  into = from;
  return true;
}

void fill(Identity& into, const Identity& from) {
  fill(into.vendor, from.vendor);
  fill(into.model, from.model);
  fill(into.serial, from.serial);
  fill(into.part_number, from.part_number);
  fill(into.uuid, from.uuid);
  fill(into.bmc_version, from.bmc_version);
  if (into.bmc_macs.empty()) into.bmc_macs = from.bmc_macs;
}

bool tells_who(const Identity& identity) {
  return !identity.vendor.empty() && !identity.model.empty() && !identity.serial.empty();
}

/// Parts of the kinds of which there is none yet; each says itself where it comes from.
void add_missing_kinds(Observed& into, const Observed& from) {
  std::set<inventory::PartKind> known;
  for (const auto& part : into.parts) known.insert(part.kind);
  for (const auto& part : from.parts)
    if (!known.contains(part.kind)) into.parts.push_back(part);
}

class FallbackBmc final : public Bmc {
 public:
  FallbackBmc(std::unique_ptr<Bmc> redfish, std::unique_ptr<Bmc> ipmi,
              std::unique_ptr<Bmc> last_resort)
      : redfish_{std::move(redfish)},
        ipmi_{std::move(ipmi)},
        last_resort_{std::move(last_resort)} {}

  Task<Result<Sourced<PowerState>>> power_state(Deadline deadline) override {
    return ask<Sourced<PowerState>>("power state", Twice::harmless,
                                    [deadline](Bmc& bmc) { return bmc.power_state(deadline); });
  }
  Task<Result<Protocol>> reset(ResetType type, Deadline deadline) override {
    const auto verb = [=](Bmc& bmc) { return bmc.reset(type, deadline); };
    const auto name = "reset " + std::string{to_string(type)};
    if (twice(type) == Twice::harmless || !last_resort_)
      return ask<Protocol>(name, twice(type), verb);
    return restart(name, type, deadline);
  }
  /// What either allows, where Redfish alone could not turn the machine on and off.
  Task<Result<std::vector<ResetType>>> allowed_resets(Deadline deadline) override {
    auto allowed = co_await ask<std::vector<ResetType>>(
        "allowed resets", Twice::harmless,
        [deadline](Bmc& bmc) { return bmc.allowed_resets(deadline); });
    if (!allowed || allowed->empty()) co_return allowed;
    auto& types = *allowed;
    const auto has = [&](ResetType type) { return std::ranges::find(types, type) != types.end(); };
    if (has(ResetType::on) && has(ResetType::force_off)) co_return allowed;
    const auto more = co_await ipmi_->allowed_resets(deadline);
    if (!more) co_return allowed;
    for (const auto type : *more) {
      if (!has(type)) types.push_back(type);
    }
    co_return allowed;
  }

  Task<Result<Protocol>> set_boot(BootOverride wanted, Deadline deadline) override {
    const auto verb = "boot " + std::string{to_string(wanted.target)} +
                      (wanted.once ? " once" : "") + (wanted.uri.empty() ? "" : " from a URI");
    return ask<Protocol>(verb, Twice::harmless,
                         [=](Bmc& bmc) { return bmc.set_boot(wanted, deadline); });
  }
  Task<Result<Sourced<BootOverride>>> boot_override(Deadline deadline) override {
    return ask<Sourced<BootOverride>>("boot override", Twice::harmless,
                                      [deadline](Bmc& bmc) { return bmc.boot_override(deadline); });
  }

  Task<Result<Identity>> identity(Deadline deadline) override {
    auto told = co_await ask<Identity>("identity", Twice::harmless,
                                       [deadline](Bmc& bmc) { return bmc.identity(deadline); });
    if (!told || told->by == Protocol::ipmi || tells_who(*told)) co_return told;
    const auto more = co_await ipmi_->identity(deadline);
    if (more) fill(*told, *more);
    co_return told;
  }
  Task<Result<Observed>> observe(Deadline deadline) override {
    auto seen = co_await ask<Observed>("inventory", Twice::harmless,
                                       [deadline](Bmc& bmc) { return bmc.observe(deadline); });
    if (!seen || seen->by == Protocol::ipmi) co_return seen;
    CO_TRY(co_await complete(*seen, deadline));
    co_return seen;
  }
  Task<Result<Sourced<std::vector<inventory::Part>>>> firmware(Deadline deadline) override {
    return ask<Sourced<std::vector<inventory::Part>>>(
        "firmware", Twice::harmless, [deadline](Bmc& bmc) { return bmc.firmware(deadline); });
  }
  Task<Result<Sensors>> sensors(Deadline deadline) override {
    return ask<Sensors>("sensors", Twice::harmless,
                        [deadline](Bmc& bmc) { return bmc.sensors(deadline); });
  }

  Task<Result<Protocol>> locate(bool on, Deadline deadline) override {
    return ask<Protocol>("locator light", Twice::harmless,
                         [=](Bmc& bmc) { return bmc.locate(on, deadline); });
  }
  Task<Result<Sourced<bool>>> located(Deadline deadline) override {
    return ask<Sourced<bool>>("locator light", Twice::harmless,
                              [deadline](Bmc& bmc) { return bmc.located(deadline); });
  }

  Task<Result<EventLog>> event_log(std::optional<Seconds> since, std::size_t most,
                                   Deadline deadline) override {
    return ask<EventLog>("event log", Twice::harmless,
                         [=](Bmc& bmc) { return bmc.event_log(since, most, deadline); });
  }
  Task<Result<Protocol>> clear_event_log(Deadline deadline) override {
    return ask<Protocol>("clear event log", Twice::harmless,
                         [deadline](Bmc& bmc) { return bmc.clear_event_log(deadline); });
  }

  Task<Result<std::vector<MediaSlot>>> media(Deadline deadline) override {
    return ask<std::vector<MediaSlot>>("virtual media", Twice::harmless,
                                       [deadline](Bmc& bmc) { return bmc.media(deadline); });
  }
  Task<Result<Protocol>> insert_media(std::string url, Deadline deadline) override {
    return ask<Protocol>("insert media", Twice::harmless,
                         [=](Bmc& bmc) { return bmc.insert_media(url, deadline); });
  }
  Task<Result<Protocol>> eject_media(Deadline deadline) override {
    return ask<Protocol>("eject media", Twice::harmless,
                         [deadline](Bmc& bmc) { return bmc.eject_media(deadline); });
  }

  Task<Result<Sourced<std::vector<Account>>>> accounts(Deadline deadline) override {
    return ask<Sourced<std::vector<Account>>>(
        "accounts", Twice::harmless, [deadline](Bmc& bmc) { return bmc.accounts(deadline); });
  }
  Task<Result<Protocol>> change_password(std::string user, std::string password,
                                         Deadline deadline) override {
    return ask<Protocol>("change password", Twice::forbidden,
                         [=](Bmc& bmc) { return bmc.change_password(user, password, deadline); });
  }
  Task<Result<Sourced<std::vector<NetworkService>>>> network_services(Deadline deadline) override {
    return ask<Sourced<std::vector<NetworkService>>>(
        "network services", Twice::harmless,
        [deadline](Bmc& bmc) { return bmc.network_services(deadline); });
  }
  Task<Result<Protocol>> enable_service(std::string name, bool enabled,
                                        Deadline deadline) override {
    return ask<Protocol>("service " + name, Twice::harmless,
                         [=](Bmc& bmc) { return bmc.enable_service(name, enabled, deadline); });
  }
  Task<Result<Protocol>> reset_bmc(Deadline deadline) override {
    return ask<Protocol>("reset BMC", Twice::forbidden,
                         [deadline](Bmc& bmc) { return bmc.reset_bmc(deadline); });
  }
  Task<Result<BmcClock>> clock(Deadline deadline) override {
    return ask<BmcClock>("clock", Twice::harmless,
                         [deadline](Bmc& bmc) { return bmc.clock(deadline); });
  }
  Task<Result<Protocol>> set_clock(Seconds time, Deadline deadline) override {
    return ask<Protocol>("set clock", Twice::harmless,
                         [=](Bmc& bmc) { return bmc.set_clock(time, deadline); });
  }

  Task<Result<BiosSettings>> bios(Deadline deadline) override {
    return ask<BiosSettings>("BIOS settings", Twice::harmless,
                             [deadline](Bmc& bmc) { return bmc.bios(deadline); });
  }
  Task<Result<void>> stage_bios(BiosValues wanted, Deadline deadline) override {
    return ask<void>("stage BIOS settings", Twice::harmless,
                     [=](Bmc& bmc) { return bmc.stage_bios(wanted, deadline); });
  }

  Task<Result<std::vector<ConsoleWay>>> console_ways(Deadline deadline) override {
    return ask<std::vector<ConsoleWay>>(
        "console", Twice::harmless, [deadline](Bmc& bmc) { return bmc.console_ways(deadline); });
  }
  Task<Result<std::unique_ptr<Console>>> console(Deadline deadline) override {
    auto sol = co_await ipmi_->console(deadline);
    if (sol || sol.error().code != Code::kUnsupported) co_return sol;
    co_return co_await redfish_->console(deadline);
  }
  Task<Result<std::unique_ptr<Events>>> events(Deadline deadline) override {
    return ask<std::unique_ptr<Events>>("events", Twice::harmless,
                                        [deadline](Bmc& bmc) { return bmc.events(deadline); });
  }

  Task<void> log_out() override {
    co_await redfish_->log_out();
    co_await ipmi_->log_out();
    if (last_resort_) co_await last_resort_->log_out();
  }

 private:
  template <class T, class Verb>
  Task<Result<T>> ask(std::string name, Twice twice, Verb verb) {
    Error missing{Code::kUnsupported, name + ": not by this BMC's Redfish"};
    if (!missing_.contains(name)) {
      auto told = co_await verb(*redfish_);
      if (told || !lacks(told.error().code, twice)) co_return told;
      missing = std::move(told).error();
      if (missing.code == Code::kUnsupported) missing_.insert(name);
    }
    auto told = co_await verb(*ipmi_);
    if (told) co_return told;
    co_return both(std::move(missing), std::move(told).error());
  }

  /// By IPMI where Redfish leaves it to that. IPMI is looked at first: once a restart was asked of
  /// it nobody may ask another.
  Task<Result<Protocol>> restart(std::string name, ResetType type, Deadline deadline) {
    auto told = co_await redfish_->reset(type, deadline);
    if (told || !lacks(told.error().code, Twice::forbidden)) co_return told;
    auto missing = std::move(told).error();
    const auto there = co_await ipmi_->power_state(deadline.sooner(kIpmiThere));
    const bool silent = !there && lacks(there.error().code, Twice::harmless);
    auto done = silent ? co_await last_resort_->reset(type, deadline)
                       : co_await ipmi_->reset(type, deadline);
    if (done) co_return done;
    if (silent) co_return both(std::move(done).error(), there.error()).within(name);
    co_return both(std::move(missing), std::move(done).error()).within(name);
  }

  /// What Redfish left open about the machine as a whole, from IPMI.
  Task<Result<void>> complete(Observed& seen, Deadline deadline) {
    const bool open = !tells_who(seen.identity) || seen.power == PowerState::unknown;
    if (!open) co_return ok();
    const auto more = co_await ipmi_->observe(deadline);
    if (more) {
      fill(seen.identity, more->identity);
      if (seen.power == PowerState::unknown) seen.power = more->power;
      add_missing_kinds(seen, *more);
      seen.requests += more->requests;
      co_return ok();
    }
    if (more.error().code == Code::kCancelled) co_return more.error();
    seen.unknown.push_back({"what Redfish does not tell", "ipmi", more.error().what});
    co_return ok();
  }

  std::unique_ptr<Bmc> redfish_;
  std::unique_ptr<Bmc> ipmi_;
  std::unique_ptr<Bmc> last_resort_;
  std::set<std::string, std::less<>> missing_{};  // verbs that this Redfish does not have
};

}  // namespace

std::unique_ptr<Bmc> first_of(std::unique_ptr<Bmc> redfish, std::unique_ptr<Bmc> ipmi,
                              std::unique_ptr<Bmc> last_resort) {
  if (!ipmi) return redfish;
  if (!redfish) return ipmi;
  return std::make_unique<FallbackBmc>(std::move(redfish), std::move(ipmi), std::move(last_resort));
}

}  // namespace cupel::bmc
