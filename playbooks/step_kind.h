#pragma once
// The steps that a playbook may name, as data. What each one does is in orchestrator/steps/.
#include <chrono>
#include <span>
#include <string_view>

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
  hand_off
};

struct StepKindRow {
  StepKind kind;
  std::string_view name;                         // as a playbook says it
  std::string_view summary;                      // one line for people
  std::span<const std::string_view> parameters;  // what `with:` may carry
  bool touches_slurm;
  bool always;  // runs also after an earlier step of its node has failed
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
