// A burn-in stage on its node: started once, under a folder's name that is journalled before, and
// found again by it.
#include <fmt/format.h>

#include "base/digest.h"
#include "burnin/disk/media.h"
#include "burnin/undo.h"
#include "inventory/identity.h"
#include "inventory/node.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/steps/bmc_watch.h"
#include "orchestrator/steps/kernel_watch.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/stage_beside.h"
#include "orchestrator/steps/stage_output.h"
#include "orchestrator/steps/stage_together.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

/// A name that no other run, store or controller has ever used: an old job's output must never be
/// taken for a new one's. The name is no secret: the folder's owner and mode keep other users of
/// the node out.
std::string fresh_folder(const StepRequest& request) {
  return fmt::format("{}/cupel-{}-run{}-{}", ssh::kJobFolder, random_hex(8), request.run,
                     request.step.name);
}

/// A node that failed before anything was changed on it is not waited for: it may be off. Nothing
/// where there is something to undo, or nobody knows: a playbook that changes nothing itself asks
/// what another one has left.
Result<std::optional<StepEnd>> nothing_to_undo(StepEnvironment& environment,
                                               const StepRequest& request) {
  const auto* undo = burnin::undone_by(request.step.name);
  if (undo == nullptr) return std::nullopt;
  TRY(const auto record, record::node_record(environment.store, request.run, request.node.name));
  const auto changes = [&](const auto& step) { return burnin::undo_of(step.name) == undo; };
  const auto changed = [&](const auto& step) { return changes(step) && step.attempts > 0; };
  const bool none = std::ranges::none_of(record.steps, changes);
  if (none || std::ranges::any_of(record.steps, changed)) return std::nullopt;
  return done("nothing was set in this run", record::to_json(undo->nothing_to_undo()));
}

/// Whether what this run has changed is really changed back, by what the stages found.
Result<void> doubt(StepEnvironment& environment, const StepRequest& request, StepEnd& end) {
  const auto* undo = burnin::undone_by(request.step.name);
  if (undo == nullptr || end.outcome != engine::Outcome::done) return ok();
  burnin::Findings undone;
  if (const auto* facts = end.found.if_contains("facts"); facts != nullptr && facts->is_object())
    for (const auto& [name, value] : facts->get_object())
      if (value.is_string()) undone.facts[std::string{name}] = value.get_string();
  TRY(const auto record, record::node_record(environment.store, request.run, request.node.name));
  std::vector<burnin::Findings> changed;
  for (const auto& [step, findings] : record.findings)
    if (burnin::undo_of(step) == undo) changed.push_back(findings);
  auto why = undo->why_in_doubt(undone, changed);
  if (why.empty()) return ok();
  end.outcome = engine::Outcome::reject;
  end.detail = std::move(why);
  return ok();
}

/// What is read around a stage of one node.
struct Around {
  LogWatch log;
  KernelWatch kernel;
};

/// Goes on by itself where this is cancelled: it is found again, or let go.
Task<Result<StepEnd>> follow_alone(StepEnvironment& environment, const StepRequest& request,
                                   Around& around, std::string folder) {
  const auto follower = std::make_shared<Follower>(
      environment, request, job_of(environment, request.node, std::move(folder)));
  environment.board->sensors.insert_or_assign(request.node.name,
                                              SensorSeries{std::chrono::steady_clock::now()});
  follower->meanwhile = [&around](ssh::Session& session) {
    return around.kernel.meanwhile(session);
  };
  auto spool = co_await follow_and_read(environment, request, follower);
  follower->meanwhile = {};
  if (!spool) co_return ended_by_ssh(std::move(spool).error());
  co_await read_beside(environment, request, spool->output);
  auto ended = read_output(environment, request, *spool);
  if (!ended) co_return ended;
  CO_TRY(doubt(environment, request, *ended));
  co_await around.kernel.after(*ended, follower->session());
  co_await around.log.after(*ended);
  ended->when_written = [follower, written = around.log.when_written(),
                         kernel_written = around.kernel.when_written()] {
    written();
    kernel_written();
    return follower->clean_up();
  };
  co_return ended;
}

/// No drive is erased by the word of an address alone. Errors: kFailed: the BMC reports another
/// machine than the inventory has.
Result<void> check_machine(StepEnvironment& environment, const StepRequest& request) {
  if (!burnin::erases_media(request.step.name)) return ok();
  TRY(const auto record, record::node_record(environment.store, request.run, request.node.name));
  const auto& expected = request.node.serial;
  const auto& seen = record.system_serial;
  const bool known = !inventory::is_no_serial(expected) && !inventory::is_no_serial(seen);
  if (!known || inventory::serial_key(expected) == inventory::serial_key(seen)) return ok();
  return Error{Code::kFailed,
               fmt::format("the BMC reports serial number '{}', and the inventory has '{}' for {}: "
                           "no drive is looked at or erased. Check the cabling, or correct the "
                           "inventory",
                           seen, expected, request.node.name)};
}

Task<Result<StepEnd>> perform_stage(StepEnvironment& environment, const StepRequest& request) {
  const bool together = !request.members.empty();
  auto folder = fresh_folder(request);
  if (together) {
    CO_TRY(co_await request.started(folder));
    co_return co_await follow_together(environment, request, std::move(folder));
  }
  if (auto same = check_machine(environment, request); !same)
    co_return ended_by(std::move(same).error());
  CO_TRY(auto nothing, nothing_to_undo(environment, request));
  if (nothing) co_return std::move(*nothing);
  Around around{LogWatch{environment, request}, KernelWatch{environment, request}};
  co_await around.log.before();
  if (!request.handle) co_await around.kernel.before();
  CO_TRY(co_await request.started(folder));
  co_return co_await follow_alone(environment, request, around, std::move(folder));
}

Task<Result<StepEnd>> reattach_stage(StepEnvironment& environment, const StepRequest& request) {
  if (!request.members.empty())
    co_return co_await follow_together(environment, request, *request.handle);
  Around around{LogWatch{environment, request}, KernelWatch{environment, request}};
  co_return co_await follow_alone(environment, request, around, *request.handle);
}

}  // namespace

StepType stage() {
  return {.kind = playbooks::StepKind::stage,
          .perform = perform_stage,
          .reattach = reattach_stage,
          .abort = end_on_nodes,
          .recheck = &kNodeAnswers};
}

}  // namespace cupel::steps::kinds
