// The stage fabric-nccl: which nodes run together, their jobs, and what cupel-burn's reports of all
// nodes become.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "burnin/fabric/across_judge.h"
#include "burnin/fabric/nccl_jobs.h"
#include "burnin/group_stage.h"
#include "inventory/expected_parts.h"
#include "inventory/fabric_rule.h"
#include "inventory/node_range.h"
#include "inventory/part_kind.h"
#include "inventory/profile.h"
#include "tests/burnin/agent_order.h"

namespace cupel::burnin {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<Member> members(int count) {
  std::vector<Member> all;
  for (int i = 0; i < count; ++i)
    all.push_back({fmt::format("n{}", i + 1), fmt::format("10.0.0.{}", i + 1)});
  return all;
}

constexpr const char* kStart =
    R"({"kind":"start","program":"cupel-burn","version":"0.1.0","protocol":1,"command":"collective","nccl":"2.28.9","gpus":[],"parameters":{}})"
    "\n";
constexpr const char* kJoined = R"({"kind":"joined","base":0,"here":2,"of":4})"
                                "\n";

std::string result(std::string_view name, std::string_view part, double value,
                   std::string_view unit, int bytes) {
  return fmt::format(
      "{{\"kind\":\"result\",\"name\":\"{}\",\"part\":\"{}\",\"value\":{},\"unit\":\"{}\","
      "\"labels\":{{\"op\":\"all_reduce\",\"bytes\":\"{}\",\"ranks\":\"4\"}},\"count\":1,"
      "\"spread\":0}}\n",
      name, part, value, unit, bytes);
}

std::string end(bool complete, int faults = 0) {
  return fmt::format(
      "{{\"kind\":\"end\",\"seconds\":9,\"faults\":{},\"complete\":{},\"stopped\":false}}\n",
      faults, complete);
}

struct NcclText {
  double bus = 90;
  double own = 100;  // us, of its second GPU
  int errors = 0;

  Output output() const {
    std::string text = std::string{kStart} + kJoined;
    for (const int bytes : {4096, 65536}) {
      const double rate = bytes == 65536 ? bus : bus / 3;
      text += result("across.time", "", 5, "us", bytes) +
              result("across.algbw", "", rate / 1.5, "GB/s", bytes) +
              result("across.busbw", "", rate, "GB/s", bytes) +
              result("across.own", "gpu0", 100, "us", bytes) +
              result("across.own", "gpu1", own, "us", bytes);
    }
    for (int i = 0; i < errors; ++i)
      text +=
          "{\"kind\":\"fault\",\"what\":\"wrong-result\",\"part\":\"gpu1\",\"detail\":\"1 bit\"}\n";
    text += end(true, errors) + fmt::format("cupel-run-status: {}\n", errors > 0 ? 1 : 0);
    return {.text = text, .errors = {}};
  }
};

Output hung(std::string_view entered) {
  return {.text = fmt::format(
              "{}{}{{\"kind\":\"hang\",\"part\":\"\",\"doing\":\"all_reduce\",\"seconds\":60}}\n"
              "{{\"kind\":\"ranks\",\"base\":0,\"of\":4,\"entered\":[{}],\"doing\":\"all_reduce of "
              "64 KiB over 4 ranks\"}}\n{}cupel-run-status: 3\n",
              kStart, kJoined, entered, end(false)),
          .errors = {}};
}

Output refused(std::string_view code, std::string_view message) {
  return {.text = fmt::format(
              "{}{{\"kind\":\"error\",\"code\":\"{}\",\"message\":\"{}\"}}\n{}cupel-run-status: "
              "2\n",
              kStart, code, message, end(false)),
          .errors = {}};
}

using Outputs = std::vector<std::optional<Output>>;

const GroupStage& nccl() { return *stage("fabric-nccl")->group; }

/// All rounds on these nodes: `answer` is what a node says in a round.
template <class Answer>
Result<GroupFindings> run(int count, const Parameters& with, const Answer& answer,
                          const inventory::Fabric* fabric = nullptr, double link_loss = 0,
                          const inventory::Profile& profile = {}, int absent = -1) {
  const auto nodes = members(count);
  const auto pairs = [&](std::string_view stage) {
    std::vector<std::optional<Findings>> before(nodes.size());
    if (stage == "fabric-nccl") {  // in an earlier step
      for (int i = 0; i < count && absent >= 0; ++i)
        before[static_cast<std::size_t>(i)].emplace().measurements = {
            {"nccl.absent", "", i == absent ? 1.0 : 0.0, "count"}};
      return before;
    }
    EXPECT_EQ(stage, "fabric-pairs");
    Findings found;
    found.measurements = {{"fabric.flows", "", 8, "count"},
                          {"fabric.link.loss", "mlx5_0", link_loss, "%"}};
    return std::vector<std::optional<Findings>>(nodes.size(), found);
  };
  auto begun = nccl().rounds({profile, nodes, with, fabric, nullptr, pairs});
  if (!begun) return begun.error();
  std::vector<bool> left(nodes.size());
  int round = 0;
  for (auto jobs = (*begun)->next(); !jobs.empty(); jobs = (*begun)->next(), ++round) {
    Outputs outputs(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (jobs[i] && !left[i]) outputs[i] = answer(round, static_cast<int>(i), *jobs[i]);
      if (jobs[i] && !outputs[i]) left[i] = true;
    }
    (*begun)->take(outputs, left);
  }
  return (*begun)->findings();
}

/// What NCCL's log said of the ways, before the line that ends the report.
Output with_transport(Output output, std::string_view channels, std::string_view ports,
                      std::string_view environment) {
  const auto at = output.text.find("{\"kind\":\"end\"");
  output.text.insert(at, fmt::format("{{\"kind\":\"transport\",\"channels\":{{{}}},\"ports\":"
                                     "{{{}}}}}\n",
                                     channels, ports));
  constexpr std::string_view kNone = "\"parameters\":{}";
  output.text.replace(output.text.find(kNone), kNone.size(),
                      fmt::format("\"parameters\":{{\"environment\":{{{}}}}}", environment));
  return output;
}

inventory::Profile with_hcas() {
  inventory::Profile profile;
  inventory::ExpectedParts gpus, hcas;
  gpus.kind = inventory::PartKind::gpu;
  hcas.kind = inventory::PartKind::hca;
  gpus.count = hcas.count = 2;
  profile.parts = {gpus, hcas};
  return profile;
}

std::optional<double> number_of(const Findings& findings, std::string_view name,
                                std::string_view part = {}) {
  for (const auto& each : findings.measurements)
    if (each.name == name && each.part == part) return each.value;
  return std::nullopt;
}

std::string traced(const Findings& findings, std::string_view name) {
  for (const auto& each : findings.measurements)
    if (each.name == name) return each.traced_to;
  return {};
}

const Parameters kTwo{{"ranks", "2"}};

TEST(NcclStage, GivesTheSlowestNodesRateToAll) {
  const auto found = run(3, kTwo, [](int, int node, const MemberJob&) {
    return NcclText{.bus = node == 1 ? 80.0 : 90.0}.output();
  });

  ASSERT_TRUE(found) << found.error().what;
  for (const auto& member : found->members) {
    EXPECT_EQ(number_of(member, "nccl.all_reduce.busbw"), 80);
    EXPECT_EQ(number_of(member, "nccl.all_reduce.latency"), 5);
    EXPECT_EQ(number_of(member, "nccl.absent"), 0);
    EXPECT_EQ(number_of(member, "nccl.errors"), 0);
    for (const auto* name : {"n1", "n2", "n3"})
      EXPECT_EQ(number_of(member, "nccl.loss", name), std::nullopt) << "one group has no peers";
    EXPECT_EQ(member.facts.at("nccl.version"), "2.28.9");
  }
  EXPECT_THAT(found->reasons, Contains(HasSubstr("all_reduce of 65536 bytes over 6 ranks")));
}

TEST(NcclStage, NamesTheNodeAndTheRankThatHasNotEnteredWhatTheOthersWaitIn) {
  const auto found =
      run(3, kTwo, [](int, int node, const MemberJob&) { return hung(node == 1 ? "7,6" : "7,7"); });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[1], "nccl.absent"), 1);
  EXPECT_THAT(traced(found->members[1], "nccl.absent"),
              AllOf(HasSubstr("n2 (rank 3) has not entered operation 7"), HasSubstr("64 KiB")));
  for (const int other : {0, 2}) {
    EXPECT_EQ(number_of(found->members[other], "nccl.absent"), std::nullopt) << "inconclusive";
    EXPECT_THAT(found->members[other].unknown, Not(IsEmpty()));
    EXPECT_EQ(number_of(found->members[other], "nccl.undecided", other == 0 ? "n1" : "n3"), 1);
    EXPECT_THAT(traced(found->members[other], "nccl.undecided"), HasSubstr("n2 (rank 3)"));
  }
  EXPECT_EQ(number_of(found->members[1], "nccl.undecided", "n2"), std::nullopt);
}

TEST(NcclStage, AMemberWhoseJobFailedIsNamedAndTheOthersAreInconclusive) {
  const auto found = run(3, kTwo, [](int, int node, const MemberJob&) {
    return node == 2 ? std::nullopt : std::optional{refused("nccl", "not all others came")};
  });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[2], "nccl.absent"), 1);
  EXPECT_THAT(traced(found->members[2], "nccl.absent"), HasSubstr("n3 did not come"));
  EXPECT_EQ(number_of(found->members[0], "nccl.absent"), std::nullopt);
}

TEST(NcclStage, ANodeThatCouldNotBeginIsNamedWithItsReason) {
  const auto found = run(3, kTwo, [](int, int node, const MemberJob&) {
    return node == 0 ? refused("refused", "ranks 0 to 0 on the 1 GPUs of this node")
                     : refused("nccl", "not all others came within 120 s");
  });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[0], "nccl.absent"), 1);
  EXPECT_THAT(traced(found->members[0], "nccl.absent"), HasSubstr("on the 1 GPUs"));
}

TEST(NcclStage, TheOneThatTheOthersWaitForIsNamedWhereItFailsBeforeTheyBegin) {
  const auto nodes = members(3);
  const inventory::Profile profile;
  const auto found = [&](const Output& of_first) {
    auto begun = nccl().rounds({.profile = profile, .members = nodes, .parameters = kTwo});
    (*begun)->next();
    (*begun)->gave_up(0, "n1: it ended before the others had begun");
    (*begun)->take(Outputs{of_first, std::nullopt, std::nullopt}, {false, false, false});
    return (*begun)->findings();
  };

  const auto without_driver = found(refused("no-library", "no libcuda.so.1"));
  const auto without_id = found(refused("nccl", "ncclGetUniqueId: no socket interface found"));
  auto waited = refused("nccl", "not all others came within 120 s");
  waited.text.insert(waited.text.find('\n') + 1, "{\"kind\":\"nccl-id\",\"id\":\"00\"}\n");
  const auto alone = found(waited);

  ASSERT_TRUE(without_driver) << without_driver.error().what;
  EXPECT_EQ(number_of(without_driver->members[0], "nccl.absent"), 1);
  EXPECT_EQ(number_of(without_driver->members[1], "nccl.absent"), std::nullopt);
  EXPECT_THAT(traced(without_driver->members[0], "nccl.absent"), HasSubstr("no libcuda.so.1"));
  ASSERT_TRUE(without_id) << without_id.error().what;
  EXPECT_EQ(number_of(without_id->members[0], "nccl.absent"), 1);
  EXPECT_THAT(traced(without_id->members[0], "nccl.absent"), HasSubstr("no socket interface"));
  EXPECT_EQ(number_of(without_id->members[1], "nccl.undecided", "n2"), 1);
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().what, HasSubstr("ended before the others had begun"));
}

TEST(NcclStage, NamesNoNodeWhereNoRankFoundTheOthers) {
  const auto found = run(3, kTwo, [](int, int, const MemberJob&) {
    return refused("nccl", "not all others came within 120 s");
  });

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kNoMeasurement);
  EXPECT_THAT(found.error().what, HasSubstr("did not find each other"));
}

TEST(NcclStage, WrongResultsCountOnTheirNode) {
  const auto found = run(3, kTwo, [](int, int node, const MemberJob&) {
    return NcclText{.errors = node == 1 ? 4 : 0}.output();
  });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[1], "nccl.errors"), 4);
  EXPECT_EQ(number_of(found->members[0], "nccl.errors"), 0);
}

TEST(NcclStage, GivesEachNodeItsOwnVersionOfNcclAndSaysThatTheyDiffer) {
  const auto with_versions = [](std::string_view of_the_second) {
    return run(3, kTwo, [&](int, int node, const MemberJob&) {
      auto output = NcclText{}.output();
      const std::string own = "2.28.9";
      if (node == 1) output.text.replace(output.text.find(own), own.size(), of_the_second);
      return output;
    });
  };

  const auto mixed = with_versions("2.27.3");
  const auto alike = with_versions("2.28.9");

  ASSERT_TRUE(mixed) << mixed.error().what;
  EXPECT_EQ(mixed->members[0].facts.at("nccl.version"), "2.28.9");
  EXPECT_EQ(mixed->members[1].facts.at("nccl.version"), "2.27.3");
  EXPECT_EQ(mixed->members[2].facts.at("nccl.version"), "2.28.9");
  EXPECT_THAT(mixed->reasons, Contains("NCCL's versions differ: 2.27.3 on n2; 2.28.9 on n[1,3]"));
  EXPECT_THAT(alike->reasons, Not(Contains(HasSubstr("versions differ"))));
}

TEST(NcclStage, ASlowGpuShowsByItsOwnWork) {
  const auto found = run(3, kTwo, [](int, int node, const MemberJob&) {
    return NcclText{.own = node == 2 ? 250.0 : 100.0}.output();
  });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_NEAR(number_of(found->members[2], "nccl.lag").value_or(0), 150, 1e-6);
  EXPECT_EQ(traced(found->members[2], "nccl.lag"), "gpu1");
  EXPECT_EQ(number_of(found->members[0], "nccl.lag"), 0);
}

Output trained(double own) {
  const auto measured = [](std::string_view name, std::string_view part, double value,
                           std::string_view unit) {
    return fmt::format(
        "{{\"kind\":\"result\",\"name\":\"{}\",\"part\":\"{}\",\"value\":{},\"unit\":\"{}\","
        "\"labels\":{{}},\"count\":1,\"spread\":0}}\n",
        name, part, value, unit);
  };
  return {.text = std::string{kStart} + kJoined + measured("train.step", "", own + 0.1, "s") +
                  measured("train.tokens", "", 64000, "tokens/s") +
                  measured("train.own", "gpu0", 0.5, "s") +
                  measured("train.own", "gpu1", own, "s") + end(true) + "cupel-run-status: 0\n",
          .errors = {}};
}

TEST(NcclStage, InTrainingEachGpusOwnPartOfAStepTellsWhoHoldsTheOthersBack) {
  auto with = kTwo;
  with["steps"] = "30";
  const auto found = run(3, with, [](int, int node, const MemberJob& job) {
    EXPECT_EQ(order_of(job).at("work"), "train");
    EXPECT_EQ(order_of(job).at("steps"), 30);
    EXPECT_EQ(order_of(job).at("ranks"), 6);
    return trained(node == 1 ? 0.7 : 0.5);
  });

  ASSERT_TRUE(found) << found.error().what;
  for (const auto& member : found->members) {
    EXPECT_EQ(number_of(member, "nccl.train.step"), 0.7 + 0.1) << "as long for all";
    EXPECT_EQ(number_of(member, "nccl.train.tokens"), 64000);
    EXPECT_EQ(number_of(member, "nccl.absent"), 0);
    EXPECT_EQ(number_of(member, "nccl.train.lag", "gpu0"), 0);
  }
  EXPECT_NEAR(number_of(found->members[1], "nccl.train.lag", "gpu1").value_or(0), 40, 1e-6);
  EXPECT_THAT(found->reasons, Contains(HasSubstr("training over 6 ranks: 0.800 s a step")));
}

TEST(NcclStage, ARankThatDoesNotGoOnInTrainingIsNamed) {
  auto with = kTwo;
  with["steps"] = "30";
  const auto found =
      run(3, with, [](int, int node, const MemberJob&) { return hung(node == 2 ? "7,6" : "7,7"); });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[2], "nccl.absent"), 1);
  ASSERT_THAT(found->members[0].unknown, Not(IsEmpty()));
  EXPECT_EQ(found->members[0].unknown.back().fact, "nccl.train.step");
}

TEST(NcclStage, InPairsTheNodeThatIsSlowWithBothPartnersLoses) {
  const auto with = Parameters{{"ranks", "2"}, {"groups", "pairs"}};
  const auto found = run(6, with, [](int, int, const MemberJob& job) {
    return NcclText{.bus = job.role.contains("n3") ? 45.0 : 90.0}.output();
  });

  ASSERT_TRUE(found) << found.error().what;
  for (std::size_t node = 0; node < 6; ++node) {
    EXPECT_EQ(number_of(found->members[node], "nccl.groups"), 2) << node;
    const auto name = fmt::format("n{}", node + 1);
    EXPECT_EQ(number_of(found->members[node], "nccl.loss", name), node == 2 ? 50 : 0) << node;
  }
}

TEST(NcclStage, GoesOnInPairsWithoutAMemberThatDied) {
  const auto with = Parameters{{"ranks", "2"}, {"groups", "pairs"}};
  const auto found = run(4, with, [](int, int node, const MemberJob& job) -> std::optional<Output> {
    if (node == 1) return std::nullopt;
    if (job.role.contains("n2")) return refused("nccl", "not all others came");
    return NcclText{}.output();
  });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[1], "nccl.absent"), 1);
  EXPECT_EQ(number_of(found->members[0], "nccl.all_reduce.busbw"), 90) << "with n4 in round 2";
  EXPECT_EQ(number_of(found->members[0], "nccl.absent"), 0);
}

TEST(NcclStage, InPairsANodeBetweenTwoSlowOnesIsUndecided) {
  const auto with = Parameters{{"ranks", "2"}, {"groups", "pairs"}};
  const auto found = run(10, with, [](int, int, const MemberJob& job) {
    const bool slow = job.role.contains("n3") || job.role.contains("n5");
    return NcclText{.bus = slow ? 45.0 : 90.0}.output();
  });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[2], "nccl.loss", "n3"), 50);
  EXPECT_EQ(number_of(found->members[4], "nccl.loss", "n5"), 50);
  EXPECT_EQ(number_of(found->members[3], "nccl.undecided", "n4"), 1);
  EXPECT_EQ(number_of(found->members[3], "nccl.loss", "n4"), std::nullopt);
  for (const std::size_t clean : {1u, 5u})
    EXPECT_EQ(number_of(found->members[clean], "nccl.loss", fmt::format("n{}", clean + 1)), 0);
}

TEST(NcclStage, InPairsANodeThatMeetsNoneOfTwoWhoMeetOthersIsAbsent) {
  const auto with = Parameters{{"ranks", "2"}, {"groups", "pairs"}};
  const auto found = run(6, with, [](int, int, const MemberJob& job) {
    return job.role.contains("n3") ? refused("nccl", "not all others came within 120 s")
                                   : NcclText{}.output();
  });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[2], "nccl.absent"), 1);
  EXPECT_THAT(traced(found->members[2], "nccl.absent"),
              AllOf(HasSubstr("n3 met none of its 2 partners"), HasSubstr("within 120 s")));
  for (const std::size_t other : {0u, 1u, 3u, 4u, 5u})
    EXPECT_EQ(number_of(found->members[other], "nccl.absent"), 0) << other;
}

TEST(NcclStage, InPairsAPairThatFailsAloneBlamesNeither) {
  const auto with = Parameters{{"ranks", "2"}, {"groups", "pairs"}};
  const auto found = run(6, with, [](int, int, const MemberJob& job) {
    return job.role.contains("n3") && job.role.contains("n4") ? refused("nccl", "not all came")
                                                              : NcclText{}.output();
  });

  ASSERT_TRUE(found) << found.error().what;
  for (const auto& member : found->members) EXPECT_EQ(number_of(member, "nccl.absent"), 0);
  EXPECT_THAT(found->reasons, Contains(HasSubstr("hung: n3 and n4")));
}

/// Slow wherever n6 takes part, on which a variable is set that the others do not have.
Output with_a_setting_on_n6(int node, const MemberJob& job) {
  const auto team = job.role.substr(0, job.role.find(", rank"));
  const auto members = team == "all" ? std::vector<std::string>{"n6"} : *inventory::expand(team);
  const bool slow = std::ranges::find(members, "n6") != members.end();
  auto output = NcclText{.bus = slow ? 45.0 : 90.0}.output();
  if (node == 5)
    output.text.replace(output.text.find("\"parameters\":{}"), 15,
                        R"("parameters":{"environment":{"NCCL_NVLS_ENABLE":"2"}})");
  return output;
}

TEST(NcclStage, BisectsWhereLinksAreWellAndSaysWhatDiffersOnTheSlowNode) {
  const auto found =
      run(8, {{"ranks", "2"}, {"groups", "bisect"}}, [](int round, int node, const MemberJob& job) {
        EXPECT_EQ(order_of(job).at("min"), round == 0 ? 8388608 : 1073741824);
        return with_a_setting_on_n6(node, job);
      });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[5], "nccl.slow", "n6"), 50);
  EXPECT_THAT(traced(found->members[5], "nccl.slow"),
              AllOf(HasSubstr("the links are well, NCCL is not: n6: 45.0 GB/s with fast nodes"),
                    HasSubstr("NCCL_NVLS_ENABLE differs: 2 on n6; not set on n[1-5,7-8]")));
  for (const std::size_t other : {0u, 4u, 6u, 7u})
    EXPECT_EQ(number_of(found->members[other], "nccl.slow", fmt::format("n{}", other + 1)), 0);
  EXPECT_EQ(number_of(found->members[0], "nccl.all_reduce.busbw"), 90) << "of its fastest team";
  EXPECT_EQ(number_of(found->members[5], "nccl.all_reduce.busbw"), 45);
  EXPECT_THAT(found->reasons, Contains(HasSubstr("bisected: n[5-8] of all 8: 45.0 GB/s")));
}

TEST(NcclStage, BisectsBelowWhatIsExpectedOfWholeNodesAndNotOfARail) {
  inventory::Profile profile;
  const auto expect = [&](std::string part, std::string unit, double least) {
    auto& added = profile.criteria.emplace_back();
    added.stage = "fabric-nccl";
    added.measure = "nccl.all_reduce.busbw";
    added.parts = {std::move(part)};
    added.unit = std::move(unit);
    added.at_least = least;
  };
  expect("mlx5_*", "GB/s", 40);
  expect("", "Gb/s", 640);
  expect("", "GB/s", 80);

  const auto found = run(
      8, {{"ranks", "2"}, {"groups", "bisect"}},
      [](int, int node, const MemberJob& job) { return with_a_setting_on_n6(node, job); }, nullptr,
      0, profile);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[5], "nccl.slow", "n6"), 50);
  EXPECT_EQ(number_of(found->members[0], "nccl.slow", "n1"), 0);
}

TEST(NcclStage, BisectsWithoutANodeThatAnEarlierStepFoundAbsent) {
  const auto found = run(
      8, {{"ranks", "2"}, {"groups", "bisect"}},
      [](int, int node, const MemberJob& job) {
        EXPECT_NE(node, 2) << "it would keep all others waiting";
        return with_a_setting_on_n6(node, job);
      },
      nullptr, 0, {}, 2);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[5], "nccl.slow", "n6"), 50);
  EXPECT_EQ(number_of(found->members[0], "nccl.slow", "n1"), 0);
  EXPECT_EQ(number_of(found->members[2], "nccl.undecided", "n3"), 1);
  EXPECT_THAT(found->reasons, Contains(HasSubstr("n3: left out: an earlier step of this run")));
}

TEST(NcclStage, BisectsWithoutTheNodeThatTheOthersWaitFor) {
  int rounds_of_n3 = 0;
  const auto found = run(8, {{"ranks", "2"}, {"groups", "bisect"}},
                         [&](int round, int node, const MemberJob& job) {
                           rounds_of_n3 += node == 2 ? 1 : 0;
                           if (round == 0) return hung(node == 2 ? "7,6" : "7,7");
                           return with_a_setting_on_n6(node, job);
                         });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(rounds_of_n3, 1);
  EXPECT_EQ(number_of(found->members[2], "nccl.absent"), 1);
  EXPECT_EQ(number_of(found->members[5], "nccl.slow", "n6"), 50);
  for (const std::size_t other : {0u, 1u, 3u, 7u}) {
    EXPECT_EQ(number_of(found->members[other], "nccl.slow", fmt::format("n{}", other + 1)), 0);
    EXPECT_EQ(number_of(found->members[other], "nccl.absent"), 0);
  }
}

TEST(NcclStage, FailsNoNodeForWhatIsBetweenTwo) {
  const auto found =
      run(8, {{"ranks", "2"}, {"groups", "bisect"}}, [](int, int, const MemberJob& job) {
        const auto team = job.role.substr(0, job.role.find(", rank"));
        const auto nodes =
            team == "all" ? std::vector<std::string>{"n2", "n7"} : *inventory::expand(team);
        const auto has = [&](const char* node) {
          return std::ranges::find(nodes, node) != nodes.end();
        };
        return NcclText{.bus = has("n2") && has("n7") ? 45.0 : 90.0}.output();
      });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(found->reasons, Contains(HasSubstr("the fabric, and no node: n[2,7]: 45.0 GB/s")));
  for (std::size_t node = 0; node < 8; ++node) {
    const bool is_of_pair = node == 1 || node == 6;
    EXPECT_EQ(number_of(found->members[node], "nccl.undecided", "fabric"),
              is_of_pair ? std::optional{1.0} : std::nullopt)
        << node;
    EXPECT_EQ(number_of(found->members[node], "nccl.slow", fmt::format("n{}", node + 1)),
              is_of_pair ? std::nullopt : std::optional{0.0})
        << node;
  }
}

TEST(NcclStage, BisectsNothingWhereFabricPairsDoubtsALink) {
  int rounds = 0;
  const auto found = run(
      8, {{"ranks", "2"}, {"groups", "bisect"}},
      [&](int round, int node, const MemberJob& job) {
        rounds = round + 1;
        return with_a_setting_on_n6(node, job);
      },
      nullptr, 49.9);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(rounds, 1);
  EXPECT_EQ(number_of(found->members[5], "nccl.slow", "n6"), std::nullopt);
  EXPECT_THAT(found->reasons, Contains(HasSubstr("fabric-pairs doubts the links: n1: "
                                                 "fabric.link.loss 49.9 % of mlx5_0")));
}

TEST(NcclStage, KeepsWhatNcclsRasSaysBesideItsOwnFindingAndNeverForIt) {
  const std::string ras =
      R"({"kind":"ras","communicators":["group 0: 2 ranks (4 a communicator), status INCOMPLETE, errors TIMEOUT"],)"
      R"("errors":["Process 7 on node 10.0.0.2 \u001b[2J is missing"],"text":"SERVER PROTOCOL 2"})"
      "\n";
  const auto found = run(3, kTwo, [&](int, int node, const MemberJob&) {
    auto output = hung(node == 1 ? "7,6" : "7,7");
    if (node == 0) output.text.insert(output.text.find("{\"kind\":\"end\""), ras);
    return output;
  });

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(found->reasons, Contains(AllOf(HasSubstr("NCCL's RAS on n1: group 0: 2 ranks"),
                                             HasSubstr("is missing"), Not(HasSubstr("\x1b")))));
  EXPECT_EQ(number_of(found->members[1], "nccl.absent"), 1) << "by its own ranks";

  const auto alone = run(3, kTwo, [&](int, int node, const MemberJob&) {
    auto output = NcclText{}.output();
    if (node == 0) output.text.insert(output.text.find("{\"kind\":\"end\""), ras);
    return output;
  });
  EXPECT_EQ(number_of(alone->members[1], "nccl.absent"), 0) << "all came to their end";
}

TEST(NcclStage, ARailsFigureBelongsToTheHca) {
  inventory::FabricRule rule;
  rule.group = 4;
  std::vector<inventory::FabricMember> named;
  for (const auto& member : members(3)) named.push_back({member.node, {"mlx5_0", "mlx5_6"}});
  std::vector<inventory::Problem> problems;
  const auto fabric = make_fabric(rule, named, problems);
  ASSERT_THAT(problems, IsEmpty());

  const auto found = run(
      3, {{"groups", "rail"}},
      [](int round, int, const MemberJob& job) {
        const auto order = order_of(job);
        EXPECT_EQ(order.at("environment").at("NCCL_IB_HCA"), round == 0 ? "=mlx5_0" : "=mlx5_6");
        EXPECT_EQ(order.at("gpu"), round);
        EXPECT_EQ(order.at("gpus"), 1);
        return NcclText{.bus = round == 0 ? 45.0 : 30.0}.output();
      },
      &fabric);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[1], "nccl.all_reduce.busbw", "mlx5_0"), 45);
  EXPECT_EQ(number_of(found->members[1], "nccl.all_reduce.busbw", "mlx5_6"), 30);
}

TEST(NcclStage, SaysWhichTransportCarriedTheBytes) {
  const auto answer = [](int, int node, const MemberJob&) -> std::optional<Output> {
    return with_transport(NcclText{}.output(),
                          node == 1 ? R"("NET/Socket/0":4,"P2P/CUMEM":2)"
                                    : R"("NET/IB/0(8)/GDRDMA":2,"NET/IB/1/GDRDMA":2,"P2P/CUMEM":2)",
                          R"("mlx5_0:1":"IB")", "");
  };

  const auto found = run(2, {}, answer, nullptr, 0, with_hcas());

  ASSERT_TRUE(found);
  const auto& verbs = found->members[0];
  const auto& tcp = found->members[1];
  EXPECT_EQ(verbs.facts.at("nccl.transport"), "NET/IB/GDRDMA: 4 channels, P2P/CUMEM: 2 channels");
  EXPECT_EQ(number_of(verbs, "nccl.tcp", "n1"), 0);
  EXPECT_EQ(number_of(tcp, "nccl.tcp", "n2"), 4);
  EXPECT_EQ(traced(tcp, "nccl.tcp"), "NET/Socket: 4 channels, P2P/CUMEM: 2 channels");
}

TEST(NcclStage, ReportsNoTcpWithoutALogLine) {
  const auto unreported = [](int, int, const MemberJob&) -> std::optional<Output> {
    return with_transport(NcclText{}.output(), R"("P2P/CUMEM":2)", "", "");
  };
  const auto by_tcp = [](int, int, const MemberJob&) -> std::optional<Output> {
    return with_transport(NcclText{}.output(), R"("NET/Socket/0":4)", "", "");
  };

  const auto nothing = run(2, {}, unreported, nullptr, 0, with_hcas());
  const auto no_hcas = run(2, {{"ranks", "2"}}, by_tcp);
  const auto expected =
      run(2, {{"environment", "NCCL_NET=Socket"}}, by_tcp, nullptr, 0, with_hcas());

  ASSERT_TRUE(nothing && no_hcas && expected);
  EXPECT_EQ(number_of(nothing->members[0], "nccl.tcp", "n1"), std::nullopt) << "not zero";
  EXPECT_EQ(number_of(no_hcas->members[0], "nccl.tcp", "n1"), std::nullopt) << "its only way";
  EXPECT_EQ(number_of(expected->members[0], "nccl.tcp", "n1"), std::nullopt) << "as asked";
  EXPECT_EQ(no_hcas->members[0].facts.at("nccl.transport"), "NET/Socket: 4 channels");
}

// By the nccl.conf of the image that all nodes run.
TEST(NcclStage, FailsNoNodeForTcpThatMostNodesAreSetTo) {
  const auto set_on = [](int last) {
    return [last](int, int node, const MemberJob&) -> std::optional<Output> {
      return with_transport(NcclText{}.output(), R"("NET/Socket/0":4)", "",
                            node <= last ? R"("NCCL_NET":"Socket")" : "");
    };
  };

  const auto all = run(4, {}, set_on(3), nullptr, 0, with_hcas());
  const auto one = run(4, {}, set_on(0), nullptr, 0, with_hcas());

  ASSERT_TRUE(all && one);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(
        number_of(all->members[static_cast<std::size_t>(i)], "nccl.tcp", fmt::format("n{}", i + 1)),
        std::nullopt);
  EXPECT_THAT(all->reasons, Contains(HasSubstr("NCCL is set to TCP by its environment or nccl.conf "
                                               "on n[1-4]")));
  EXPECT_EQ(number_of(one->members[0], "nccl.tcp", "n1"), 4) << "one node's fault";
  EXPECT_THAT(one->reasons, Not(Contains(HasSubstr("NCCL is set to TCP"))));
}

}  // namespace
}  // namespace cupel::burnin
