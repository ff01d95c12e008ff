// From two records of a machine to the stages that a repair invalidates.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/stage.h"
#include "burnin/undo.h"
#include "inventory/load_profile.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/requalify/changes.h"
#include "orchestrator/requalify/selection.h"
#include "orchestrator/requalify/swap.h"

namespace cupel::requalify {
namespace {

using burnin::Change;
using burnin::ChangeKind;
using inventory::Part;
using inventory::PartKind;
using record::NodeRecord;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Stages = std::set<std::string>;

Part part(PartKind kind, const std::string& name, const std::string& serial,
          const std::string& slot = {}, const std::string& firmware = {}) {
  return {.kind = kind,
          .name = name,
          .model = "M",
          .serial = serial,
          .firmware = firmware,
          .slot = slot,
          .source = "test"};
}

/// As a DGX reports itself: its GPUs, HCAs and versions from the node, the rest from its BMC.
NodeRecord healthy() {
  NodeRecord record;
  record.node = "a01-n07";
  record.system_serial = "CHASSIS1";
  record.facts = {{"bmc.version", "23.11.21"}, {"bios.version", "1.1.3"}, {"bios.SMT", "Enabled"}};
  auto& bmc = record.bmc_parts;
  for (int i = 0; i < 4; ++i)
    bmc.push_back(part(PartKind::dimm, fmt::format("dimm A{}", i), fmt::format("D{}", i)));
  for (int i = 0; i < 2; ++i) {
    bmc.push_back(part(PartKind::cpu, fmt::format("cpu{}", i), fmt::format("C{}", i)));
    bmc.push_back(part(PartKind::psu, fmt::format("psu{}", i), fmt::format("P{}", i), "", "1.0"));
    bmc.push_back(part(PartKind::fan, fmt::format("fan{}", i), fmt::format("F{}", i)));
    bmc.push_back(
        part(PartKind::nvme, fmt::format("nvme{}", i), fmt::format("N{}", i), "", "GDC5"));
  }
  bmc.push_back(part(PartKind::drive, "sata0", "S0"));
  bmc.push_back(part(PartKind::switch_chip, "nvswitch0", "W0"));
  bmc.push_back(part(PartKind::bmc, "bmc", "B0"));
  bmc.push_back(part(PartKind::firmware, "HostBMC_0", "", "", "23.11.21"));
  bmc.push_back(part(PartKind::firmware, "HostBIOS_0", "", "", "1.1.3"));
  bmc.push_back(part(PartKind::firmware, "CPLDMB_0", "", "", "7"));
  auto& gpus = record.findings["gpu-facts"].parts;
  for (int i = 0; i < 8; ++i)
    gpus.push_back(part(PartKind::gpu, fmt::format("gpu{}", i), fmt::format("G{}", i),
                        fmt::format("0000:{}b:00.0", i), "96.00"));
  gpus.push_back(part(PartKind::firmware, "driver", "", "", "550.90"));
  auto& node = record.findings["node-facts"].parts;
  node.push_back(part(PartKind::hca, "mlx5_0", "H0", "0000:17:00.0", "28.39"));
  node.push_back(part(PartKind::hca, "mlx5_1", "H1", "0000:18:00.0", "28.39"));
  node.push_back(part(PartKind::nic, "eth0", "E0"));
  node.push_back(part(PartKind::dpu, "dpu0", "U0"));
  node.push_back(part(PartKind::firmware, "kernel", "", "", "6.1.0-18"));
  for (const auto* step : {"node-facts", "gpu-facts"})
    record.steps.push_back({.name = step, .outcome = "done"});
  return record;
}

Part& of(NodeRecord& record, const std::string& name) {
  for (auto& each : record.bmc_parts)
    if (each.name == name) return each;
  for (auto& [stage, findings] : record.findings)
    for (auto& each : findings.parts)
      if (each.name == name) return each;
  throw std::runtime_error{"no part " + name};
}

constexpr const char* kEverything = R"(playbook: everything
steps:
  - step: slurm-drain
  - step: bmc-facts
  - step: power-on
  - step: ssh-wait
  - stage: node-facts
  - stage: gpu-facts
  - stage: facts
  - {stage: cpu, with: {duration: 2h}}
  - {stage: memory, with: {duration: 5h}}
  - {stage: nvme}
  - {stage: gemm, with: {duration: 8h}}
  - {stage: hbm, with: {duration: 2h}}
  - {stage: pcie}
  - {stage: p2p}
  - {stage: collective}
  - {stage: train, with: {duration: 4h}}
  - {stage: thermal, with: {load: gpu, duration: 2h}}
  - stage: psu
  - {stage: watch, with: {duration: 30m}}
  - stage: sel
  - {stage: gpu-facts, as: after}
  - step: audit
  - step: verdict
  - step: hand-off
)";

struct Machine {
  inventory::Inventory inventory{};
  playbooks::Playbook playbook{};
  const inventory::Node& node() const { return inventory.nodes.front(); }
};

Machine dgx() {
  Machine made;
  std::vector<inventory::Problem> problems;
  auto profile = inventory::ProfileSource{"/nowhere"}.load("dgx-h100", problems).value();
  inventory::Node node;
  node.name = "a01-n07";
  node.profile = profile.name;
  made.inventory.nodes.push_back(node);
  made.inventory.profiles.emplace(profile.name, std::move(profile));
  auto playbook = playbooks::parse_playbook(kEverything, "everything.yaml", problems);
  EXPECT_TRUE(playbook) << to_string(problems);
  made.playbook = *std::move(playbook);
  return made;
}

Selection selected(const std::vector<Change>& changes) {
  const auto machine = dgx();
  auto selection = select_stages(machine.playbook, machine.inventory, machine.node(),
                                 {.run = 12, .changes = changes});
  EXPECT_TRUE(selection) << selection.error().what;
  return *std::move(selection);
}

Stages names_of(const Selection& selection) {
  Stages names;
  for (const auto& each : selection.again) names.insert(each.stage);
  return names;
}

const Stages kGpu{"gemm", "hbm", "pcie", "p2p", "collective", "train", "thermal", "psu", "watch"};
const Stages kLinks{"pcie", "p2p", "collective", "train", "thermal", "watch"};
const Stages kDriver{"gemm", "hbm", "pcie", "p2p", "collective", "train", "watch"};
const Stages kBoard{"cpu", "memory", "pcie", "nvme", "p2p", "collective", "train", "watch"};
const Stages kAll{"cpu", "memory", "nvme",       "gemm", "hbm",     "pcie",
                  "p2p", "train",  "collective", "psu",  "thermal", "watch"};

struct Repair {
  const char* name;
  std::function<void(NodeRecord&)> done;
  std::string declared{};  // what its person says
  Stages again{};
};

std::vector<Repair> repairs() {
  const auto serial = [](const char* name) {
    return [name](NodeRecord& record) { of(record, name).serial += "x"; };
  };
  const auto version = [](const char* name) {
    return [name](NodeRecord& record) { of(record, name).firmware += ".1"; };
  };
  const auto nothing = [](NodeRecord&) {};
  return {
      {"a GPU was replaced", serial("gpu3"), "", kGpu},
      {"two GPUs changed places",
       [](NodeRecord& record) { std::swap(of(record, "gpu3").serial, of(record, "gpu4").serial); },
       "", kLinks},
      {"a GPU moved to another slot",
       [](NodeRecord& record) { of(record, "gpu3").slot = "0000:ff:00.0"; }, "", kLinks},
      {"a GPU's VBIOS was updated", version("gpu3"), "", kGpu},
      {"the driver was updated", version("driver"), "", kDriver},
      {"the GPU baseboard with its switches was replaced",
       serial("nvswitch0"),
       "",
       {"p2p", "collective", "train", "watch"}},
      {"a CPU was replaced",
       serial("cpu1"),
       "",
       {"cpu", "memory", "pcie", "nvme", "thermal", "psu", "train", "watch"}},
      {"a DIMM was replaced", serial("dimm A2"), "", {"memory", "watch"}},
      {"two DIMMs changed places",
       [](NodeRecord& record) {
         std::swap(of(record, "dimm A1").serial, of(record, "dimm A2").serial);
       },
       "",
       {"memory", "watch"}},
      {"an NVMe drive was replaced", serial("nvme1"), "", {"nvme", "watch"}},
      {"an NVMe drive's firmware was updated", version("nvme0"), "", {"nvme", "watch"}},
      {"a supply was replaced", serial("psu1"), "", {"psu"}},
      {"a supply's firmware was updated", version("psu0"), "", {"psu"}},
      {"a fan was replaced", serial("fan0"), "", {"thermal"}},
      {"the BMC was replaced", serial("bmc"), "", {"psu", "thermal"}},
      {"the BMC's firmware was updated", version("HostBMC_0"), "", {"psu", "thermal"}},
      {"the BIOS was updated", version("HostBIOS_0"), "", kBoard},
      {"a BIOS setting was changed",
       [](NodeRecord& record) { record.facts["bios.SMT"] = "Disabled"; }, "", kBoard},
      {"the kernel was updated",
       version("kernel"),
       "",
       {"cpu", "nvme", "pcie", "p2p", "collective", "train", "watch"}},
      {"the firmware of a part that no rule knows was updated", version("CPLDMB_0"), "", kAll},
      {"an HCA was replaced, in a playbook without stages of links",
       serial("mlx5_1"),
       "",
       {"watch"}},
      {"an HCA's firmware was updated", version("mlx5_0"), "", {"watch"}},
      {"a cable was replaced, as its person says", nothing, "cable:mlx5_1", {"watch"}},
      {"a GPU was reseated, as its person says", nothing, "gpu3", kGpu},
      {"a GPU is gone",
       [](NodeRecord& record) {
         std::erase_if(record.findings["gpu-facts"].parts,
                       [](const Part& each) { return each.name == "gpu7"; });
       },
       "", kGpu},
      {"a GPU and a DIMM were replaced",
       [](NodeRecord& record) {
         of(record, "gpu3").serial = "other";
         of(record, "dimm A0").serial = "other";
       },
       "",
       [] {
         auto both = kGpu;
         both.insert("memory");
         return both;
       }()},
      {"nothing", nothing, "", {}},
  };
}

TEST(Requalify, RunsTheStagesThatEachKindOfRepairMakesVoidAndNoOthers) {
  ASSERT_GE(repairs().size(), 20);
  for (const auto& repair : repairs()) {
    SCOPED_TRACE(repair.name);
    const auto before = healthy();
    auto after = healthy();
    repair.done(after);

    auto changes = changes_between(before, after);
    if (!repair.declared.empty()) changes.push_back(*declared_change(before, repair.declared));
    const auto selection = selected(changes);

    EXPECT_EQ(names_of(selection), repair.again);
    const auto kept = Stages{selection.kept.begin(), selection.kept.end()};
    for (const auto& stage : kAll)
      EXPECT_NE(kept.contains(stage), repair.again.contains(stage)) << stage;
  }
}

TEST(Requalify, SaysWhyEachStageIsRunAndHowLongAllOfItTakes) {
  auto after = healthy();
  of(after, "gpu3").serial = "G9";

  const auto selection = selected(changes_between(healthy(), after));

  ASSERT_FALSE(selection.again.empty());
  EXPECT_THAT(selection.again.front().why.front(),
              HasSubstr("gpu3 replaced: serial G3 is now serial G9: "));
  EXPECT_GT(selection.takes, std::chrono::hours{16});
  EXPECT_LT(selection.takes, selection.whole_run - std::chrono::hours{7});
  EXPECT_EQ(selection.stages, 17);
  EXPECT_EQ(selection.playbook.description, "what gpu3 replaced leaves unproven of run 12");
}

TEST(Requalify, AddsAShortStageOfTheWholeNodeWhereNoneIsAmongThem) {
  auto dimm = healthy(), gpu = healthy();
  of(dimm, "dimm A2").serial = "new";
  of(gpu, "gpu3").serial = "new";

  const auto small = selected(changes_between(healthy(), dimm));
  const auto large = selected(changes_between(healthy(), gpu));

  EXPECT_EQ(small.whole, "train@whole");
  const auto step =
      std::ranges::find(small.playbook.steps, "train@whole", &playbooks::PlaybookStep::name);
  ASSERT_NE(step, small.playbook.steps.end());
  EXPECT_EQ(step->with.at("duration"), "5m");
  EXPECT_EQ(std::prev(step)->name, "memory");
  EXPECT_EQ(large.whole, "");  // train itself is run again
}

TEST(Requalify, KeepsTheFrameOfTheRunAndItsLooks) {
  auto after = healthy();
  of(after, "psu1").serial = "new";

  const auto selection = selected(changes_between(healthy(), after));

  std::vector<std::string> steps;
  for (const auto& each : selection.playbook.steps) steps.push_back(each.name);
  EXPECT_THAT(steps, ElementsAre("slurm-drain", "bmc-facts", "power-on", "ssh-wait", "node-facts",
                                 "gpu-facts", "facts", "psu", "train@whole", "sel",
                                 "gpu-facts@after", "audit", "verdict", "hand-off"));
}

TEST(Requalify, LeavesOpenWhatOneNodeAloneCannotRenew) {
  auto machine = dgx();
  std::vector<inventory::Problem> problems;
  const auto pairs = playbooks::parse_playbook(
      "playbook: links\nsteps:\n  - step: bmc-facts\n  - stage: node-facts\n"
      "  - {stage: tcp-pair, group_by: pairs}\n  - step: audit\n  - step: verdict\n",
      "links.yaml", problems);
  ASSERT_TRUE(pairs) << to_string(problems);
  inventory::Criterion one{.stage = "tcp-pair", .measure = "tcp.rate", .parts = {""}};
  one.measure = std::string{burnin::stage("tcp-pair")->measures.front()};
  machine.inventory.profiles.begin()->second.criteria.push_back(one);
  auto after = healthy();
  of(after, "mlx5_1").serial = "new";

  const auto selection = select_stages(*pairs, machine.inventory, machine.node(),
                                       {.run = 1, .changes = changes_between(healthy(), after)});

  ASSERT_TRUE(selection) << selection.error().what;
  EXPECT_THAT(selection->open, ElementsAre("tcp-pair"));
  EXPECT_THAT(selection->again, IsEmpty());
  EXPECT_THAT(selection->voided, ElementsAre("tcp-pair"));
  EXPECT_FALSE(selection->is_empty());
}

TEST(Requalify, TakesWhatFailedBeforeASwapWhateverTheRulesSayAndHandsNothingOver) {
  const auto machine = dgx();
  Request request{.run = 12, .changes = {{ChangeKind::moved, "fan", "fan0", "", ""}}};
  request.needed = {{"gemm", "gpu3 failed there in run 12"}};
  request.hands_over = false;

  const auto selection =
      select_stages(machine.playbook, machine.inventory, machine.node(), request);

  ASSERT_TRUE(selection) << selection.error().what;
  EXPECT_EQ(names_of(*selection), (Stages{"gemm", "thermal"}));
  for (const auto& step : selection->playbook.steps) EXPECT_NE(step.name, "hand-off");
}

TEST(Requalify, RunsALookAgainThatFailedAndNamesWhatThePlaybookLacks) {
  const auto machine = dgx();
  Request request{.run = 12};
  request.needed = {{"gpu-facts", "gpu3 failed there in run 20"},
                    {"fabric-nccl", "a01-n07 failed there in run 20"}};

  const auto selection =
      select_stages(machine.playbook, machine.inventory, machine.node(), request);

  ASSERT_TRUE(selection) << selection.error().what;
  EXPECT_FALSE(selection->is_empty());
  EXPECT_EQ(names_of(*selection), (Stages{"gpu-facts", "gpu-facts@after"}));
  EXPECT_EQ(selection->whole, "train@whole");
  EXPECT_THAT(selection->elsewhere, ElementsAre("fabric-nccl"));
  EXPECT_EQ(selection->playbook.description, "what failed, with the parameters of run 12");
}

TEST(RequalifyChanges, TellsASwapOfTwoFromTwoNewParts) {
  auto swapped = healthy();
  std::swap(of(swapped, "gpu3").serial, of(swapped, "gpu4").serial);

  const auto changes = changes_between(healthy(), swapped);

  ASSERT_EQ(changes.size(), 2);
  EXPECT_EQ(changes[0],
            (Change{ChangeKind::moved, "gpu", "gpu3", "serial G3", "serial G4, which was gpu4"}));
}

TEST(RequalifyChanges, CountsAPartOnceThatItsBmcAndTheNodeReport) {
  auto before = healthy(), after = healthy();
  before.bmc_parts.push_back(part(PartKind::gpu, "GPU_SXM_4", "G3"));
  after.bmc_parts.push_back(part(PartKind::gpu, "GPU_SXM_4", "G9"));
  of(after, "gpu3").serial = "G9";

  const auto changes = changes_between(before, after);

  ASSERT_EQ(changes.size(), 1);
  EXPECT_EQ(changes.front().part, "gpu3");
}

TEST(RequalifyChanges, CountsEveryPartThatHasAnotherVersion) {
  auto after = healthy();
  for (auto& each : after.findings["gpu-facts"].parts)
    if (each.kind == PartKind::gpu) each.firmware = "97.00";

  EXPECT_EQ(changes_between(healthy(), after).size(), 8u);
}

TEST(RequalifyChanges, TakesWhatIsNotReportedForUnknownAndNotForGone) {
  auto after = healthy();
  after.findings.erase("gpu-facts");
  of(after, "dimm A2").serial = "";  // a BMC that no longer tells it

  EXPECT_THAT(changes_between(healthy(), after), IsEmpty());
  EXPECT_THAT(silent_sources(healthy(), after), ElementsAre("stage gpu-facts"));
  EXPECT_THAT(silent_sources(healthy(), healthy()), IsEmpty());
}

/// Name, serial number and PCIe address of each drive that the node reports.
struct Drive {
  const char* name;
  const char* serial;
  const char* slot;
};

NodeRecord with_drives(std::initializer_list<Drive> drives) {
  auto record = healthy();
  std::erase_if(record.bmc_parts, [](const Part& each) { return each.kind == PartKind::nvme; });
  for (const auto& each : drives)
    record.findings["node-facts"].parts.push_back(
        part(PartKind::nvme, each.name, each.serial, each.slot));
  return record;
}

const char* const kSlotA = "0000:01:00.0";
const char* const kSlotB = "0000:02:00.0";
const char* const kSlotC = "0000:03:00.0";

std::vector<std::string> drive_changes(std::initializer_list<Drive> after) {
  const auto before = with_drives({{"nvme0", "N0", kSlotA}, {"nvme1", "N1", kSlotB}});
  std::vector<std::string> all;
  for (const auto& each : changes_between(before, with_drives(after)))
    all.push_back(to_string(each));
  return all;
}

TEST(RequalifyChanges, TakesADriveThatTheKernelNumberedAnewForTheSame) {
  EXPECT_THAT(drive_changes({{"nvme0", "N1", kSlotB}, {"nvme1", "N0", kSlotA}}), IsEmpty());
  EXPECT_THAT(drive_changes({{"nvme4", "N1", kSlotB}, {"nvme0", "N0", kSlotA}}), IsEmpty());
}

TEST(RequalifyChanges, FindsDrivesThatChangedPlacesHoweverTheKernelNumbersThem) {
  EXPECT_THAT(drive_changes({{"nvme0", "N1", kSlotA}, {"nvme1", "N0", kSlotB}}),
              ElementsAre("nvme0 moved: serial N0 is now serial N1, which was nvme1",
                          "nvme1 moved: serial N1 is now serial N0, which was nvme0"));
  EXPECT_THAT(
      drive_changes({{"nvme0", "N0", kSlotB}, {"nvme1", "N1", kSlotA}}),
      ElementsAre(HasSubstr("nvme0 moved: serial N1 is now serial N0, which was at 0000:01"),
                  HasSubstr("nvme1 moved: serial N0 is now serial N1, which was at 0000:02")));
}

TEST(RequalifyChanges, FindsTheReplacedDriveBesideOneThatTheKernelNumberedAnew) {
  const auto changed = drive_changes({{"nvme0", "N1", kSlotB}, {"nvme1", "N9", kSlotA}});

  EXPECT_THAT(changed, ElementsAre("nvme1 replaced: serial N0 is now serial N9 (0000:01:00.0 "
                                   "was nvme0)"));
}

TEST(RequalifyChanges, FindsTheDriveThatIsGoneAndTheOneThatTookItsName) {
  EXPECT_THAT(drive_changes({{"nvme0", "N1", kSlotB}}),
              ElementsAre("nvme0 removed: was serial N0"));
  EXPECT_THAT(drive_changes({{"nvme0", "N1", kSlotC}}),
              ElementsAre(HasSubstr("nvme0 moved: "), "nvme0 removed: was serial N0"));
}

TEST(RequalifyChanges, GoesByNameWhereSlotsAreNotKnownOrNotOneEach) {
  const auto before = with_drives({{"nvme0", "N0", "bay"}, {"nvme1", "N1", "bay"}});
  const auto after = with_drives({{"nvme0", "N1", "bay"}, {"nvme1", "N0", "bay"}});

  const auto changes = changes_between(before, after);

  ASSERT_EQ(changes.size(), 2);
  EXPECT_EQ(changes[0].kind, ChangeKind::moved);
}

TEST(RequalifyChanges, KnowsWhatWasSaidToBeReplacedByItsFormerName) {
  const auto before = with_drives({{"nvme0", "N0", kSlotA}, {"nvme1", "N1", kSlotB}});
  const auto after = with_drives({{"nvme0", "N1", kSlotB}, {"nvme1", "N9", kSlotA}});

  EXPECT_THAT(
      unseen(std::vector{*declared_change(before, "nvme0")}, changes_between(before, after)),
      IsEmpty());
}

TEST(RequalifyChanges, RefusesAPartThatTheMachineNeverHad) {
  const auto refused = declared_change(healthy(), "gpu33");

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what,
              HasSubstr("a01-n07 had no part 'gpu33' (did you mean 'gpu3'?)"));
}

TEST(RequalifyChanges, NamesWhatWasSaidToBeReplacedAndIsTheSame) {
  const std::vector declared{*declared_change(healthy(), "gpu3"),
                             *declared_change(healthy(), "bmc")};

  EXPECT_THAT(unseen(declared, {}), ElementsAre("gpu3"));
  EXPECT_THAT(unseen(declared, std::vector{declared[0]}), IsEmpty());
}

burnin::Cause failure(const std::string& part, const std::string& criterion = "pcie.h2d",
                      std::vector<std::string> stages = {"pcie"}) {
  burnin::Cause cause;
  cause.part = part;
  cause.criterion = criterion;
  cause.stages = std::move(stages);
  return cause;
}

burnin::Checked checked(const std::string& part, burnin::Met met = burnin::Met::met) {
  return {.stage = "pcie", .part = part, .measure = "pcie.h2d", .met = met};
}

NodeRecord failed_with(const burnin::Cause& cause) {
  auto record = healthy();
  record.verdict = burnin::Verdict{burnin::Decision::fail, {cause}, {}};
  return record;
}

NodeRecord swapped_with(std::vector<burnin::Cause> causes,
                        std::vector<burnin::Checked> all = {checked("gpu3"), checked("gpu4")}) {
  auto record = healthy();
  std::swap(of(record, "gpu3").serial, of(record, "gpu4").serial);
  record.verdict = burnin::Verdict{burnin::Decision::fail, std::move(causes), std::move(all)};
  return record;
}

TEST(RequalifySwap, SaysWhetherTheFindingWentWithThePart) {
  const auto before = failed_with(failure("gpu3"));
  const auto reported = [&](std::vector<burnin::Cause> causes) {
    return read_swap(before, swapped_with(std::move(causes)), {}).front().result;
  };

  EXPECT_EQ(reported({failure("gpu4")}), SwapResult::part);
  EXPECT_EQ(reported({failure("gpu3")}), SwapResult::place);
  EXPECT_EQ(reported({}), SwapResult::gone);
  EXPECT_EQ(reported({failure("gpu3"), failure("gpu4")}), SwapResult::both);
  EXPECT_EQ(read_swap(before, before, {}).front().result, SwapResult::unmoved);
  EXPECT_EQ(to_string(read_swap(before, swapped_with({failure("gpu4")}), {}).front()),
            "gpu3 (now gpu4): pcie.h2d went with the part: replace it");
}

TEST(RequalifySwap, DecidesNothingOfWhatWasNotMeasuredAgain) {
  const auto before = failed_with(failure("gpu3"));
  const auto answer = [&](const NodeRecord& after) {
    return read_swap(before, after, {}).front().result;
  };
  auto unjudged = swapped_with({});
  unjudged.verdict.reset();
  auto gone = swapped_with({});
  of(gone, "gpu4").serial = "";

  EXPECT_EQ(answer(unjudged), SwapResult::unmeasured);
  EXPECT_EQ(answer(swapped_with({}, {})), SwapResult::unmeasured);
  EXPECT_EQ(answer(swapped_with({}, {checked("gpu3")})), SwapResult::unmeasured);
  EXPECT_EQ(answer(swapped_with({failure("gpu4")}, {checked("gpu4")})), SwapResult::unmeasured);
  EXPECT_EQ(answer(swapped_with({}, {checked("gpu3"), checked("gpu4", burnin::Met::missing)})),
            SwapResult::unmeasured);
  EXPECT_EQ(answer(gone), SwapResult::unmeasured);
  EXPECT_THAT(to_string(read_swap(before, unjudged, {}).front()),
              HasSubstr("not measured: pcie.h2d"));
}

TEST(RequalifySwap, DecidesNothingOfAPartWithoutASerialNumber) {
  auto before = failed_with(failure("gpu3"));
  of(before, "gpu3").serial = "";

  EXPECT_EQ(read_swap(before, swapped_with({}), {}).front().result, SwapResult::unmeasured);
}

TEST(RequalifySwap, ReadsPartsOfWhichAStageGaveNothing) {
  const auto silent = failed_with(failure("gpu3", "pcie"));

  EXPECT_EQ(read_swap(silent, swapped_with({failure("gpu4", "pcie")}), {}).front().result,
            SwapResult::part);
}

/// As swapped_with() leaves it, with a number of both.
NodeRecord measured_after_swap(std::vector<burnin::Cause> causes) {
  auto record = swapped_with(std::move(causes), {});
  for (const auto* name : {"gpu3", "gpu4"}) {
    burnin::Measurement number{.name = "pcie.h2d"};
    number.part = name;
    number.value = 55;
    record.findings["pcie"].measurements.push_back(number);
  }
  return record;
}

TEST(RequalifySwap, TakesAComparedNumberForMeasuredOnlyWhereItWasComparedAgain) {
  const std::vector<burnin::Compared> fleet{
      {.stage = "pcie", .part = "gpu0", .measure = "pcie.h2d", .against = burnin::Against::fleet}};
  const auto answer = [&](const char* criterion, std::vector<burnin::Cause> causes,
                          std::span<const burnin::Compared> compared) {
    const auto before = failed_with(failure("gpu3", criterion));
    return read_swap(before, measured_after_swap(std::move(causes)), compared).front().result;
  };

  EXPECT_EQ(answer("fleet: pcie.h2d", {}, fleet), SwapResult::gone);
  EXPECT_EQ(answer("fleet: pcie.h2d", {}, {}), SwapResult::unmeasured);
  EXPECT_EQ(answer("fleet: pcie.h2d", {failure("gpu4", "fleet: pcie.h2d")}, fleet),
            SwapResult::part);
  EXPECT_EQ(answer("fleet: pcie.h2d", {failure("gpu4")}, fleet), SwapResult::part);
  EXPECT_EQ(answer("history: pcie.h2d", {}, fleet), SwapResult::unmeasured);
}

TEST(RequalifySwap, DecidesNothingWhereTheVerdictIsInconclusiveAboutThePart) {
  const auto before = failed_with(failure("gpu3"));
  auto doubtful = failure("gpu4", "fleet: pcie.h2d");
  doubtful.decision = burnin::Decision::inconclusive;

  EXPECT_EQ(read_swap(before, swapped_with({doubtful}), {}).front().result, SwapResult::unmeasured);
}

/// A BMC counts bays, the node counts drives.
TEST(RequalifySwap, KnowsAPartByTheSourceThatNamedIt) {
  const auto record_with = [](const char* first, const char* second) {
    auto record = failed_with(failure("nvme1", "audit: wrong firmware", {}));
    record.audit.emplace();
    auto& node = record.findings["node-facts"].parts;
    node.push_back(part(PartKind::nvme, "nvme1", first));
    node.push_back(part(PartKind::nvme, "nvme2", second));
    record.bmc_parts.push_back(part(PartKind::nvme, "nvme9", "X1"));
    return record;
  };
  const auto before = record_with("X1", "X2");

  EXPECT_EQ(read_swap(before, before, {}).front().result, SwapResult::unmoved);
  const auto swapped = read_swap(before, record_with("X2", "X1"), {}).front();
  EXPECT_EQ(swapped.result, SwapResult::place);
  EXPECT_EQ(swapped.is_now, "nvme2");
}

TEST(RequalifySwap, KnowsAPlaceByItsSlotAndNotByTheKernelsName) {
  auto before = with_drives({{"nvme0", "N0", kSlotA}, {"nvme1", "N1", kSlotB}});
  before.verdict =
      burnin::Verdict{burnin::Decision::fail, {failure("nvme0", "nvme.read", {"nvme"})}, {}};
  const auto answer = [&](std::initializer_list<Drive> drives, const char* failed) {
    auto after = with_drives(drives);
    after.verdict =
        burnin::Verdict{burnin::Decision::fail, {failure(failed, "nvme.read", {"nvme"})}, {}};
    for (const auto* name : {"nvme0", "nvme1"})
      after.verdict->checked.push_back(
          {.stage = "nvme", .part = name, .measure = "nvme.read", .met = burnin::Met::met});
    return read_swap(before, after, {}).front();
  };
  const std::initializer_list<Drive> renamed{{"nvme0", "N1", kSlotB}, {"nvme1", "N0", kSlotA}};
  const std::initializer_list<Drive> swapped{{"nvme0", "N0", kSlotB}, {"nvme1", "N1", kSlotA}};

  EXPECT_EQ(answer(renamed, "nvme1").result, SwapResult::unmoved);
  EXPECT_EQ(answer(swapped, "nvme0").result, SwapResult::part);
  EXPECT_EQ(answer(swapped, "nvme1").result, SwapResult::place);
}

TEST(RequalifySwap, DecidesNothingWhereSeveralPartsReportOneSerialNumber) {
  auto before = failed_with(failure("gpu3"));
  for (auto& each : before.findings["gpu-facts"].parts) each.serial = "0000";
  auto after = before;
  after.verdict->checked = {checked("gpu3", burnin::Met::failed), checked("gpu7")};

  EXPECT_EQ(read_swap(before, after, {}).front().result, SwapResult::unmeasured);
}

TEST(RequalifySwap, FindsThePlaceAlsoWhereThePartIsInAnotherMachineNow) {
  const auto before = failed_with(failure("gpu3"));
  const auto with = [](std::vector<burnin::Cause> causes) {
    auto after = healthy();
    of(after, "gpu3").serial = "of another machine";
    after.verdict = burnin::Verdict{
        burnin::Decision::fail, std::move(causes), {checked("gpu3", burnin::Met::failed)}};
    return after;
  };

  EXPECT_EQ(read_swap(before, with({failure("gpu3")}), {}).front().result, SwapResult::place);
  EXPECT_EQ(read_swap(before, with({}), {}).front().result, SwapResult::unmeasured);
}

/// Logs, and what is set and set back: every run does them, and no evidence of theirs is kept.
bool is_done_by_every_run(const burnin::Stage& stage) {
  return stage.is_bmc_log || stage.is_kernel_log || stage.undo != nullptr ||
         burnin::undone_by(stage.name) != nullptr;
}

TEST(RequalifyRules, NameEveryStageSoThatNoneIsKeptForWantOfARule) {
  const auto& rules = burnin::requalify_rules();
  Stages named{rules.always.begin(), rules.always.end()};
  for (const auto& rule : rules.rules) named.insert(rule.stages.begin(), rule.stages.end());

  for (const auto& stage : burnin::stages())
    EXPECT_NE(named.contains(std::string{stage.name}), is_done_by_every_run(stage)) << stage.name;
}

TEST(RequalifyRules, MakeStagesOfSeveralNodesVoidWhereAPartOfTheirLinksChanges) {
  const auto voids = [](const char* of, ChangeKind kind, const char* stage) {
    return voided_by(burnin::requalify_rules(), {kind, of, "x"}).stages.contains(stage);
  };

  for (const auto* of : {"gpu", "switch", "hca", "nic", "dpu", "pcie", "cpu"})
    EXPECT_TRUE(voids(of, ChangeKind::replaced, "fabric-nccl")) << of;
  for (const auto* of : {"driver", "bios", "kernel"})
    EXPECT_TRUE(voids(of, ChangeKind::firmware, "fabric-nccl")) << of;
  EXPECT_TRUE(voids("cable", ChangeKind::cable, "fabric-nccl"));
  EXPECT_TRUE(voids("setting", ChangeKind::setting, "fabric-nccl"));
  for (const auto* of : {"hca", "nic", "dpu"}) {
    EXPECT_TRUE(voids(of, ChangeKind::replaced, "fabric-cables")) << of;
    EXPECT_TRUE(voids(of, ChangeKind::firmware, "roce")) << of;
  }
  EXPECT_TRUE(voids("cable", ChangeKind::cable, "fabric-cables"));
  EXPECT_TRUE(voids("setting", ChangeKind::setting, "roce"));
  EXPECT_TRUE(voids("kernel", ChangeKind::firmware, "roce"));
}

TEST(RequalifyRules, AreRefusedWithAllTheirFaults) {
  std::vector<inventory::Problem> problems;

  EXPECT_FALSE(burnin::parse_requalify_rules(
      "always: [gpu-fcts]\nrules:\n  - {of: gppu, change: replased, stages: [gemmm], why: x}\n"
      "  - {of: gpu, change: any, stages: [gemm]}\n",
      "rules.yaml", problems));

  const auto text = to_string(problems);
  for (const auto* fault :
       {"rules.yaml:1:9: there is no stage 'gpu-fcts' (did you mean 'gpu-facts'?)",
        "there is no kind of part 'gppu'", "there is no change 'replased'",
        "there is no stage 'gemmm' (did you mean 'gemm'?)", "why"})
    EXPECT_THAT(text, HasSubstr(fault));
}

}  // namespace
}  // namespace cupel::requalify
