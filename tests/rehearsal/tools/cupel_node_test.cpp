// The virtual cupel-node, read by the product's own stages and judged by the shipped profile.
#include <fmt/format.h>

#include "base/json.h"
#include "burnin/criteria/judge.h"
#include "burnin/fabric/across_report.h"
#include "burnin/fabric/nccl_jobs.h"
#include "burnin/fabric/pair_jobs.h"
#include "burnin/group_stage.h"
#include "burnin/stage.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using enum FaultKind;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Optional;

/// "gpu4 pcie.narrow": what the profile does not accept of a stage's findings.
Texts not_met(std::string_view stage, const burnin::Findings& findings) {
  const std::string name{stage};
  const auto profile = dgx();
  Texts all;
  for (const auto& each : burnin::judge(profile, {name}, {{name, findings}}))
    if (each.met != burnin::Met::met) all.push_back(each.part + " " + each.measure);
  return all;
}

burnin::Findings found(Bench& bench, std::string_view stage, const burnin::Parameters& with = {}) {
  const auto findings = found_by(bench, stage, with);
  EXPECT_TRUE(findings) << findings.error().what;
  return findings ? *findings : burnin::Findings{};
}

TEST(VirtualCupelNode, HasTheVersionOfTheRealOne) {
  Bench bench;

  EXPECT_EQ(bench.sh("cupel-node --version").out,
            R"({"kind":"version","program":"cupel-node","version":")" CUPEL_VERSION
            R"(","protocol":1})"
            "\n");
  EXPECT_EQ(bench.sh("cupel-burn --version").out, "cupel-burn " CUPEL_VERSION "\n");
}

TEST(VirtualCupelNode, TellsFactsOfAHealthyMachineThatMeetItsProfile) {
  Bench bench;

  const auto facts = found(bench, "facts");

  EXPECT_THAT(not_met("facts", facts), ElementsAre());
  EXPECT_EQ(value_of(facts, "gpu.count"), 8);
  EXPECT_EQ(value_of(facts, "nvlink.active", "gpu7"), 18);
  EXPECT_EQ(value_of(facts, "ib.port.rate", "mlx5_11"), 400);
  EXPECT_EQ(value_of(facts, "gpu.fabric.ready", "gpu0"), 1);
  EXPECT_THAT(value_of(facts, "pcie.bandwidth", "gpu3"), Optional(Gt(500)));
}

TEST(VirtualCupelNode, ShowsANarrowLinkAndKeepsTheNamesOfTheOthersWhereOneIsMissing) {
  Bench bench{{{.kind = gpu_missing, .part = "gpu2"},
               {.kind = gpu_slow_link, .part = "gpu4", .width = 8},
               {.kind = nvlink_down, .part = "gpu5", .number = 3}}};

  const auto facts = found(bench, "facts");

  EXPECT_EQ(value_of(facts, "gpu.count"), 7);
  EXPECT_EQ(value_of(facts, "pcie.narrow", "gpu4"), 1);
  EXPECT_EQ(value_of(facts, "pcie.narrow", "gpu3"), 0);
  EXPECT_EQ(value_of(facts, "pcie.narrow", "gpu2"), std::nullopt);
  EXPECT_EQ(value_of(facts, "nvlink.active", "gpu5"), 17);
  EXPECT_THAT(facts.facts.at("pcie.weakest.gpu4"), ::testing::HasSubstr("width 8 of 16"));
}

TEST(VirtualCupelNode, WatchesAHealthyMachineToItsProfilesContent) {
  Bench bench;

  const auto watched = found(bench, "watch", {{"duration", "10m"}});

  EXPECT_THAT(not_met("watch", watched), ElementsAre());
  EXPECT_THAT(value_of(watched, "gpu.temperature", "gpu0"), Optional(Gt(15)));
  EXPECT_EQ(value_of(watched, "kernel.xid", "gpu7"), 0);
}

TEST(VirtualCupelNode, SeesWhatHappensWhileItWatches) {
  // Late enough that a test that gets no CPU for half a second still begins to watch before.
  Bench bench{
      {{.kind = gpu_xid, .part = "gpu1", .number = 95, .timing = {.after = VirtualTime{6000}}},
       {.kind = gpu_off_bus, .part = "gpu6", .timing = {.after = VirtualTime{6600}}},
       {.kind = hca_errors, .part = "mlx5_3", .errors = 3600}}};

  const auto watched = found(bench, "watch", {{"duration", "3h"}});

  EXPECT_EQ(value_of(watched, "kernel.xid", "gpu1"), 95);
  EXPECT_EQ(value_of(watched, "kernel.xid", "gpu6"), 79);
  EXPECT_EQ(value_of(watched, "gpu.responsive", "gpu6"), 0);
  EXPECT_EQ(value_of(watched, "gpu.responsive", "gpu5"), 1);
  EXPECT_EQ(value_of(watched, "kernel.xid", "gpu5"), 0);
  EXPECT_THAT(value_of(watched, "ib.port.symbol_errors.new", "mlx5_3"), Optional(Ge(3600)));
}

TEST(VirtualCupelNode, RefusesWhatTheRealOneRefuses) {
  Bench bench;

  EXPECT_EQ(bench.sh("cupel-node").status, 64);
  EXPECT_EQ(bench.sh("cupel-node nonsense").status, 64);
  EXPECT_EQ(bench.sh("cupel-node watch --seconds x").status, 64);
  EXPECT_EQ(bench.sh("cupel-node facts --nonsense").status, 64);
  EXPECT_EQ(bench.sh("cupel-node stage").status, 64);
  EXPECT_EQ(bench.sh("echo '{}' | cupel-node stage nonsense").status, 64);
  EXPECT_EQ(bench.sh("echo '[]' | cupel-node stage roce").status, 64);
}

TEST(VirtualCupelNode, KillsAStagesToolAtItsLimitInTheRacksTime) {
  Bench bench;

  const auto ran = bench.sh("echo '{\"level\":3,\"limit\":5}' | cupel-node stage dcgm-diag");

  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, ::testing::HasSubstr(R"("status":124,"cut":false,"late":true)"));
  for (const auto& [number, process] : bench.host.processes()) EXPECT_NE(process->command, "dcgmi");
}

TEST(VirtualCupelNode, EndsWithItsStageWhereSomebodyKillsIt) {
  Bench bench;

  const auto ran =
      bench.sh("echo '{\"level\":3,\"limit\":5000}' | timeout 30 cupel-node stage dcgm-diag");

  EXPECT_EQ(ran.status, 124);
  EXPECT_THAT(ran.out, ::testing::HasSubstr("\"asked\""));
  EXPECT_THAT(ran.out, ::testing::Not(::testing::HasSubstr("\"done\"")));
}

std::string pairs_order(const std::string& servers, const std::string& clients) {
  return R"({"program":"ib_write_bw","latency":false,"gpu":false,"seconds":3,"qps":1,"tries":60,)"
         R"("client-limit":23,"server-limit":83,"servers":[)" +
         servers + R"(],"clients":[)" + clients + "]}";
}

constexpr const char* kToItself = R"({"rail":1,"hca":"mlx5_1","port":18515,"to":"localhost"})";

double rate_of(const std::string& printed) {
  const auto report = burnin::fabric::pair_report({printed, "", 0});
  EXPECT_TRUE(report) << report.error().what;
  return report ? burnin::fabric::reading_of(*report, 1).value_or(0) : 0;
}

TEST(VirtualCupelNode, MeasuresAFlowWhoseServerIsItsOwnTool) {
  Bench bench;
  const auto order = pairs_order(R"({"rail":0,"hca":"mlx5_0","port":18515})", kToItself);

  const auto ran = bench.sh("echo '" + order + "' | cupel-node stage fabric-pairs");

  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_GT(rate_of(ran.out), 380);
}

TEST(VirtualCupelNode, TriesAFlowAgainUntilTheOtherEndListens) {
  Bench bench;

  const auto ran = bench.sh("(sleep 5; ib_write_bw -d mlx5_0 -p 18515 -D 3 >/tmp/server) & echo '" +
                            pairs_order("", kToItself) + "' | cupel-node stage fabric-pairs");

  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_GT(rate_of(ran.out), 380);
}

TEST(VirtualCupelNode, HandsOnNcclsIdWhileItsRanksWaitForTheOthers) {
  Bench bench;

  const auto ran = bench.sh(
      R"sh(echo '{"work":"train","steps":10,"ranks":16,"first":0,"gpu":0,"gpus":8,"join":60,"hang":60,"seconds":120}' |
           cupel-node stage fabric-nccl >/tmp/out &
      sleep 20
      cat /tmp/out
      echo and then
      wait
      cat /tmp/out)sh");

  const auto first = ran.out.substr(0, ran.out.find("and then"));
  EXPECT_TRUE(burnin::fabric::id_printed(first).value()) << first;
  EXPECT_THAT(first, ::testing::Not(::testing::HasSubstr("evidence")));
  const burnin::Output whole{ran.out.substr(first.size()), "", 0};
  const auto report = burnin::fabric::read_across(burnin::fabric::nccl_report(whole));
  EXPECT_EQ(report.status, 2) << "the other eight ranks did not come within a minute";
}

TEST(VirtualCupelNode, MeasuresTheLinkOfTwoNodesAsTheProfileExpects) {
  const auto& group = *burnin::stage("tcp-pair")->group;
  const std::vector<burnin::Member> members{{"n1", "10.0.0.1"}, {"n2", "10.0.0.2"}};
  const auto jobs = group.prepare_group(members, {{"duration", "3s"}}).value();
  Bench one, other;

  const auto server = one.sh(jobs[0].script);
  const auto shared = group.shared(server.out);
  ASSERT_TRUE(shared) << server.out;
  const auto client = other.sh("shared='" + *shared + "'\n" + jobs[1].script);

  const std::vector<burnin::Output> outputs{{server.out, server.err, server.status},
                                            {client.out, client.err, client.status}};
  const auto found = group.analyse_group(dgx(), members, outputs);
  ASSERT_TRUE(found) << found.error().what;
  auto findings = found->members[0];
  for (const auto& [link, measured, behind] : found->links) {
    findings.measurements.push_back(measured);
    findings.measurements.back().part = to_text(link);
  }
  EXPECT_THAT(not_met("tcp-pair", findings), ElementsAre());
  EXPECT_EQ(value_of(findings, "tcp.retransmits", to_text(found->links[0].link)), 0);
}

TEST(VirtualCupelNode, ShowsTheLinksOfHcasAndDrivesAsTheyTrained) {
  Bench bench{{{.kind = hca_slow_link, .part = "mlx5_3", .width = 8},
               {.kind = hca_slow_link, .part = "mlx5_10", .gen = 4},
               {.kind = nvme_slow_link, .part = "nvme6"},
               {.kind = nvme_slow_link, .part = "nvme3", .gen = 3}}};

  const auto facts = found(bench, "facts");

  EXPECT_THAT(not_met("facts", facts),
              ::testing::UnorderedElementsAre("mlx5_3 pcie.narrow", "mlx5_10 pcie.slow",
                                              "nvme6 pcie.narrow", "nvme3 pcie.slow"));
  EXPECT_THAT(bench.sh("lspci -vv").out, ::testing::HasSubstr("Width x2 (downgraded)"));
}

json::value kernel_log(Bench& bench, const std::string& options = {}) {
  const auto ran = bench.sh("cupel-node kernel-log" + options);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return parse_json(ran.out).value_or(nullptr);
}

std::string from(const json::value& before) {
  return fmt::format(" --boot {} --after {:.0f}", text_at(before, "boot").value_or(""),
                     number_at(before, "last").value_or(-1));
}

TEST(VirtualCupelNode, ReadsTheKernelsLogFromAPositionOn) {
  Bench bench{{{.kind = gpu_xid,
                .part = "gpu4",
                .number = 94,
                .timing = {.after = VirtualTime{4 * 3600}}}}};
  const auto before = kernel_log(bench);
  EXPECT_EQ(find(before, "messages"), nullptr) << "nobody asked for any";

  bench.sh("sleep 2h");
  const auto quiet = kernel_log(bench, from(before));
  bench.sh("sleep 4h");
  const auto output = kernel_log(bench, from(quiet));
  const auto again = kernel_log(bench, from(output));

  EXPECT_EQ(json::serialize(*find(quiet, "messages")), "[]");
  const auto& messages = find(output, "messages")->as_array();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(text_at(messages[0], "part"), "gpu4");
  EXPECT_EQ(number_at(messages[0], "code"), 94);
  EXPECT_EQ(json::serialize(*find(again, "messages")), "[]") << "it was read once";
  EXPECT_EQ(number_at(again, "lost"), 0);
}

TEST(VirtualCupelNode, SaysThatTheMachineRestartedSinceThePosition) {
  Bench bench;

  const auto output = kernel_log(bench, " --boot 00000000-0000-0000-0000-000000000000 --after 5");

  const auto* restarted = find(output, "restarted");
  ASSERT_NE(restarted, nullptr);
  EXPECT_TRUE(restarted->as_bool());
  EXPECT_EQ(bench.sh("cupel-node kernel-log --after 5").status, 64) << "of which boot?";
}

}  // namespace
}  // namespace cupel::rehearsal
