#include "playbooks/step_kind.h"

#include <array>

namespace cupel::playbooks {
namespace {

using burnin::ParameterRow;

constexpr std::array<std::string_view, 5> kBootTargets{"pxe", "http", "disk", "cd", "bios"};
constexpr std::array kBoot{ParameterRow{"target", ParameterRow::Kind::word,
                                        "where the next boot comes from", "pxe", kBootTargets}};
constexpr std::array kApproval{
    ParameterRow{"say", ParameterRow::Kind::text, "what the person who approves must know"}};
constexpr std::array<std::string_view, 5> kBmcFacts{"bmc.vendor", "bmc.version", "bios.version",
                                                    "system.model", "system.serial"};

// While a machine starts, its fans run at full speed and all of its memory is trained: more than
// idle, far less than loaded.
constexpr double kStarting = 0.25;

constexpr std::array kRows{
    StepKindRow{
        .kind = StepKind::bmc_password,
        .name = "bmc-password",
        .summary =
            "change the BMC's password from the factory's to the inventory's, if it has one"},
    StepKindRow{.kind = StepKind::slurm_drain,
                .name = "slurm-drain",
                .summary = "drain the node in Slurm and wait until no job runs on it",
                .touches_slurm = true},
    StepKindRow{.kind = StepKind::bmc_facts,
                .name = "bmc-facts",
                .summary = "read identity, parts and firmware from the BMC",
                .facts = kBmcFacts},
    StepKindRow{.kind = StepKind::boot_once,
                .name = "boot-once",
                .summary = "set where the next boot, and only that, comes from",
                .parameters = kBoot},
    StepKindRow{.kind = StepKind::power_on,
                .name = "power-on",
                .summary = "turn the node on and wait until its BMC says so",
                .load = kStarting},
    StepKindRow{.kind = StepKind::power_off,
                .name = "power-off",
                .summary = "shut the node down, by force if it does not listen"},
    StepKindRow{.kind = StepKind::power_cycle,
                .name = "power-cycle",
                .summary = "turn the node off and on again",
                .load = kStarting},
    StepKindRow{.kind = StepKind::ssh_wait,
                .name = "ssh-wait",
                .summary = "wait until the node answers SSH",
                .load = kStarting},
    StepKindRow{.kind = StepKind::audit,
                .name = "audit",
                .summary = "compare what was seen with the profile, part by part",
                .always = true},
    StepKindRow{.kind = StepKind::verdict,
                .name = "verdict",
                .summary = "judge all that was measured",
                .always = true},
    StepKindRow{.kind = StepKind::hand_off,
                .name = "hand-off",
                .summary = "give the node to Slurm, or keep it drained with the cause",
                .touches_slurm = true,
                .always = true},
    StepKindRow{.kind = StepKind::approval,
                .name = "approval",
                .summary = "wait until a person says that the run may go on",
                .parameters = kApproval},
};

constexpr StepKindRow kStage{
    .kind = StepKind::stage, .name = "stage", .summary = "run a burn-in stage", .once = true};

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
    // People sleep, and have weekends.
    case StepKind::approval:
      return std::chrono::days{14};
  }
  __builtin_unreachable();
}

}  // namespace cupel::playbooks
