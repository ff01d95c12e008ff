#include "playbooks/step_kind.h"

#include <array>

namespace cupel::playbooks {
namespace {

constexpr std::array<std::string_view, 1> kBootParameters{"target"};

constexpr std::array kRows{
    StepKindRow{StepKind::bmc_password,
                "bmc-password",
                "change the BMC's password from the factory's to the inventory's, if it has one",
                {},
                false,
                false},
    StepKindRow{StepKind::slurm_drain,
                "slurm-drain",
                "drain the node in Slurm and wait until no job runs on it",
                {},
                true,
                false},
    StepKindRow{StepKind::bmc_facts,
                "bmc-facts",
                "read identity, parts and firmware from the BMC",
                {},
                false,
                false},
    StepKindRow{StepKind::boot_once, "boot-once",
                "set where the next boot, and only that, comes from", kBootParameters, false,
                false},
    StepKindRow{StepKind::power_on,
                "power-on",
                "turn the node on and wait until its BMC says so",
                {},
                false,
                false},
    StepKindRow{StepKind::power_off,
                "power-off",
                "shut the node down, by force if it does not listen",
                {},
                false,
                false},
    StepKindRow{
        StepKind::power_cycle, "power-cycle", "turn the node off and on again", {}, false, false},
    StepKindRow{
        StepKind::ssh_wait, "ssh-wait", "wait until the node answers SSH", {}, false, false},
    StepKindRow{StepKind::audit,
                "audit",
                "compare what was seen with the profile, part by part",
                {},
                false,
                true},
    StepKindRow{StepKind::verdict, "verdict", "judge all that was measured", {}, false, true},
    StepKindRow{StepKind::hand_off,
                "hand-off",
                "give the node to Slurm, or keep it drained with the cause",
                {},
                true,
                true},
};

constexpr StepKindRow kStage{StepKind::stage, "stage", "run a burn-in stage", {}, false, false};

}  // namespace

std::span<const StepKindRow> step_kinds() { return kRows; }

const StepKindRow* step_kind(std::string_view name) {
  for (const auto& row : kRows)
    if (row.name == name) return &row;
  return nullptr;
}

const StepKindRow& row_of(StepKind kind) {
  for (const auto& row : kRows)
    if (row.kind == kind) return row;
  return kStage;
}

std::chrono::seconds default_deadline(StepKind kind, const inventory::Patience& patience) {
  using std::chrono::minutes;
  switch (kind) {
    case StepKind::bmc_password:
      return minutes{2} + patience.bmc_restart;
    case StepKind::slurm_drain:
      return minutes{10};
    // A DGX H100's firmware inventory alone takes two to three minutes, and a BMC may restart.
    case StepKind::bmc_facts:
      return minutes{10} + patience.bmc_restart;
    case StepKind::boot_once:
      return minutes{2} + patience.bmc_restart;
    case StepKind::power_on:
      return patience.power_on + patience.bmc_restart;
    case StepKind::power_off:
      return minutes{5} + patience.bmc_restart;
    case StepKind::power_cycle:
      return minutes{5} + patience.power_on + patience.bmc_restart;
    case StepKind::ssh_wait:
      return patience.post;
    case StepKind::stage:
      return minutes{5};  // on top of the stage's own limit
    case StepKind::audit:
    case StepKind::verdict:
      return minutes{1};
    case StepKind::hand_off:
      return minutes{5};
  }
  __builtin_unreachable();
}

}  // namespace cupel::playbooks
