#include "playbooks/step_kind.h"

#include <array>

#include "burnin/criteria/fleet_criteria.h"
#include "inventory/patience.h"

namespace cupel::playbooks {
namespace {

using burnin::ParameterRow;

constexpr std::array<std::string_view, 5> kBootTargets{"pxe", "http", "disk", "cd", "bios"};
constexpr std::array kBoot{ParameterRow{"target", ParameterRow::Kind::word,
                                        "where the next boot comes from", "pxe", kBootTargets}};
constexpr std::array kApproval{
    ParameterRow{"message", ParameterRow::Kind::text, "what the operator must know to approve"}};
constexpr std::array<std::string_view, 2> kYesNo{"yes", "no"};
constexpr std::array kSettings{ParameterRow{
    "verify", ParameterRow::Kind::word,
    "change nothing: after the restart, fail where a setting is not as expected", "no", kYesNo}};
constexpr std::array kBiosReset{
    ParameterRow{"verify", ParameterRow::Kind::word,
                 "change nothing: wait until a boot has reset it, and compare it with the defaults",
                 "no", kYesNo}};
constexpr ParameterRow kWindow{
    "window", ParameterRow::Kind::text,
    "in UTC: begin no update that would not end in it, such as Sat 02:00 +6h; any: at any time",
    "any"};
constexpr std::array kFirmware{
    kWindow, ParameterRow{"rewrite", ParameterRow::Kind::text,
                          "components to write again although they run their version, and no "
                          "other, joined by commas; none: write what is off the baseline",
                          "none"}};
constexpr std::array kNodeFirmware{kWindow};
constexpr std::array kBmcReading{ParameterRow{
    "answer",
    ParameterRow::Kind::duration,
    "how long a BMC that does not answer is asked again, at most until the step's deadline",
    "1h",
    {},
    1,
    604800}};
constexpr std::array<std::string_view, 1> kSettingsFacts{"settings.pending"};
constexpr std::array<std::string_view, 5> kBmcFacts{"bmc.vendor", "bmc.version", "bios.version",
                                                    "system.model", "system.serial"};

constexpr std::array<std::string_view, 3> kErase{"none", "nvme", "ata"};
constexpr ParameterRow kRam{"ram", ParameterRow::Kind::text,
                            "the RAM system, of the image store; profile: the one of its profile",
                            "profile"};
constexpr ParameterRow kWays{
    "ways", ParameterRow::Kind::text,
    "ways to boot, the first to be tried first: http, dhcp-http, pxe, media, joined by commas; "
    "profile: those of the profile or the inventory",
    "profile"};
constexpr std::array kOs{
    ParameterRow{"image", ParameterRow::Kind::text,
                 "the image, of the image store; profile: the one of its profile", "profile"},
    ParameterRow{"sha256", ParameterRow::Kind::text,
                 "the digest, printed by cupel image list; profile: the one of its "
                 "profile",
                 "profile"},
    kRam,
    kWays,
    ParameterRow{"wipe", ParameterRow::Kind::word,
                 "write a disk that holds something, where the inventory names its serial or WWN",
                 "no", kYesNo},
    ParameterRow{"erase", ParameterRow::Kind::word,
                 "erase the whole disk before it is written, by the drive itself; needs wipe",
                 "none", kErase},
    ParameterRow{"reinstall", ParameterRow::Kind::word,
                 "install it also where the requested image runs already", "no", kYesNo},
    ParameterRow{"network_first", ParameterRow::Kind::word,
                 "the EFI boot order has the network before the disk", "no", kYesNo},
    ParameterRow{"network_drop", ParameterRow::Kind::word,
                 "the EFI boot order leaves the network out", "no", kYesNo}};
constexpr std::array kBootRam{kRam, kWays};
constexpr std::array kSlurmJob{ParameterRow{"job", ParameterRow::Kind::text,
                                            "the job, by its name in the inventory's slurm: jobs"},
                               ParameterRow{"limit",
                                            ParameterRow::Kind::duration,
                                            "how long it may run once it has started",
                                            "1h",
                                            {},
                                            60,
                                            604800}};

// While a machine starts, its fans run at full speed and all of its memory is trained: more than
// idle, far less than loaded.
constexpr double kStarting = 0.25;

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::array kRows{
    StepKindRow{.kind = StepKind::slurm_hold,
                .name = "slurm-hold",
                .summary = "keep new jobs away from the node, before the canary begins",
                .deadline = {.base = minutes{2}},
                .touches_slurm = true,
                .before_canary = true},
    StepKindRow{
        .kind = StepKind::bmc_password,
        .name = "bmc-password",
        .summary = "change the BMC's password from the factory's to the inventory's, if it has one",
        .deadline = {.base = minutes{2}, .bmc_restart = 1}},
    StepKindRow{.kind = StepKind::slurm_drain,
                .name = "slurm-drain",
                .summary = "drain the node in Slurm and wait until no job runs on it",
                .deadline = {.base = minutes{10}},
                .touches_slurm = true},
    StepKindRow{.kind = StepKind::bmc_facts,
                .name = "bmc-facts",
                .summary = "read identity, parts and firmware from the BMC",
                .expected = {.base = seconds{30}},
                // A DGX H100's firmware inventory alone takes two to three minutes.
                .deadline = {.base = minutes{10}, .bmc_restart = 1},
                .parameters = kBmcReading,
                .facts = kBmcFacts,
                .proves = true},
    StepKindRow{
        .kind = StepKind::firmware,
        .name = "firmware",
        .summary = "bring firmware to the profile's baseline, from images that the site signed",
        .expected = {.base = minutes{20}, .post = 1, .bmc_restart = 1},
        .deadline = {.base = hours{6}, .post = 8, .bmc_restart = 12},
        .parameters = kFirmware,
        .once = true,
        .restarts = true,
        .load = kStarting},
    StepKindRow{.kind = StepKind::machine_settings,
                .name = "machine-settings",
                .summary = "set what the profile wants of the BIOS and the BMC; restarts nothing",
                .expected = {.base = seconds{30}},
                .deadline = {.base = minutes{10}, .bmc_restart = 1},
                .parameters = kSettings,
                .facts = kSettingsFacts},
    StepKindRow{.kind = StepKind::bios_reset,
                .name = "bios-reset",
                .summary = "set the BIOS to its maker's defaults at the next boot; restarts "
                           "nothing",
                .expected = {.base = seconds{30}},
                .deadline = {.base = minutes{10}, .post = 1, .bmc_restart = 1},
                .parameters = kBiosReset},
    StepKindRow{.kind = StepKind::boot_once,
                .name = "boot-once",
                .summary = "set where the next boot, and only that, comes from",
                .deadline = {.base = minutes{2}, .bmc_restart = 1},
                .parameters = kBoot},
    StepKindRow{.kind = StepKind::os,
                .name = "os",
                .summary = "write an operating system to the node's disk, and wait until it is up",
                .expected = {.base = minutes{5}, .post = 1},
                .deadline = {.base = hours{2}, .post = 5, .bmc_restart = 2},
                .parameters = kOs,
                .once = true,
                .restarts = true,
                .load = kStarting},
    StepKindRow{.kind = StepKind::boot_ram,
                .name = "boot-ram",
                .summary = "boot the RAM system and leave it up: a node without an OS burns in",
                .expected = {.base = minutes{1}, .post = 0.5},
                .deadline = {.base = minutes{20}, .post = 4, .bmc_restart = 2},
                .parameters = kBootRam,
                .once = true,
                .restarts = true,
                .load = kStarting},
    StepKindRow{.kind = StepKind::power_on,
                .name = "power-on",
                .summary = "turn the node on and wait until its BMC reports it",
                .expected = {.power_on = 0.25},
                .deadline = {.power_on = 1, .bmc_restart = 1},
                .restarts = true,
                .load = kStarting},
    StepKindRow{.kind = StepKind::power_off,
                .name = "power-off",
                .summary = "shut the node down, by force if it does not listen",
                .deadline = {.base = minutes{5}, .bmc_restart = 1},
                .restarts = true},
    StepKindRow{.kind = StepKind::power_cycle,
                .name = "power-cycle",
                .summary = "turn the node off and on again",
                .expected = {.power_on = 0.25},
                .deadline = {.base = minutes{5}, .power_on = 1, .bmc_restart = 1},
                .restarts = true,
                .load = kStarting},
    StepKindRow{.kind = StepKind::ssh_wait,
                .name = "ssh-wait",
                .summary = "wait until the node answers SSH",
                .expected = {.post = 0.5},
                .deadline = {.post = 1},
                .load = kStarting},
    StepKindRow{.kind = StepKind::node_firmware,
                .name = "node-firmware",
                .summary = "write firmware on the node, by mstflint, nvme or the site's own tool",
                .expected = {.base = minutes{10}, .post = 1},
                .deadline = {.base = hours{6}, .post = 8},
                .parameters = kNodeFirmware,
                .once = true,
                .restarts = true,
                .load = kStarting},
    StepKindRow{.kind = StepKind::bmc_clear,
                .name = "bmc-clear",
                .summary = "clear the BMC's event log once it is kept as evidence, and list its "
                           "accounts",
                .expected = {.base = seconds{20}},
                .deadline = {.base = minutes{10}, .bmc_restart = 1}},
    StepKindRow{.kind = StepKind::audit,
                .name = "audit",
                .summary = "compare what was seen with the profile, part by part",
                .deadline = {.base = minutes{1}},
                .always = true,
                .proves = true},
    StepKindRow{.kind = StepKind::verdict,
                .name = "verdict",
                .summary = "judge all that was measured; waits up to 10 minutes for other nodes "
                           "that are measured, to compare with them",
                .deadline = {.base = minutes{11}},
                .parameters = burnin::kFleetParameters,
                .always = true},
    StepKindRow{.kind = StepKind::hand_off,
                .name = "hand-off",
                .summary = "give the node to Slurm, or keep it drained with the cause",
                .deadline = {.base = minutes{5}},
                .touches_slurm = true,
                .always = true},
    StepKindRow{.kind = StepKind::slurm_job,
                .name = "slurm-job",
                .summary = "submit a batch script of the site's to Slurm on the nodes that were "
                           "handed over, and judge the numbers that it prints",
                .expected = {.base = minutes{1}},
                // So long it may wait for its nodes; its own limit comes on top.
                .deadline = {.base = hours{1}},
                .parameters = kSlurmJob,
                .touches_slurm = true,
                .once = true,
                .load = 1,
                .measures = true},
    StepKindRow{.kind = StepKind::approval,
                .name = "approval",
                .summary = "wait until an operator approves",
                .expected = {.base = hours{1}},
                // People sleep, and have weekends.
                .deadline = {.base = std::chrono::days{14}},
                .parameters = kApproval},
};

constexpr StepKindRow kStage{.kind = StepKind::stage,
                             .name = "stage",
                             .summary = "run a burn-in stage",
                             .deadline = {.base = minutes{5}},
                             .once = true};

}  // namespace

seconds StepTime::of(const inventory::Patience& patience) const {
  const auto sum = std::chrono::duration<double>{base} + power_on * patience.power_on +
                   post * patience.post + bmc_restart * patience.bmc_restart;
  return std::chrono::floor<seconds>(sum);
}

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

}  // namespace cupel::playbooks
