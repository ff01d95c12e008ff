#include "bmc/fallback_bmc.h"

#include <algorithm>
#include <cassert>
#include <set>

namespace cupel::bmc {
namespace {

bool lacks(Code code, Twice twice) {
  if (is_lost(code)) return twice == Twice::harmless;
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
      : redfish_{std::move(redfish)}, ipmi_{std::move(ipmi)}, last_resort_{std::move(last_resort)} {
    using namespace facet;
    fall_back(&Bmc::power, &Power::state, &Power::reset, &Power::given_up, &Power::allowed_resets,
              &Power::has_ac_cycle);
    fall_back(&Bmc::boot, &Boot::set, &Boot::read);
    fall_back(&Bmc::facts, &Facts::identity, &Facts::observe);
    fall_back(&Bmc::update, &Update::versions, &Update::service, &Update::push, &Update::go_on,
              &Update::progress);
    fall_back(&Bmc::sensors, &facet::Sensors::read);
    fall_back(&Bmc::locator, &Locator::set, &Locator::read);
    fall_back(&Bmc::log, &Log::read, &Log::clear, &Log::subscribe);
    fall_back(&Bmc::diagnostics, &Diagnostics::offered, &Diagnostics::collect,
              &Diagnostics::download);
    fall_back(&Bmc::media, &Media::slots, &Media::insert, &Media::eject);
    fall_back(&Bmc::accounts, &Accounts::read, &Accounts::change_password);
    fall_back(&Bmc::manager, &ManagementController::services, &ManagementController::enable_service,
              &ManagementController::reset, &ManagementController::clock,
              &ManagementController::set_clock);
    fall_back(&Bmc::bios, &Bios::read, &Bios::stage, &Bios::reset);
    fall_back(&Bmc::settings, &Settings::bios_registry, &Settings::boot_order,
              &Settings::set_boot_order, &Settings::secure_boot, &Settings::set_secure_boot,
              &Settings::ntp, &Settings::set_ntp, &Settings::event_targets,
              &Settings::add_event_target, &Settings::session_timeout,
              &Settings::set_session_timeout);
    fall_back(&Bmc::console, &facet::Console::ways, &facet::Console::open);
    assert(sizeof(Bmc) == sizeof(void*) + named_);  // else a facet is not named here

    // Where it takes more than that.
    power.reset.bind(this, &FallbackBmc::reset);
    power.allowed_resets.bind(this, &FallbackBmc::allowed_resets);
    boot.set.bind(this, &FallbackBmc::set_boot);
    facts.identity.bind(this, &FallbackBmc::identity);
    facts.observe.bind(this, &FallbackBmc::observe);
    manager.enable_service.bind(this, &FallbackBmc::enable_service);
    console.open.bind(this, &FallbackBmc::open_console);
  }

  Task<void> log_out() override {
    co_await redfish_->log_out();
    co_await ipmi_->log_out();
    if (last_resort_) co_await last_resort_->log_out();
  }

 private:
  /// All verbs of a facet: Redfish, and IPMI where that lacks it.
  template <class Facet, class... Verbs>
  void fall_back(Facet Bmc::* facet, Verbs Facet::*... verbs) {
    static_assert(sizeof(Facet) == (sizeof(Verbs) + ...), "a verb of this facet is not named here");
    (one_falls_back(facet, verbs), ...);
    named_ += sizeof(Facet);
  }
  template <class Facet, class T, class... Args>
  void one_falls_back(Facet Bmc::* facet, Verb<T(Args...)> Facet::* verb) {
    auto& mine = this->*facet.*verb;
    mine = [this, facet, verb, &mine](Args... args, Deadline deadline) {
      return ask(std::string{mine.name()}, mine.twice(), facet, verb, deadline, std::move(args)...);
    };
  }

  /// The rule, for every verb.
  template <class Facet, class T, class... Args>
  Task<Result<T>> ask(std::string name, Twice twice, Facet Bmc::* facet,
                      Verb<T(Args...)> Facet::* verb, Deadline deadline,
                      std::type_identity_t<Args>... args) {
    Error missing{Code::kUnsupported, name + ": not by this BMC's Redfish"};
    if (!missing_.contains(name)) {
      auto answer = co_await (redfish_.get()->*facet.*verb)(args..., deadline);
      if (answer || !lacks(answer.error().code, twice)) co_return answer;
      missing = std::move(answer).error();
      if (missing.code == Code::kUnsupported) missing_.insert(name);
    }
    auto answer = co_await (ipmi_.get()->*facet.*verb)(args..., deadline);
    if (answer) co_return answer;
    co_return both(std::move(missing), std::move(answer).error());
  }

  Task<Result<Protocol>> reset(ResetType type, Deadline deadline) {
    const auto name = "reset " + std::string{to_string(type)};
    if (twice(type) == Twice::harmless || !last_resort_)
      return ask(name, twice(type), &Bmc::power, &facet::Power::reset, deadline, type);
    return restart(name, type, deadline);
  }

  /// What either allows, where Redfish alone could not turn the machine on and off.
  Task<Result<std::vector<ResetType>>> allowed_resets(Deadline deadline) {
    auto allowed = co_await ask("allowed resets", Twice::harmless, &Bmc::power,
                                &facet::Power::allowed_resets, deadline);
    if (!allowed || allowed->empty()) co_return allowed;
    auto& types = *allowed;
    const auto has = [&](ResetType type) { return std::ranges::find(types, type) != types.end(); };
    if (has(ResetType::on) && has(ResetType::force_off)) co_return allowed;
    const auto more = co_await ipmi_->power.allowed_resets(deadline);
    if (!more) co_return allowed;
    for (const auto type : *more) {
      if (!has(type)) types.push_back(type);
    }
    co_return allowed;
  }

  // A Redfish that lacks one target or one service may have another.
  Task<Result<Protocol>> set_boot(BootOverride requested, Deadline deadline) {
    const auto name = "boot " + std::string{to_string(requested.target)} +
                      (requested.once ? " once" : "") +
                      (requested.uri.empty() ? "" : " from a URI");
    return ask(name, Twice::harmless, &Bmc::boot, &facet::Boot::set, deadline,
               std::move(requested));
  }
  Task<Result<Protocol>> enable_service(std::string name, bool enabled, Deadline deadline) {
    return ask("service " + name, Twice::harmless, &Bmc::manager,
               &facet::ManagementController::enable_service, deadline, name, enabled);
  }

  Task<Result<Identity>> identity(Deadline deadline) {
    auto answer =
        co_await ask("identity", Twice::harmless, &Bmc::facts, &facet::Facts::identity, deadline);
    if (!answer || answer->by == Protocol::ipmi || tells_who(*answer)) co_return answer;
    const auto more = co_await ipmi_->facts.identity(deadline);
    if (more) fill(*answer, *more);
    co_return answer;
  }
  Task<Result<Observed>> observe(Deadline deadline) {
    auto seen =
        co_await ask("inventory", Twice::harmless, &Bmc::facts, &facet::Facts::observe, deadline);
    if (!seen) co_return seen;
    // Where Redfish is silent today, what IPMI lists of FRUs is not what Redfish would.
    if (seen->by == Protocol::ipmi && !missing_.contains("inventory"))
      for (const auto kind : inventory::kCountedKinds)
        inventory::add_partial(seen->partial,
                               {kind, "redfish", "Redfish did not answer: by IPMI alone", true});
    if (seen->by == Protocol::ipmi) co_return seen;
    CO_TRY(co_await complete(*seen, deadline));
    co_return seen;
  }

  /// Serial-over-LAN first.
  Task<Result<std::unique_ptr<Console>>> open_console(Deadline deadline) {
    auto sol = co_await ipmi_->console.open(deadline);
    if (sol || sol.error().code != Code::kUnsupported) co_return sol;
    co_return co_await redfish_->console.open(deadline);
  }

  /// By IPMI where Redfish leaves it to that. IPMI is looked at first: once a restart was asked of
  /// it nobody may ask another.
  Task<Result<Protocol>> restart(std::string name, ResetType type, Deadline deadline) {
    auto answer = co_await redfish_->power.reset(type, deadline);
    if (answer || !lacks(answer.error().code, Twice::forbidden)) co_return answer;
    auto missing = std::move(answer).error();
    const auto there = co_await ipmi_->power.state(deadline.sooner(kIpmiThere));
    const bool silent = !there && lacks(there.error().code, Twice::harmless);
    auto done = silent ? co_await last_resort_->power.reset(type, deadline)
                       : co_await ipmi_->power.reset(type, deadline);
    if (done) co_return done;
    if (silent) co_return both(std::move(done).error(), there.error()).within(name);
    co_return both(std::move(missing), std::move(done).error()).within(name);
  }

  /// What Redfish left open about the machine as a whole, from IPMI.
  Task<Result<void>> complete(Observed& seen, Deadline deadline) {
    const bool open = !tells_who(seen.identity) || seen.power == PowerState::unknown;
    if (!open) co_return ok();
    const auto more = co_await ipmi_->facts.observe(deadline);
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
  std::size_t named_ = 0;                         // bytes of facets
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
