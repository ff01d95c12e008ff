#pragma once
// The steps that a playbook may name, as data. What each one does is in orchestrator/steps/.
#include <chrono>
#include <span>
#include <string_view>

#include "burnin/stage.h"
#include "inventory/profile.h"

namespace cupel::playbooks {

enum class StepKind {
  bmc_password,
  slurm_drain,
  bmc_facts,
  boot_once,
  power_on,
  power_off,
  power_cycle,
  ssh_wait,
  stage,
  audit,
  verdict,
  hand_off,
  approval
};

struct StepKindRow {
  StepKind kind;
  std::string_view name;                                  // as a playbook says it
  std::string_view summary;                               // one line for people
  std::span<const burnin::ParameterRow> parameters = {};  // what `with:` may carry
  bool touches_slurm = false;
  bool always = false;  // runs also after an earlier step of its node has failed
  /// Must not be done twice: what it starts has a handle, journalled before it is started, by which
  /// it is found again after a crash. All others look first and find done what is done.
  bool once = false;
  /// What its node draws meanwhile, as burnin::Load::share; of a stage the stage's own.
  double load = 0;
  std::span<const std::string_view> facts = {};  // what conditions of later steps may ask
};

/// In the order in which a run usually meets them; `stage` is not among them: it is said as `stage:
/// NAME`.
std::span<const StepKindRow> step_kinds();

/// nullptr if there is none of that name.
const StepKindRow* step_kind(std::string_view name);
const StepKindRow& row_of(StepKind kind);

/// How long the whole step may take, all its tries together, unless the playbook says otherwise.
std::chrono::seconds default_deadline(StepKind kind, const inventory::Patience& patience);

}  // namespace cupel::playbooks
