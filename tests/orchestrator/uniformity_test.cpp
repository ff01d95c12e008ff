// Versions that nodes of one run report, compared with each other.
#include "orchestrator/steps/uniformity.h"

#include <gmock/gmock.h>

#include "burnin/criteria/causes.h"
#include "inventory/model.h"
#include "inventory/profile.h"
#include "orchestrator/steps/verdict.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/engine_fixture.h"

namespace cupel::steps {
namespace {

using burnin::Decision;
using inventory::Part;
using inventory::PartKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Part gpu(int index, const std::string& vbios) {
  Part part;
  part.kind = PartKind::gpu;
  part.name = "gpu" + std::to_string(index);
  part.model = "NVIDIA H100 80GB HBM3";
  part.firmware = vbios;
  return part;
}
Part firmware(const std::string& name, const std::string& version) {
  Part part;
  part.kind = PartKind::firmware;
  part.name = name;
  part.firmware = version;
  return part;
}
Part hca(const std::string& name, const std::string& board, const std::string& version) {
  Part part;
  part.kind = PartKind::hca;
  part.name = name;
  part.model = "MT4129";
  part.part_number = board;
  part.firmware = version;
  return part;
}

/// A run whose nodes reported these parts, as the engine folds the facts of an event.
class Uniformity : public ::testing::Test {
 protected:
  void report(const std::string& name, const std::vector<Part>& parts,
              const std::string& profile = "dgx-h100") {
    if (inventory_.node(name) == nullptr) {
      auto& node = inventory_.nodes.emplace_back();
      node.name = name;
      node.profile = profile;
    }
    for (const auto& [key, value] : version_facts(parts))
      run_.nodes[name].facts[std::string{key}] = value.as_string();
  }
  std::vector<std::string> differences(const std::string& name) const {
    std::vector<std::string> words;
    for (const auto& cause : version_differences(inventory_, *inventory_.node(name), run_)) {
      EXPECT_TRUE(burnin::causes().diagnose(cause, {}, {})) << cause.criterion;
      words.push_back(cause.part + ": " + cause.measured + ", expected " + cause.expected);
    }
    return words;
  }

  Decision decision_of(const std::string& name) const {
    const auto causes = version_differences(inventory_, *inventory_.node(name), run_);
    return causes.empty() ? Decision::pass : causes.front().decision;
  }
  /// The node is in the run and has reported nothing yet.
  void expect(const std::string& name) {
    report(name, {});
    auto& state = run_.nodes[name];
    state.planned = planned_;
    state.steps.resize(1);
  }
  /// It has ended without a report.
  void end(const std::string& name) { run_.nodes[name].steps[0].attempt = 1; }

  inventory::Inventory inventory_{};
  engine::RunState run_{};
  std::shared_ptr<const std::vector<playbooks::PlannedStep>> planned_ =
      std::make_shared<const std::vector<playbooks::PlannedStep>>(
          std::vector{playbooks::PlannedStep{.kind = playbooks::StepKind::verdict, .name = "v"}});
};

// Whoever is judged first sees few others: what they will report may decide otherwise.
TEST_F(Uniformity, DecidesNothingThatNodesMayStillChange) {
  for (const auto* name : {"n1", "n2", "n3"}) report(name, {firmware("driver", "590")});
  report("n4", {firmware("driver", "550")});
  for (const auto* name : {"n5", "n6"}) expect(name);

  EXPECT_THAT(differences("n4"), IsEmpty());
  EXPECT_THAT(uncompared_nodes(inventory_, *inventory_.node("n4"), run_),
              ::testing::HasSubstr("compared with 3 of 5 other nodes: with the others once"));
  report("n5", {firmware("driver", "590")});
  end("n6");
  EXPECT_THAT(differences("n4"), ElementsAre("driver: 550, expected 590, as 4 of 5 have it"));
}

TEST_F(Uniformity, DecidesWhatNoOtherNodeCanChange) {
  for (int i = 0; i < 30; ++i) report("n" + std::to_string(i), {firmware("driver", "590")});
  report("odd", {firmware("driver", "550")});
  for (int i = 0; i < 8; ++i) expect("late" + std::to_string(i));

  EXPECT_EQ(decision_of("odd"), Decision::fail);
  expect("late8");
  EXPECT_EQ(decision_of("odd"), Decision::fail) << "30 of 40";
  expect("late9");
  EXPECT_EQ(decision_of("odd"), Decision::pass) << "30 of 41 may be";
}

TEST_F(Uniformity, GivesTheSameVerdictInWhicheverOrderNodesReport) {
  const std::vector<std::string> versions{"590", "580", "590", "580", "590",
                                          "580", "590", "590", "590", "590"};
  const auto name = [](std::size_t i) { return "n" + std::to_string(i); };
  for (std::size_t i = 0; i < versions.size(); ++i) expect(name(i));
  for (std::size_t i = 0; i < versions.size(); ++i) {
    report(name(i), {firmware("driver", versions[i])});
    end(name(i));
    if (i + 1 < versions.size()) EXPECT_EQ(decision_of(name(i)), Decision::pass) << i;
  }

  for (std::size_t i = 0; i < versions.size(); ++i)
    EXPECT_EQ(decision_of(name(i)), versions[i] == "580" ? Decision::inconclusive : Decision::pass)
        << i;
  EXPECT_THAT(differences("n1"),
              ElementsAre(": driver 580, expected the same on all nodes: 590 on 7 nodes: "
                          "n[0,2,4,6-9]; 580 on 3 nodes: n[1,3,5]"));
}

TEST_F(Uniformity, ReportsASplitInSettingsWithItsNodes) {
  for (const auto* name : {"n1", "n2", "n3", "n4", "n5"}) {
    report(name, {});
    run_.nodes[name].facts["bios.Smt"] = name < std::string{"n3"} ? "Off" : "On";
  }

  EXPECT_THAT(differences("n1"),
              ElementsAre(": bios.Smt Off, expected the same on all nodes: On on 3 nodes: n[3-5]; "
                          "Off on 2 nodes: n[1-2]"));
  EXPECT_THAT(differences("n4"), IsEmpty());
}

TEST_F(Uniformity, SaysOfModulesOfTwoMakersThatTheyDiffer) {
  const auto dimm = [](const std::string& number) {
    return Part{.kind = PartKind::dimm,
                .name = "dimm A1",
                .part_number = number,
                .size_bytes = 64.0 * 1073741824};
  };
  for (const auto* name : {"n1", "n2"}) report(name, {dimm("MTC40")});
  for (const auto* name : {"n3", "n4", "n5"}) report(name, {dimm("M321")});

  EXPECT_THAT(differences("n1"), IsEmpty());
  EXPECT_THAT(compare_versions(inventory_, *inventory_.node("n1"), run_).remarks, SizeIs(1));
}

TEST_F(Uniformity, FailsNobodyForTwoVersionsThatEveryNodeHas) {
  for (const auto* name : {"n1", "n2", "n3", "n4"})
    report(name, {gpu(0, "96.00.A5"), gpu(1, "96.00.A5"), gpu(2, "96.00.89"), gpu(3, "96.00.89")});

  for (const auto* name : {"n1", "n4"}) EXPECT_THAT(differences(name), IsEmpty()) << name;
  EXPECT_THAT(compare_versions(inventory_, *inventory_.node("n1"), run_).remarks, IsEmpty());
}

TEST_F(Uniformity, DoesNotPassTwoMachinesBehindOneBmc) {
  for (const auto* name : {"n1", "n2"}) {
    report(name, {});
    run_.nodes[name].facts["bmc.mac"] = "5c:ff:35:00:00:01";
  }

  EXPECT_THAT(differences("n2"),
              ElementsAre(": 5c:ff:35:00:00:01, expected one that no other node has: n1 has it, "
                          "too"));
}

// One BMC that two nodes reach by two of its ports reports both to either, in an order of its own.
TEST_F(Uniformity, ComparesAllPortsOfBmcsAndNoWireThatEveryMachineHas) {
  const std::string wire = " 34:87:86:53:69:94";
  for (const auto* name : {"n1", "n2", "n3", "n4"}) {
    report(name, {});
    run_.nodes[name].facts["bmc.mac"] = std::string{"5c:ff:35:00:00:0"} + name[1] + wire;
  }
  EXPECT_THAT(differences("n2"), IsEmpty());
  EXPECT_THAT(nodes_that_differ(inventory_, "dgx-h100", run_), IsEmpty());

  run_.nodes["n3"].facts["bmc.mac"] = "5c:ff:35:00:00:09 5c:ff:35:00:00:01" + wire;

  EXPECT_THAT(differences("n1"),
              ElementsAre(": 5c:ff:35:00:00:01, expected one that no other node has: n3 has it, "
                          "too"));
  EXPECT_THAT(differences("n3"), SizeIs(1));
  EXPECT_THAT(differences("n2"), IsEmpty());
  EXPECT_THAT(nodes_that_differ(inventory_, "dgx-h100", run_), ElementsAre("n1", "n3"));
}

TEST_F(Uniformity, NamesTheNodeWhoseDriverDiffersFromThreeQuarters) {
  for (const auto* name : {"n1", "n2", "n3"}) report(name, {firmware("driver", "590.48.01")});
  report("n4", {firmware("driver", "550.90.07"), firmware("kernel", "6.8.0")});

  EXPECT_THAT(differences("n4"),
              ElementsAre("driver: 550.90.07, expected 590.48.01, as 3 of 4 have it"));
  EXPECT_THAT(differences("n1"), IsEmpty());
}

TEST_F(Uniformity, NamesTheGpuAndTheHcaAndComparesEachModelByItself) {
  report("n1", {gpu(0, "96.00.A5"), gpu(1, "96.00.A5"), gpu(2, "96.00.89"), gpu(3, "96.00.A5"),
                hca("mlx5_0", "MT_838", "28.41.1000"), hca("mlx5_4", "MT_999", "26.01.0001")});
  report("n2", {gpu(0, "96.00.A5"), hca("mlx5_0", "MT_838", "28.39.0001"),
                hca("mlx5_1", "MT_838", "28.41.1000")});
  report("n3", {hca("mlx5_0", "MT_838", "28.41.1000"), hca("mlx5_1", "MT_838", "28.41.1000")});

  EXPECT_THAT(differences("n1"),
              ElementsAre("gpu2: 96.00.89, expected 96.00.A5, as 4 of 5 have it"));
  EXPECT_THAT(differences("n2"),
              ElementsAre("mlx5_0: 28.39.0001, expected 28.41.1000, as 4 of 5 have it"));
}

TEST_F(Uniformity, TellsOneCauseWhereSeveralPartsOfANodeDiffer) {
  for (const auto* name : {"n1", "n2", "n3", "n4"}) report(name, {gpu(0, "B"), gpu(1, "B")});
  report("n5", {gpu(0, "A"), gpu(1, "A")});

  EXPECT_THAT(differences("n5"), ElementsAre(": gpu[0-1] A, expected B, as 8 of 10 have it"));
}

TEST_F(Uniformity, TellsWithHowManyNodesANodeWasCompared) {
  for (const auto* name : {"n1", "n2"}) report(name, {gpu(0, "B")});
  report("n3", {});
  run_.nodes["n3"];
  const auto uncompared = [&](const std::string& name) {
    return uncompared_nodes(inventory_, *inventory_.node(name), run_);
  };

  EXPECT_EQ(uncompared("n1"), "versions compared with 1 of 2 other nodes");
  EXPECT_EQ(uncompared("n3"), "") << "it reported no version of its own";
  report("n3", {gpu(0, "B")});
  EXPECT_EQ(uncompared("n1"), "");
}

TEST_F(Uniformity, FailsNobodyWhereTooFewReportedOrNoVersionIsClearlyTheCommonOne) {
  report("n1", {firmware("bios", "1.0")});
  report("n3", {firmware("bios", "2.0")});
  EXPECT_THAT(differences("n3"), IsEmpty()) << "one against one: said, and no more";
  EXPECT_THAT(
      compare_versions(inventory_, *inventory_.node("n3"), run_).remarks,
      ElementsAre("bios 2.0 differs between nodes: 1.0 on 1 nodes: n1; 2.0 on 1 nodes: n3"));

  report("n2", {firmware("bios", "1.0")});
  EXPECT_THAT(differences("n3"),
              ElementsAre(": bios 2.0, expected the same on all nodes: 1.0 on 2 nodes: n[1-2]; "
                          "2.0 on 1 nodes: n3"));
  EXPECT_THAT(differences("n1"), IsEmpty());
  EXPECT_EQ(decision_of("n3"), Decision::inconclusive);

  report("n4", {firmware("bios", "2.0")});
  for (const auto* name : {"n1", "n2", "n3", "n4"})
    EXPECT_THAT(differences(name), SizeIs(1)) << "two against two: " << name;

  for (const auto* name : {"n5", "n6", "n7", "n8"})
    report(name, {firmware("bios", "1.0")}, "a100-8");
  EXPECT_EQ(decision_of("n3"), Decision::inconclusive) << "of another profile";

  for (const auto* name : {"n9", "n10", "n11", "n12"}) report(name, {firmware("bios", "1.0")});
  EXPECT_THAT(differences("n3"), ElementsAre("bios: 2.0, expected 1.0, as 6 of 8 have it"));
}

TEST_F(Uniformity, UsesTheVersionThatANodeReportedLast) {
  for (const auto* name : {"n1", "n2", "n3", "n4"}) report(name, {firmware("driver", "590")});
  report("n5", {firmware("driver", "550")});
  ASSERT_THAT(differences("n5"), SizeIs(1));

  report("n5", {firmware("driver", "590")});

  EXPECT_THAT(differences("n5"), IsEmpty());
}

TEST_F(Uniformity, FailsANodeThatHasNoOtherCause) {
  for (const auto* name : {"n1", "n2", "n3"}) report(name, {firmware("driver", "590")});
  report("n4", {firmware("driver", "550")});
  const inventory::Profile profile;
  record::NodeRecord record;
  record.audit.emplace();
  record.bmc_reported = true;
  ASSERT_EQ(decide(profile, record).decision, Decision::pass);

  const auto verdict =
      decide(profile, record, version_differences(inventory_, *inventory_.node("n4"), run_));

  EXPECT_EQ(verdict.decision, Decision::fail);
  ASSERT_THAT(verdict.causes, SizeIs(1));
  EXPECT_EQ(verdict.causes[0].part, "driver");
}

/// What BMCs alone list. Other firmware of theirs is the baseline's to judge.
TEST_F(Uniformity, ComparesCplds) {
  auto hpe = firmware("9", "0x1E");
  hpe.model = "System Programmable Logic Device";
  for (const auto* name : {"n1", "n2", "n3", "n4"}) {
    const bool odd = name == std::string{"n4"};
    const std::string version = odd ? "1.0.9" : "1.1.2";
    if (odd) hpe.firmware = "0x1C";
    report(name, {firmware("CPLDMB_0", odd ? "0.2.0.8" : "0.2.1.9"), hpe,
                  firmware("Installed-27763-" + version + "__CPLD.Embedded.1", version),
                  firmware("HGX_FW_ERoT_BMC_0", odd ? "00.02" : "00.03")});
  }

  EXPECT_THAT(differences("n1"), IsEmpty());
  EXPECT_THAT(differences("n4"),
              ElementsAre("Installed-27763-1.0.9__CPLD.Embedded.1: 1.0.9, expected 1.1.2, as 3 of "
                          "4 have it",
                          "CPLDMB_0: 0.2.0.8, expected 0.2.1.9, as 3 of 4 have it",
                          "9: 0x1C, expected 0x1E, as 3 of 4 have it"));
}

TEST_F(Uniformity, IgnoresFactsThatAreNoVersions) {
  for (const auto* name : {"n1", "n2", "n3", "n4"}) report(name, {firmware("driver", "590")});
  run_.nodes["n4"].facts["version.driver"] = "[1";

  EXPECT_THAT(differences("n4"), IsEmpty());
  EXPECT_THAT(differences("n1"), IsEmpty());
}

using EngineGivesTheRunsState = engine::fixture::EngineTest;

TEST_F(EngineGivesTheRunsState, ToEachStepWithWhatTheOtherNodesReported) {
  struct Looking : engine::Steps {
    std::map<std::string, std::string> seen{};
    Task<Result<engine::StepEnd>> perform(engine::StepRequest request) override {
      if (request.step.kind == playbooks::StepKind::verdict)
        for (const auto& [name, node] : request.run_state->nodes)
          if (node.facts.contains("version.driver"))
            seen[request.node.name] += name + " " + node.facts.at("version.driver") + "; ";
      engine::StepEnd end;
      if (request.step.name == "gpu-facts")
        end.found["facts"] = version_facts(std::vector{firmware("driver", "590")});
      co_return end;
    }
    Task<Result<void>> abort(engine::StepRequest) override { co_return ok(); }
  } looking;
  plan_.nodes_at_once = 1;
  asio::io_context io;
  engine::Dispatcher dispatcher;
  engine::RealClock clock;
  engine::Engine engine{dispatcher, clock};
  engine.add(setup(engine::initial_state(plan_), looking, observer_));

  ASSERT_TRUE(run_to_end(io, engine.run()));

  EXPECT_EQ(looking.seen["n2"], R"(n1 {"590":["driver"]}; n2 {"590":["driver"]}; )");
}

Part drive(const std::string& name, const std::string& version, const std::string& slot) {
  Part part;
  part.kind = PartKind::nvme;
  part.name = name;
  part.model = "MZQL2";
  part.firmware = version;
  part.slot = slot;
  return part;
}

TEST_F(Uniformity, ComparesKernelsFirmwareOfDrivesAndPartNumbersOfDimms) {
  const auto dimm = [](const std::string& number) {
    Part part;
    part.kind = PartKind::dimm;
    part.name = "dimm A1";
    part.size_bytes = 64.0 * 1073741824;
    part.part_number = number;
    return part;
  };
  for (const auto* name : {"n1", "n2", "n3", "n5"})
    report(name, {firmware("kernel", "6.1"), drive("nvme0", "G5", "0000:01:00.0"), dimm("MTC40")});
  report("n4", {firmware("kernel", "6.0"), drive("nvme0", "G4", "0000:01:00.0"), dimm("M321")});

  EXPECT_THAT(differences("n4"), ElementsAre("dimm A1: M321, expected MTC40, as 4 of 5 have it",
                                             "kernel: 6.0, expected 6.1, as 4 of 5 have it",
                                             "nvme0: G4, expected G5, as 4 of 5 have it"));
  EXPECT_THAT(differences("n1"), IsEmpty());
}

TEST_F(Uniformity, NamesThePartThatSitsElsewhereOnThePcieTree) {
  for (const auto* name : {"n1", "n2", "n3"})
    report(name, {drive("nvme0", "G5", "0000:01:00.0"), drive("nvme1", "G5", "0000:02:00.0")});
  report("n4", {drive("nvme0", "G5", "0000:01:00.0"), drive("nvme1", "G5", "0000:C2:00.0")});

  EXPECT_THAT(differences("n4"),
              ElementsAre("nvme1: 0000:c2:00.0, expected 0000:02:00.0, as 3 of 4 have it"));
  EXPECT_THAT(differences("n2"), IsEmpty());
}

TEST_F(Uniformity, TakesOneAddressInTwoWritingsAndDrivesInAnotherOrderForTheSame) {
  for (const auto* name : {"n1", "n2", "n3"})
    report(name, {drive("nvme0", "G5", "0000:01:00.0"), drive("nvme1", "G5", "0000:02:00.0")});
  report("n4",
         {drive("nvme0", "G5", "00000000:02:00.0"), drive("nvme1", "G5", "00000000:01:00.0")});
  report("n5", {drive("nvme0", "G5", "Slot 4"), drive("nvme1", "G5", "02:00.0")});
  report("n6", {drive("nvme0", "G5", "0000:02:00.0")});

  for (const auto* name : {"n1", "n4", "n5", "n6"})
    EXPECT_THAT(differences(name), IsEmpty()) << name;
}

/// By place: a machine has drives of several sizes, and the kernel names them as they answer.
TEST_F(Uniformity, NamesADriveOfAnotherSizeThanTheOthersHaveInItsPlace) {
  const auto sized = [](const std::string& name, double bytes, const std::string& place) {
    auto part = drive(name, "G5", place);
    part.size_bytes = bytes;
    return part;
  };
  for (const auto* name : {"n1", "n2", "n3"})
    report(name, {sized("nvme0", 1.92e12, "0000:01:00.0"), sized("nvme1", 3.84e12, "0000:02:00.0"),
                  sized("nvme2", 3.8408e12, "0000:03:00.0")});
  report("n4", {sized("nvme0", 1.92e12, "0000:02:00.0"), sized("nvme1", 1.92e12, "0000:01:00.0"),
                sized("nvme2", 3.84e12, "0000:03:00.0")});

  EXPECT_THAT(differences("n4"),
              ElementsAre("nvme0: 1.92 TB, expected 3.84 TB, as 3 of 4 have it"));
  EXPECT_THAT(differences("n1"), IsEmpty());
}

TEST_F(Uniformity, NamesAPartOfAnotherModelThanTheOthersHaveInItsPlace) {
  const auto at = [](const std::string& name, const std::string& model, const std::string& place) {
    auto part = hca(name, "MT_0000000838", "28.41.1000");
    part.model = model;
    part.slot = place;
    return part;
  };
  const auto cpu = [](const std::string& name, const std::string& model) {
    Part part;
    part.kind = PartKind::cpu;
    part.name = name;
    part.model = model;
    return part;
  };
  for (const auto* name : {"n1", "n2", "n3", "n6", "n7", "n8"})
    report(name, {at("mlx5_0", "MT4129", "0000:18:00.0"), at("mlx5_1", "MT41692", "0000:29:00.0"),
                  cpu("cpu0", "Xeon 8480C"), cpu("cpu1", "Xeon 8480C")});
  report("n4", {at("mlx5_0", "MT4123", "0000:18:00.0"), at("mlx5_1", "MT41692", "0000:29:00.0"),
                cpu("cpu0", "Xeon 8480C"), cpu("cpu1", "Xeon 8470")});
  // Without its first HCA, the second one has another address than elsewhere.
  report("n5", {at("mlx5_0", "MT41692", "0000:18:00.0"), cpu("cpu0", "Xeon 8480C"),
                cpu("cpu1", "Xeon 8480C")});

  EXPECT_THAT(differences("n4"),
              ElementsAre("cpu1: Xeon 8470, expected Xeon 8480C, as 7 of 8 have it",
                          "mlx5_0: MT4123, expected MT4129, as 6 of 8 have it"));
  EXPECT_THAT(differences("n1"), IsEmpty());
  EXPECT_THAT(differences("n5"), IsEmpty()) << "what is missing is another check's to name";
}

TEST_F(Uniformity, ComparesTheCommandLineWithoutWhatIsAMachinesOwn) {
  for (const auto* name : {"n1", "n2", "n3", "n4"}) {
    report(name, {});
    run_.nodes[name].facts["kernel.command_line"] =
        std::string{"BOOT_IMAGE=/v root=UUID="} + name + " ro iommu=pt";
  }
  EXPECT_THAT(differences("n4"), IsEmpty());

  run_.nodes["n4"].facts["kernel.command_line"] = "root=/dev/md0 ro";
  EXPECT_THAT(differences("n4"),
              ElementsAre("kernel.command_line: ro, expected ro iommu=pt, as 3 of 4 have it"));
}

TEST_F(Uniformity, ComparesBmcsAndSettingsWithMachinesOfTheSameKindOfBmc) {
  for (const auto* name : {"n1", "n2", "n3", "n4"}) {
    report(name, {});
    auto& facts = run_.nodes[name].facts;
    facts["bmc.vendor"] = "NVIDIA";
    facts["bmc.version"] = "23.11";
    facts["bios.Smt"] = "Enabled";
  }
  report("other", {});
  run_.nodes["other"].facts = {{"bmc.vendor", "Dell"}, {"bmc.version", "7.10"}};
  run_.nodes["n4"].facts["bmc.version"] = "23.09";
  run_.nodes["n4"].facts["bios.Smt"] = "Disabled";

  EXPECT_THAT(differences("n4"),
              ElementsAre("bmc.version: 23.09, expected 23.11, as 3 of 4 have it",
                          "bios.Smt: Disabled, expected Enabled, as 3 of 4 have it"));
  EXPECT_THAT(differences("other"), IsEmpty());
}

// Its Redfish was away when it was asked, and IPMI tells two numbers.
TEST_F(Uniformity, TakesAVersionOfTwoNumbersForTheWholeOneThatBeginsSo) {
  for (const auto* name : {"n1", "n2", "n3", "n4"}) {
    report(name, {});
    run_.nodes[name].facts["bmc.version"] = "23.11.21";
  }
  run_.nodes["n4"].facts["bmc.version"] = "23.11";
  EXPECT_THAT(differences("n4"), IsEmpty());

  run_.nodes["n4"].facts["bmc.version"] = "23.1";
  EXPECT_THAT(differences("n4"), SizeIs(1));
}

// SMT is off on one node, and no profile names its BIOS's attribute.
TEST_F(Uniformity, ComparesWhatTheSystemSeesOfTheBiosSettings) {
  const std::vector<burnin::Measurement> usual{{"cpu.threads", "", 224, "count"},
                                               {"numa.nodes", "", 2, "count"},
                                               {"iommu.on", "", 1, ""},
                                               {"cpu.throttled", "cpu0", 0, "count"}};
  auto odd = usual;
  odd[0].value = 112;
  for (const auto* name : {"n1", "n2", "n3", "n4"}) {
    report(name, {});
    for (const auto& [fact, value] : setting_facts(name == std::string{"n4"} ? odd : usual))
      run_.nodes[name].facts[std::string{fact}] = value.as_string();
  }

  EXPECT_EQ(setting_facts(usual).size(), 3);
  EXPECT_THAT(differences("n4"), ElementsAre("cpu.threads: 112, expected 224, as 3 of 4 have it"));
  EXPECT_THAT(differences("n1"), IsEmpty());
}

/// One DIMM that is slower than the others of its node is what that node's own facts find.
TEST_F(Uniformity, ComparesTheRateOfTheMemory) {
  for (const auto* name : {"n1", "n2", "n3", "n4", "n5"}) {
    report(name, {});
    const double slow = name == std::string{"n4"} ? 3600 : 4800;
    const double odd = name == std::string{"n5"} ? 3600 : slow;
    const std::vector<burnin::Measurement> rates{{"dimm.speed", "dimm A1", slow, "MT/s"},
                                                 {"dimm.speed", "dimm A2", odd, "MT/s"}};
    for (const auto& [fact, value] : setting_facts(rates))
      run_.nodes[name].facts[std::string{fact}] = value.as_string();
  }

  EXPECT_THAT(differences("n4"), ElementsAre("dimm.speed: 3600, expected 4800, as 4 of 5 have it"));
  for (const auto* name : {"n1", "n5"}) EXPECT_THAT(differences(name), IsEmpty()) << name;
}

TEST_F(Uniformity, DoesNotPassTwoMachinesOfOneSerialNumber) {
  for (const auto* name : {"n1", "n2", "n3"}) {
    report(name, {});
    run_.nodes[name].facts["system.serial"] = std::string{"1660"} + name;
  }
  EXPECT_THAT(differences("n2"), IsEmpty());

  run_.nodes["n3"].facts["system.serial"] = "1660n2";
  EXPECT_THAT(differences("n2"),
              ElementsAre(": 1660n2, expected one that no other node has: n3 has it, too"));
  for (const auto* name : {"n2", "n3"})
    run_.nodes[name].facts["system.serial"] = "To Be Filled By O.E.M.";
  EXPECT_THAT(differences("n2"), IsEmpty());
  run_.nodes["n2"].facts["system.serial"] = "SGH 500AA02";
  run_.nodes["n3"].facts["system.serial"] = "sgh500aa02";
  EXPECT_THAT(differences("n2"), SizeIs(1));
}

TEST_F(Uniformity, PassesMachinesBehindOneBmcThatHaveTheSerialNumberOfTheirBlade) {
  for (const auto* name : {"n1", "n2", "n3"}) {
    report(name, {});
    run_.nodes[name].facts["system.serial"] = "DP20300012";
  }
  for (auto& node : inventory_.nodes)
    if (node.name != "n3") node.bmc.shared_as = "n1";

  inventory_.nodes[2].bmc.shared_as = "n3";
  EXPECT_THAT(differences("n3"), ::testing::SizeIs(1)) << "it is behind another";
  run_.nodes["n3"].facts["system.serial"] = "DP20300013";
  EXPECT_THAT(differences("n1"), IsEmpty());
}

}  // namespace
}  // namespace cupel::steps
