#include "orchestrator/settings/converge.h"

#include "inventory/identity.h"
#include "inventory/machine_settings.h"
#include "inventory/profile.h"
#include "orchestrator/settings/bios_plan.h"

namespace cupel::settings {
namespace {

/// Keeps an answer, or why there is none. Errors: those after which it is asked again.
template <class T, class Into>
Result<void> keep(Result<T> answer, Into& into, std::string_view what, ReportedSettings& reported) {
  if (answer) {
    into = *std::move(answer);
    return ok();
  }
  const auto code = answer.error().code;
  if (code == Code::kCancelled || is_transient(code)) return std::move(answer).error();
  reported.unreadable.emplace(what, answer.error().what);
  // What is linked to and not found may be back after a boot.
  if (code == Code::kUnsupported) reported.lacking.emplace(what);
  return ok();
}

Task<Result<void>> read_machine(bmc::Bmc& bmc, const inventory::Profile& profile,
                                ReportedSettings& reported, Deadline deadline) {
  const auto& expected = profile.settings;
  bool bios = !profile.bios.empty(), secure_boot = false;
  for (const auto& one : expected.portable) {
    const bool attribute = is_bios_attribute(one.name, reported);
    bios = bios || attribute;
    secure_boot = secure_boot || !attribute;
  }
  if (bios) {
    auto settings = co_await bmc.bios.read(deadline);
    CO_TRY(keep(std::move(settings), reported.bios, "BIOS", reported));
  }
  if (reported.bios) {
    auto registry = co_await bmc.settings.bios_registry(deadline);
    CO_TRY(keep(std::move(registry), reported.bios_registry, "BIOS registry", reported));
  }
  if (secure_boot) {
    auto state = co_await bmc.settings.secure_boot(deadline);
    CO_TRY(keep(std::move(state), reported.secure_boot, "secure boot", reported));
  }
  if (!expected.boot_order.empty()) {
    auto order = co_await bmc.settings.boot_order(deadline);
    CO_TRY(keep(std::move(order), reported.boot_order, "boot order", reported));
  }
  co_return ok();
}

Task<Result<void>> read_bmc(bmc::Bmc& bmc, const inventory::ExpectedBmc& expected,
                            ReportedSettings& reported, Deadline deadline) {
  if (!expected.ntp_servers.empty()) {
    auto ntp = co_await bmc.settings.ntp(deadline);
    CO_TRY(keep(std::move(ntp), reported.ntp, "NTP", reported));
  }
  if (!expected.syslog.empty() || !expected.alerts.empty()) {
    auto targets = co_await bmc.settings.event_targets(deadline);
    CO_TRY(keep(std::move(targets), reported.event_targets, "events", reported));
  }
  if (!expected.services.empty()) {
    auto services = co_await bmc.manager.services(deadline);
    CO_TRY(keep(std::move(services), reported.services, "services", reported));
  }
  if (expected.session_timeout) {
    auto timeout = co_await bmc.settings.session_timeout(deadline);
    CO_TRY(keep(std::move(timeout), reported.session_timeout, "session timeout", reported));
  }
  co_return ok();
}

/// What was not set, and why: one setting that the BMC refuses keeps no other from being set.
class Refusals {
 public:
  /// Errors: those after which all is tried again.
  template <class T>
  Result<void> note(Result<T> done) {
    any_set_ = any_set_ || done;
    if (done) return ok();
    const auto code = done.error().code;
    if (code == Code::kCancelled || is_transient(code)) return std::move(done).error();
    add(code, done.error().what);
    return ok();
  }
  void add(Code code, const std::string& what) {
    if (text_.empty()) code_ = code;
    text_ += (text_.empty() ? "" : "; ") + what;
  }
  Result<void> outcome() const {
    if (text_.empty()) return ok();
    return Error{code_, "not set: " + text_ + (any_set_ ? "; the other settings are set" : "")};
  }

 private:
  Code code_{};
  std::string text_{};
  bool any_set_ = false;
};

Task<Result<void>> set_machine(bmc::Bmc& bmc, const SettingsPlan& plan, Refusals& refusals,
                               Deadline deadline) {
  if (!plan.bios.empty()) {
    auto done = co_await bmc.bios.stage(plan.bios, deadline);
    CO_TRY(refusals.note(std::move(done)));
  }
  if (plan.secure_boot) {
    auto done = co_await bmc.settings.set_secure_boot(*plan.secure_boot, deadline);
    CO_TRY(refusals.note(std::move(done)));
  }
  if (plan.boot_order) {
    auto done = co_await bmc.settings.set_boot_order(*plan.boot_order, deadline);
    CO_TRY(refusals.note(std::move(done)));
  }
  co_return ok();
}

Task<Result<void>> set_bmc(bmc::Bmc& bmc, const SettingsPlan& plan, Refusals& refusals,
                           Deadline deadline) {
  if (plan.ntp_servers) {
    auto done = co_await bmc.settings.set_ntp(*plan.ntp_servers, deadline);
    CO_TRY(refusals.note(std::move(done)));
  }
  for (const auto& target : plan.event_targets) {
    auto done = co_await bmc.settings.add_event_target(target, deadline);
    CO_TRY(refusals.note(std::move(done)));
  }
  if (plan.session_timeout) {
    auto done = co_await bmc.settings.set_session_timeout(*plan.session_timeout, deadline);
    CO_TRY(refusals.note(std::move(done)));
  }
  for (const auto& service : plan.services) {
    auto done = co_await bmc.manager.enable_service(service.name, service.enabled, deadline);
    CO_TRY(refusals.note(std::move(done)));
  }
  co_return ok();
}

}  // namespace

bool wants_settings(const inventory::Profile& profile) {
  return !profile.bios.empty() || !profile.settings.is_empty();
}

Task<Result<ReportedSettings>> read_settings(bmc::Bmc& bmc, const inventory::Profile& profile,
                                             Deadline deadline) {
  ReportedSettings reported;
  if (!profile.settings.portable.empty()) {
    CO_TRY(const bmc::Identity identity, co_await bmc.facts.identity(deadline));
    reported.vendor = identity.vendor;
  }
  CO_TRY(co_await read_machine(bmc, profile, reported, deadline));
  CO_TRY(co_await read_bmc(bmc, profile.settings.bmc, reported, deadline));
  co_return reported;
}

Task<Result<SettingsLook>> look_at_settings(bmc::Bmc& bmc, const inventory::Profile& profile,
                                            Deadline deadline) {
  CO_TRY(auto reported, co_await read_settings(bmc, profile, deadline));
  auto plan = plan_settings(profile, reported);
  co_return SettingsLook{std::move(reported), std::move(plan)};
}

Task<Result<std::string>> read_serial(bmc::Bmc& bmc, Deadline deadline) {
  auto identity = co_await bmc.facts.identity(deadline);
  if (!identity) {
    const auto code = identity.error().code;
    if (code == Code::kCancelled || is_transient(code)) co_return std::move(identity).error();
    co_return std::string{};
  }
  co_return inventory::reported_serial(identity->serial);
}

Task<Result<SettingsSnapshot>> take_snapshot(bmc::Bmc& bmc, const SettingsLook& look,
                                             Deadline deadline) {
  auto before = snapshot_before(look.plan, look.reported);
  CO_TRY(before.serial, co_await read_serial(bmc, deadline));
  co_return before;
}

Task<Result<void>> apply_settings(bmc::Bmc& bmc, const SettingsPlan& plan, Deadline deadline) {
  Refusals refusals;
  if (plan.has(SettingState::refused))
    refusals.add(Code::kInvalid, described(plan, SettingState::refused));
  CO_TRY(co_await set_machine(bmc, plan, refusals, deadline));
  CO_TRY(co_await set_bmc(bmc, plan, refusals, deadline));
  co_return refusals.outcome();
}

}  // namespace cupel::settings
