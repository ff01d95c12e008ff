#pragma once
// The steps that a playbook may name: what reading and planning need of each, as one table. The
// code of each is a row of orchestrator/steps/step_type.h, in a file of its own.
#include <chrono>
#include <span>
#include <string_view>

#include "burnin/job.h"
#include "inventory/fwd.h"

namespace cupel::playbooks {

enum class StepKind {
  slurm_hold,
  bmc_password,
  slurm_drain,
  bmc_facts,
  firmware,
  machine_settings,
  bios_reset,
  boot_once,
  os,
  boot_ram,
  power_on,
  power_off,
  power_cycle,
  ssh_wait,
  node_firmware,
  bmc_clear,
  stage,
  audit,
  verdict,
  hand_off,
  slurm_job,
  approval
};

/// A time that depends on how patient a profile is: so much, and so many times what it allows for
/// power-on, POST and a restart of the BMC.
struct StepTime {
  std::chrono::seconds base{};
  double power_on = 0;
  double post = 0;
  double bmc_restart = 0;

  std::chrono::seconds of(const inventory::Patience& patience) const;
};

struct StepKindRow {
  StepKind kind;
  std::string_view name;                               // as a playbook says it
  std::string_view summary;                            // one line for people
  StepTime expected{.base = std::chrono::seconds{2}};  // for the ETA; of a stage its job's own
  /// How long the whole step may take, all its tries together, unless the playbook says otherwise.
  /// Of a stage: on top of the stage's own limit.
  StepTime deadline{};
  std::span<const burnin::ParameterRow> parameters = {};  // what `with:` may carry
  bool touches_slurm = false;
  /// At the head of a playbook: done on all nodes, whatever the canary lets in.
  bool before_canary = false;
  bool always = false;  // runs also after an earlier step of its node has failed
  /// Must not be done twice: what it starts has a handle, journalled before it is started, by which
  /// it is found again after a crash. All others look first and find done what is done.
  bool once = false;
  /// Behind it the node may run another system, or the same one booted anew: what was read of it
  /// before holds no more.
  bool restarts = false;
  /// What its node draws meanwhile, as burnin::Load::share; of a stage the stage's own.
  double load = 0;
  std::span<const std::string_view> facts = {};  // what conditions of later steps may ask
  bool proves = false;  // without it a verdict lacks evidence; of a stage the profile decides
  /// Gives numbers of its own, which criteria under its name judge as those of a stage.
  bool measures = false;
};

/// In the order in which a run usually meets them; `stage` is not among them: it is written as
/// `stage: NAME`.
std::span<const StepKindRow> step_kinds();

/// nullptr if there is none of that name.
const StepKindRow* step_kind(std::string_view name);
const StepKindRow& row_of(StepKind kind);

}  // namespace cupel::playbooks
