#pragma once
// What each kind of step does, as one table: a row for each kind, with its code, in a file of its
// own in kinds/. What reading and planning need of a kind is its row in playbooks/step_kind.h.
#include <optional>
#include <set>

#include "inventory/fwd.h"
#include "orchestrator/steps/node_steps.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {

/// What a re-check may ask of the world.
struct RecheckRequest {
  const inventory::Inventory& inventory;
  const inventory::Node& node;
  const std::set<std::string>& parts;  // that the step missed
  const std::function<std::unique_ptr<bmc::Bmc>(const inventory::Node&)>& bmc;
  const std::function<Task<Result<std::unique_ptr<ssh::Session>>>(const inventory::Node&,
                                                                  Deadline)>& ssh;
};

/// How it shows from afar that a person has repaired what the step failed of.
struct Recheck {
  /// Touches nothing. False where it cannot find out.
  Task<bool> (*look)(RecheckRequest request);
  std::string_view seen;  // what it saw then, for people: "its BMC answers again"
  std::size_t every = 1;  // a costly look is made once in so many rounds
  /// Where the node goes on: at its first step of this kind. Else at the step that failed.
  std::optional<playbooks::StepKind> from{};
};

extern const Recheck kBmcAnswers, kNodeAnswers, kPartsAreBack;

struct StepType {
  playbooks::StepKind kind{};

  /// One try. Looks before it acts, so that a try after a crash repeats nothing. Of a kind that is
  /// done once (StepKindRow::once): only while the step has no handle. It journals one by
  /// `request.started` before it acts, by which reattach() and abort() find what was started, and
  /// may replace it by a better one once there is one (the URI of a BMC's task). Errors: as
  /// engine::Steps::perform().
  Task<Result<engine::StepEnd>> (*perform)(StepEnvironment& environment,
                                           const engine::StepRequest& request);

  /// Of a kind that is done once: a try of a step that has a handle. What the handle names may be
  /// under way, have ended, or never have begun. Errors: as perform().
  Task<Result<engine::StepEnd>> (*reattach)(StepEnvironment& environment,
                                            const engine::StepRequest& request) = nullptr;

  /// Of a kind that is done once: ends what the handle names. Idempotent. Errors: as
  /// engine::Steps::abort().
  Task<Result<void>> (*abort)(StepEnvironment& environment,
                              const engine::StepRequest& request) = nullptr;

  const Recheck* recheck = &kBmcAnswers;
};

/// One for each kind of playbooks/step_kind.h.
std::span<const StepType> step_types();
const StepType& step_type(playbooks::StepKind kind);

}  // namespace cupel::steps
