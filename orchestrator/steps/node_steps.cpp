#include "orchestrator/steps/node_steps.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/wall_clock.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/steps/kernel_watch.h"
#include "orchestrator/steps/step_type.h"
#include "orchestrator/store/power_hold.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {

using engine::Outcome;
using engine::StepEnd;

StepEnd done(std::string detail, boost::json::object found) {
  StepEnd end;
  end.detail = std::move(detail);
  end.found = std::move(found);
  return end;
}

Result<StepEnd> ended_by(Error error) {
  if (error.code == Code::kCancelled || error.code == Code::kStorage) return error;
  StepEnd end;
  end.outcome = is_transient(error.code) ? Outcome::retry : Outcome::reject;
  // What a BMC or a tool says against its own protocol is no verdict on the machine.
  end.found["error"] = to_string(error.code);
  end.detail = std::move(error.what);
  end.retry_after = error.retry_after;
  return end;
}

void ask_for(StepEnd& end, std::vector<record::Needed> needs) {
  end.found["hands"] = record::to_json(needs);
}

std::string named_for(const inventory::Node& node, std::string advice) {
  replace_word(advice, "NODE", node.name);
  return advice;
}

Result<StepEnd> ended_by_bmc(Error error) {
  const auto code = error.code;
  auto ended = ended_by(std::move(error));
  if (!ended || !is_transient(code)) return ended;
  auto& end = *ended;
  if (code == Code::kUnreachable) {
    end.at_last = Outcome::needs_operator;
    ask_for(end, {{"look at the BMC: its network cable, its power, its lights"}});
  } else {
    end.at_last = Outcome::bmc_unresponsive;
    ask_for(end, {{"look at the BMC; pull its power for a minute where it does not recover"}});
  }
  return ended;
}

void end_if_hung(const StepEnvironment& environment, const inventory::Node& node, StepEnd& end) {
  if (end.outcome != Outcome::retry || !environment.budget) return;
  const auto budget = environment.budget(node);
  const auto patience = environment.inventory.profile_of(node).patience.bmc_restart;
  if (!budget || budget->silent < 2 || budget->silent_for < patience) return;
  end.outcome = end.at_last;
  end.detail += fmt::format(
      " (not retried: the BMC accepted {} connections in {} s and answered none; a restart takes "
      "at most {} s)",
      budget->silent, budget->silent_for.count(), patience.count());
}

Result<StepEnd> ended_by_ssh(Error error) {
  const bool silent = error.code == Code::kUnreachable || error.code == Code::kTimeout;
  auto ended = ended_by(std::move(error));
  if (!ended || !silent) return ended;
  ended->at_last = Outcome::needs_operator;
  ask_for(*ended, {{"look at the machine: its screen, its network cables"}});
  return ended;
}

Deadline with_last_word(Deadline deadline) {
  const auto margin = std::min(std::chrono::milliseconds{5000}, deadline.left() / 4);
  return Deadline::at(deadline.when() - margin);
}

namespace {

/// Only what is done once may start what goes on by itself: else nobody would find it again.
Task<Result<void>> refuse_handle(std::string) {
  co_return Error{Code::kInvalid, "a step that is not done once has no handle"};
}

/// What would take the power, the node's system or the BMC's account from under an update.
bool disturbs_an_update(playbooks::StepKind kind) {
  using enum playbooks::StepKind;
  return kind == power_on || kind == power_off || kind == power_cycle || kind == os ||
         kind == boot_ram || kind == node_firmware || kind == bmc_password ||
         kind == machine_settings || kind == bios_reset;
}

/// Nothing where the step may begin: a machine that is being written is left alone, whoever began
/// the update.
std::optional<StepEnd> wait_for_update(StepEnvironment& environment,
                                       const engine::StepRequest& request) {
  // What goes on with a handle may be what holds it.
  if (!disturbs_an_update(request.step.kind) || request.handle) return std::nullopt;
  auto why = store::power_is_held(environment.store, request.node, seconds_now(),
                                  playbooks::row_of(request.step.kind).name);
  if (!why) return std::nullopt;
  StepEnd end;
  end.outcome = Outcome::wait;
  end.at_last = Outcome::needs_operator;
  end.detail = *std::move(why);
  end.retry_after = std::chrono::seconds{30};
  return end;
}

}  // namespace

Task<Result<StepEnd>> NodeSteps::perform(engine::StepRequest request) {
  const auto& type = type_of(request.step.kind);
  if (type.reattach == nullptr) request.started = refuse_handle;
  if (auto waits = wait_for_update(environment_, request)) co_return *std::move(waits);
  const bool reattach = type.reattach != nullptr && request.handle.has_value();
  auto ended = co_await (reattach ? type.reattach : type.perform)(environment_, request);
  if (ended && playbooks::row_of(type.kind).restarts)
    KernelWatch::forget(environment_, request, *ended);
  co_return ended;
}

void NodeSteps::sensed(std::string_view node, const bmc::Sensors& sensors) {
  const auto found = environment_.board->sensors.find(node);
  if (found != environment_.board->sensors.end())
    found->second.take(sensors, std::chrono::steady_clock::now());
}

Task<Result<void>> NodeSteps::abort(engine::StepRequest request) {
  const auto& type = type_of(request.step.kind);
  if (type.abort == nullptr || !request.handle) co_return ok();
  co_return co_await type.abort(environment_, request);
}

const StepType& NodeSteps::type_of(playbooks::StepKind kind) const {
  return *std::ranges::find(types_, kind, &StepType::kind);
}

}  // namespace cupel::steps
