// The settings of a machine and its BMC as the profile wants them. Never restarts the machine: a
// later step does, where `settings.pending` is yes.
#include <fmt/format.h>

#include <algorithm>

#include "burnin/stage.h"
#include "inventory/model.h"
#include "inventory/profile.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/settings/converge.h"
#include "orchestrator/settings/os_view.h"
#include "orchestrator/settings/settings_json.h"
#include "orchestrator/steps/bmc_session.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/settings_before.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;
using inventory::Profile;
using settings::SettingsPlan;
using settings::SettingState;

constexpr std::chrono::seconds kLookAgain{15};

boost::json::object found_in(const SettingsPlan& plan) {
  return {{"settings", settings::to_json(plan)},
          {"facts", {{"settings.pending", plan.needs_restart() ? "yes" : "no"}}}};
}

/// "; not on this machine: acs: no BIOS attribute ...".
std::string left_out(const SettingsPlan& plan) {
  std::string text;
  if (plan.has(SettingState::absent))
    text += "; not on this machine: " + settings::described(plan, SettingState::absent);
  if (plan.has(SettingState::after_boot))
    text += "; to be set once more after the boot: " +
            settings::described(plan, SettingState::after_boot);
  for (const auto& note : plan.notes) text += "; " + note;
  return text;
}

Task<Result<SettingsPlan>> look(bmc::Bmc& bmc, const Profile& profile, const StepRequest& request) {
  CO_TRY(auto seen, co_await settings::look_at_settings(bmc, profile, request.deadline));
  co_return std::move(seen.plan);
}

Task<Result<StepEnd>> set(StepEnvironment& environment, bmc::Bmc& bmc, const Profile& profile,
                          const StepRequest& request) {
  request.waiting("the BMC's settings");
  CO_TRY(const auto seen, co_await settings::look_at_settings(bmc, profile, request.deadline));
  const auto& before = seen.plan;
  if (before.is_as_expected())
    co_return done(fmt::format("{} settings as expected{}", before.count(SettingState::as_expected),
                               left_out(before)),
                   found_in(before));
  if (before.has(SettingState::differs) || before.has(SettingState::refused)) {
    CO_TRY(const auto kept, co_await settings::take_snapshot(bmc, seen, request.deadline));
    CO_TRY(keep_settings_before(environment.store, request.node.name, kept));
    CO_TRY(co_await settings::apply_settings(bmc, before, request.deadline));
  }
  CO_TRY(const SettingsPlan after, co_await look(bmc, profile, request));
  if (after.has(SettingState::differs))
    co_return Error{Code::kFailed, "the BMC accepted the settings, and " +
                                       settings::described(after, SettingState::differs)};
  co_return done(
      fmt::format("{} settings set{}{}", before.count(SettingState::differs),
                  after.needs_restart() ? "; the next boot applies them" : "", left_out(after)),
      found_in(after));
}

/// Of a stage that says how the system sees the machine's settings.
bool shows_settings(const burnin::Findings& findings) {
  return std::ranges::any_of(findings.measurements, [](const auto& one) {
    return one.name == "iommu.on" || one.name == "numa.nodes";
  });
}

/// The newest of this run, where nothing has restarted the node since.
const burnin::Findings* facts_since_boot(const record::NodeRecord& record) {
  const burnin::Findings* facts = nullptr;
  for (const auto& step : record.steps) {
    if (step.skipped != record::Skipped::no) continue;
    const auto* kind = playbooks::step_kind(burnin::base_name(step.name));
    if (kind != nullptr && kind->restarts) facts = nullptr;
    const auto found = record.findings.find(step.name);
    const bool shows = found != record.findings.end() && shows_settings(found->second);
    if (shows) facts = &found->second;
  }
  return facts;
}

Task<Result<StepEnd>> verify(StepEnvironment& environment, bmc::Bmc& bmc, const Profile& profile,
                             const StepRequest& request) {
  CO_TRY(const SettingsPlan plan, co_await look(bmc, profile, request));
  if (plan.has(SettingState::differs) || plan.has(SettingState::refused))
    co_return Error{Code::kFailed, "after the restart " +
                                       settings::described(plan, SettingState::differs) +
                                       settings::described(plan, SettingState::refused)};
  for (const auto state : {SettingState::waits_for_boot, SettingState::after_boot})
    if (plan.has(state))
      co_return Error{Code::kBusy,
                      "settings still wait for a boot: " + settings::described(plan, state),
                      kLookAgain};
  CO_TRY(const auto record, record::node_record(environment.store, request.run, request.node.name));
  const auto* facts = facts_since_boot(record);
  const auto seen =
      facts == nullptr ? settings::OsView{} : settings::os_view(profile.settings, *facts);
  if (!seen.contradicted.empty())
    co_return Error{Code::kFailed, fmt::format("{}", fmt::join(seen.contradicted, "; "))};
  auto found = found_in(plan);
  found["by_os"] = boost::json::value_from(seen.confirmed);
  co_return done(
      fmt::format("{} settings as expected, {} by the operating system too{}",
                  plan.count(SettingState::as_expected), seen.confirmed.size(), left_out(plan)),
      std::move(found));
}

Task<Result<StepEnd>> perform_machine_settings(StepEnvironment& environment,
                                               const StepRequest& request) {
  const auto& profile = environment.inventory.profile_of(request.node);
  if (!settings::wants_settings(profile))
    co_return done("the profile wants no settings", {{"facts", {{"settings.pending", "no"}}}});
  const auto given = request.step.with.find("verify");
  const bool verifies = given != request.step.with.end() && given->second == "yes";
  const auto verb = [&](bmc::Bmc& bmc, const StepRequest& asked) {
    return verifies ? verify(environment, bmc, profile, asked)
                    : set(environment, bmc, profile, asked);
  };
  co_return co_await with_bmc(environment, request, verb);
}

}  // namespace

StepType machine_settings() {
  return {.kind = playbooks::StepKind::machine_settings, .perform = perform_machine_settings};
}

}  // namespace cupel::steps::kinds
