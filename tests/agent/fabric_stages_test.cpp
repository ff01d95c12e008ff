// The stages of cupel-node that several nodes do together: flows by perftest, ranks by cupel-burn.
// Orders are the controller's own; what is printed is held against what the scripts of an earlier
// version printed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "burnin/agent_stage.h"
#include "burnin/fabric/across_report.h"
#include "burnin/fabric/nccl_jobs.h"
#include "burnin/fabric/pair_jobs.h"
#include "burnin/fabric/pair_traces.h"
#include "burnin/script.h"
#include "tests/agent/load_bench.h"
#include "tests/burnin/agent_order.h"
#include "tests/burnin/tools.h"
#include "tests/support/child.h"

namespace cupel::agent {
namespace {

using burnin::fabric::Perftest;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

/// The first of two nodes sends and receives on rail 1.
const std::vector<burnin::fabric::PairNode> kTwoNodes{{"10.0.0.1", {"mlx5_0", "mlx5_6"}},
                                                      {"10.0.0.2", {"mlx5_0", "mlx5_6"}}};
const std::vector<burnin::fabric::Flow> kBothWays{{0, 1, 1}, {1, 0, 1}};
const std::vector<burnin::fabric::Flow> kSends{{0, 1, 1}}, kReceives{{1, 0, 1}};

std::string flows_order(std::span<const burnin::fabric::Flow> flows, const Perftest& perftest = {},
                        std::span<const burnin::fabric::CounterQuery> queries = {}) {
  return json::serialize(burnin::fabric::pair_order(perftest, kTwoNodes, 0, flows, queries));
}

constexpr const char* kSender = "ib_write_bw -d mlx5_6 -p 18516 -D 10 -s 1048576 -F --report_gbits";
constexpr const char* kTable =
    " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
    " 1048576          465000           0.00               391.50            0.046\n";
constexpr const char* kNobody =
    "Couldn't connect to 10.0.0.2:18516\nUnable to open file descriptor for socket connection\n";

/// What the controller reads of a run, and where it gave up, why.
burnin::Output reported(LoadBench& bench, const std::string& order) {
  const int status = bench.run("fabric-pairs", order);
  const burnin::Output printed{bench.lines.text, "", status};
  const auto report = burnin::fabric::pair_report(printed);
  return report ? *report : burnin::Output{"", std::string{report.error().what}, status};
}

std::string error_of(const burnin::Output& sender, const burnin::Output& receiver = {}) {
  const auto error = burnin::fabric::tool_error(sender, receiver, 1);
  return error ? (error->of_receiver ? "receiver: " : "sender: ") + error->line : "";
}

TEST(FabricPairsStage, SendsAndReceivesAtOnceAndIsReadAsTheScriptWas) {
  LoadBench bench;
  bench.programs.add("ib_write_bw", {.status = 0, .out = kTable}, seconds{11});

  const auto report = reported(bench, flows_order(kBothWays));

  EXPECT_THAT(bench.programs.asked, ElementsAre(kSender, kSender + std::string{" 10.0.0.2"}));
  EXPECT_EQ(bench.clock.time, seconds{11}) << "one beside the other";
  EXPECT_EQ(burnin::fabric::reading_of(report, 1), 391.5);
  const burnin::Output script{"cupel-begin: rail1\n" + std::string{kTable} + "\ncupel-end\n", "",
                              0};
  EXPECT_EQ(burnin::fabric::reading_of(*burnin::fabric::pair_report(script), 1), 391.5);
  EXPECT_EQ(error_of(report, report), "");
}

TEST(FabricPairsStage, GivesPerftestTheWordsOfTheOrder) {
  const auto words = [](const Perftest& perftest) {
    LoadBench bench;
    for (const auto* tool : {"ib_write_bw", "ib_read_bw", "ib_send_lat"})
      bench.programs.add(tool, {.status = 0});
    reported(bench, flows_order(kSends, perftest));
    return bench.programs.asked.at(0);
  };

  EXPECT_EQ(words({.queue_pairs = 16, .gid = 3, .tclass = 106}),
            kSender + std::string{" -q 16 -x 3 --tclass=106 10.0.0.2"});
  EXPECT_EQ(words({.program = "ib_read_bw", .duration = seconds{2}, .port = 2000}),
            "ib_read_bw -d mlx5_6 -p 2001 -D 2 -s 1048576 -F --report_gbits 10.0.0.2");
  EXPECT_EQ(words({.program = "ib_send_lat", .duration = seconds{0}, .latency = true}),
            "ib_send_lat -d mlx5_6 -p 18516 -n 2000 -s 2 -F 10.0.0.2");
}

TEST(FabricPairsStage, TriesEachSecondUntilTheOtherNodeListens) {
  LoadBench bench;
  bench.programs.add("ib_write_bw", {.status = 1, .err = kNobody});
  bench.programs.passes = [&bench] {
    if (bench.clock.time >= seconds{5})
      bench.programs.add("ib_write_bw", {.status = 0, .out = kTable}, seconds{10});
  };

  const auto report = reported(bench, flows_order(kSends));

  EXPECT_EQ(burnin::fabric::reading_of(report, 1), 391.5);
  EXPECT_EQ(bench.programs.asked.size(), 6u);
  EXPECT_EQ(bench.clock.time, seconds{15});
  EXPECT_THAT(bench.lines.text, Not(HasSubstr("Couldn't connect"))) << "of the last try alone";
}

TEST(FabricPairsStage, TriesNoMoreOftenThanTheOrderSaysAndThenNamesWhatPerftestReports) {
  LoadBench bench;
  bench.programs.add("ib_write_bw", {.status = 1, .err = kNobody});

  const auto report = reported(bench, flows_order(kSends));

  EXPECT_EQ(bench.programs.asked.size(), 60u);
  EXPECT_EQ(error_of(report), "sender: Couldn't connect to 10.0.0.2:18516");
}

TEST(FabricPairsStage, GoesOnTryingWhileAnotherRunsToItsEnd) {
  LoadBench bench;
  bench.programs.add(kSender + std::string{" 10.0.0.2"}, {.status = 1, .err = kNobody});
  bench.programs.add("ib_write_bw", {.status = 0, .out = kTable}, seconds{12});

  const auto report = reported(bench, flows_order(kBothWays));

  EXPECT_EQ(bench.programs.asked.size(), 61u);
  EXPECT_THAT(report.text, HasSubstr("cupel-begin: server1\n" + std::string{kTable}));
}

TEST(FabricPairsStage, TellsANodeThatDoesNotAnswerFromOneThatCarriesNothing) {
  const auto error_after = [](const std::string& out) {
    LoadBench bench;
    bench.programs.add("ib_write_bw", {.status = 0, .out = out}, seconds{1000});
    return error_of(reported(bench, flows_order(kSends)));
  };

  EXPECT_EQ(error_after(""), "sender: Couldn't connect to 10.0.0.2 in 30 s: no answer");
  EXPECT_EQ(error_after(" local address: LID 0x01 QPN 0x0042\n"), "") << "they met";
}

TEST(FabricPairsStage, EndsAServerWithoutAClient) {
  LoadBench bench;
  bench.programs.add("ib_write_bw", {.status = 0}, seconds{100'000});

  const auto report = reported(bench, flows_order(kReceives));

  EXPECT_EQ(bench.clock.time, seconds{90}) << "as long as a client may try, and measure then";
  EXPECT_THAT(bench.lines.text, HasSubstr(R"("status":124,"cut":false,"late":true)"));
  EXPECT_EQ(error_of({"cupel-begin: rail1\nCouldn't connect to x\ncupel-end\n", "", 0}, report),
            "sender: Couldn't connect to x");
}

TEST(FabricPairsStage, BlamesNoLinkWhereAProgramIsMissingOrCannotBeStarted) {
  LoadBench none, broken;
  const std::string why = "ib_write_bw: error while loading shared libraries: libibverbs.so.1";
  broken.programs.add("ib_write_bw", {.status = 127, .err = why});

  EXPECT_EQ(reported(none, flows_order(kSends)).errors, "ib_write_bw is not installed on the node");
  EXPECT_EQ(reported(broken, flows_order(kSends)).errors, "ib_write_bw cannot be started: " + why);
  LoadBench gpu;
  gpu.programs.add("ib_write_bw", {.status = 127, .err = why});
  EXPECT_EQ(reported(gpu, flows_order(kSends, {.gpu_memory = true})).errors,
            "ib_write_bw cannot be started: " + why)
      << "it may be built with CUDA";
}

TEST(FabricPairsStage, MeasuresBandwidthAllTheSameWhereTheProgramForLatencyIsMissing) {
  LoadBench bench;
  const Perftest latency{.program = "ib_send_lat", .duration = seconds{0}, .latency = true};

  const auto report = reported(bench, flows_order(kSends, latency));

  EXPECT_EQ(report.exit_status, 0);
  EXPECT_EQ(report.text, "");
  EXPECT_EQ(burnin::fabric::latency_of(report, 1), std::nullopt);
}

TEST(FabricPairsStage, KeepsTheTableBehindWhateverAToolPrintsBefore) {
  LoadBench bench, endless;
  std::string warnings;
  for (int i = 0; i < 100'000; ++i) warnings += "a warning that nobody needs\n";
  bench.programs.add("ib_write_bw", {.status = 0, .out = warnings + kTable});
  endless.programs.add("ib_write_bw", {.status = 0, .out = "x", .cut = true});

  EXPECT_EQ(burnin::fabric::reading_of(reported(bench, flows_order(kSends)), 1), 391.5);
  EXPECT_LT(bench.lines.text.size(), 10'000u);
  EXPECT_EQ(error_of(reported(endless, flows_order(kSends))),
            "sender: Couldn't keep all that it printed");
}

// ---- Memory of GPUs ----

/// A receiver whose perftest prints this help, on a node with this folder of a kernel module.
struct GpuMemory {
  LoadBench bench{};
  burnin::Output report{};

  GpuMemory(const std::string& help, const std::string& module) {
    bench.programs.add("ib_write_bw --help", {.status = 0, .out = help});
    bench.programs.add("ib_write_bw", {.status = 0, .out = kTable}, seconds{11});
    if (!module.empty()) bench.files.write("/sys/module/" + module + "/version", "1");
    report = reported(bench, flows_order(kReceives, {.gpu_memory = true}));
  }
  std::string words() const { return bench.programs.asked.back(); }
  std::string memory() const { return burnin::fabric::memory_of(report); }
};

TEST(FabricPairsStage, UsesTheGpuOfTheRailByTheWayThatTheNodeHas) {
  const std::string cuda = "Usage: --use_cuda=<cuda device id>";
  for (const auto* module : {"nvidia_peermem", "nv_peer_mem"}) {
    const GpuMemory peermem{cuda, module};
    EXPECT_EQ(peermem.words(), kSender + std::string{" --use_cuda=1"});
    EXPECT_EQ(peermem.memory(), "gpu, by nvidia-peermem");
  }
  const GpuMemory both{cuda + " --use_cuda_dmabuf", ""};
  EXPECT_EQ(both.words(), kSender + std::string{" --use_cuda=1 --use_cuda_dmabuf"});
  EXPECT_EQ(both.memory(), "gpu, by dma-buf");
}

TEST(FabricPairsStage, RunsNothingWhereMemoryOfGpusWasAskedForAndCannotBeHad) {
  const GpuMemory none{"Usage: --use_cuda=<cuda device id>", ""},
      no_cuda{"Usage: --ib-dev=<dev>", "nvidia_peermem"};

  for (const auto* each : {&none, &no_cuda}) {
    EXPECT_EQ(each->words(), "ib_write_bw --help") << "the host's would answer another question";
    EXPECT_TRUE(burnin::fabric::is_no_memory(each->memory()));
  }
  EXPECT_THAT(error_of({}, none.report),
              AllOf(HasSubstr("receiver: No GPU memory: nvidia-peermem is not loaded"),
                    HasSubstr("modprobe nvidia-peermem"), HasSubstr("dma-buf")));
  EXPECT_THAT(error_of({}, no_cuda.report),
              AllOf(HasSubstr("perftest is built without CUDA"), HasSubstr("memory: host")));
}

// ---- Counters ----

void write_retransmits(const NodeTree& files, const std::string& naks) {
  const std::string counters = "/sys/class/infiniband/mlx5_6/ports/1/hw_counters/";
  files.write(counters + "packet_seq_err", naks);
  files.write(counters + "local_ack_timeout_err", "3");
}

TEST(FabricPairsStage, CountsWhatIsSentAgainWhileItsFlowsRun) {
  LoadBench bench;
  write_retransmits(bench.files, "40");
  bench.programs.add("ib_write_bw", {.status = 0, .out = kTable}, seconds{11});
  bench.programs.passes = [&] { write_retransmits(bench.files, "52"); };

  const auto report = reported(bench, flows_order(kBothWays));

  EXPECT_EQ(burnin::fabric::retransmits_of(report, "mlx5_6"), 12u);
  EXPECT_EQ(burnin::fabric::retransmits_of(report, "mlx5_0"), std::nullopt);
}

TEST(FabricPairsStage, ReadsThePortsOfBothLeavesBeforeAndAfter) {
  LoadBench bench;
  const std::string read = "perfquery -x -l -C mlx5_6 -P 1 ";
  bench.programs.add(read + "20",
                     {.status = 0, .out = "# Port extended counters: Lid 20 port 4\n"});
  bench.programs.add(read + "21",
                     {.status = 0, .out = "# Port extended counters: Lid 21 port 5\n"});
  bench.programs.add("ib_write_bw", {.status = 0, .out = kTable}, seconds{11});
  const std::vector<burnin::fabric::CounterQuery> queries{{1, "mlx5_6", 20, {4, 5, 6}},
                                                          {1, "mlx5_6", 21, {5}}};

  const auto report = reported(bench, flows_order(kSends, {}, queries));

  const auto first = read + "20 4,5,6", second = read + "21 5";
  EXPECT_THAT(bench.programs.asked,
              ElementsAre(first, second, HasSubstr("ib_write_bw"), first, second));
  for (const auto* section : {"ports-before1", "ports-after1"})
    EXPECT_THAT(report.text, HasSubstr(fmt::format(
                                 "cupel-begin: {}\n# Port extended counters: Lid 20 port 4\n# Port "
                                 "extended counters: Lid 21 port 5\n",
                                 section)));
}

TEST(FabricPairsStage, ListsSwitchesAndSaysWhichToolsAreMissing) {
  const auto order =
      json::serialize(burnin::fabric::switches_order(std::vector<std::string>{"mlx5_0", "mlx5_6"}));
  const std::string listed =
      "Switch\t65 \"S-b0cf0e0300000700\"\t\t# \"MF0;leaf1:MQM9700/U1\" enhanced port 0 lid 7 lmc "
      "0\n";
  LoadBench bench, without, without_right;
  bench.programs.add("ibnetdiscover",
                     {.status = 0, .out = "vendid=0x2c9\n" + listed + "[1]\t\"H-b8ce\"\n"});
  bench.programs.add("perfquery", {});
  without_right.programs.add("ibnetdiscover",
                             {.status = 1, .err = "ibwarn: [7] can't open UMAD port (mlx5_0:1)\n"});

  const auto report = reported(bench, order);

  EXPECT_THAT(bench.programs.asked,
              ElementsAre("ibnetdiscover -C mlx5_0 -P 1", "ibnetdiscover -C mlx5_6 -P 1"));
  EXPECT_THAT(burnin::fabric::lids_of(report.text, {.leaves = {"leaf1"}}), ElementsAre(7));
  EXPECT_THAT(report.text, AllOf(Not(HasSubstr("vendid")), Not(HasSubstr("cupel-missing"))));
  EXPECT_EQ(burnin::script::after_mark(reported(without, order), "cupel-missing: "),
            "ibnetdiscover");
  const auto refused = reported(without_right, order);
  EXPECT_EQ(burnin::script::after_mark(refused, "cupel-missing: "), "perfquery");
  EXPECT_THAT(burnin::script::complaint(refused), HasSubstr("can't open UMAD port"));
}

TEST(FabricPairsStage, RunsNothingByAnOrderThatIsOutOfItsBounds) {
  const auto refused = [](const std::string& from, const std::string& to) {
    const std::vector<burnin::fabric::CounterQuery> queries{{1, "mlx5_6", 20, {4}}};
    auto order = flows_order(kBothWays, {}, queries);
    const auto at = order.find(from);
    EXPECT_NE(at, order.npos) << from;
    order.replace(at, from.size(), to);
    LoadBench bench;
    bench.programs.add("ib_write_bw", {.status = 0, .out = kTable});
    const auto report = reported(bench, order);
    EXPECT_THAT(bench.programs.asked, IsEmpty()) << order;
    return report.errors;
  };

  EXPECT_THAT(refused("ib_write_bw", "reboot"), HasSubstr("no program that this stage knows"));
  EXPECT_THAT(refused(R"("latency":false)", R"("latency":0)"), HasSubstr("no latency"));
  EXPECT_THAT(refused(R"("seconds":10)", R"("seconds":1e9)"), HasSubstr("seconds from 1 to 600"));
  EXPECT_THAT(refused(R"("tries":60)", R"("tries":0)"), HasSubstr("tries from 1"));
  EXPECT_THAT(refused("18516", "80"), HasSubstr("port from 1024 to 65535"));
  EXPECT_THAT(refused(R"("rail":1)", R"("rail":64)"), HasSubstr("rail from 0 to 63"));
  for (const auto* bad : {"-x", "../mlx5_0", "a b", "", "mlx5_0\\u0000"})
    EXPECT_THAT(refused(R"("hca":"mlx5_6")", R"("hca":")" + std::string{bad} + '"'),
                HasSubstr("hca that is a device's name"));
  for (const auto* bad : {"--out_json_file=/etc/passwd", "$(reboot)", "a b", ""})
    EXPECT_THAT(refused("10.0.0.2", bad), HasSubstr("to that is a host's name or address"));
  EXPECT_THAT(refused(R"("lid":20)", R"("lid":0)"), HasSubstr("lid from 1"));
  EXPECT_THAT(refused("[4]", "[4000]"), HasSubstr("port of a switch"));
  EXPECT_THAT(refused("[4]", "[]"), HasSubstr("ports to read"));
  EXPECT_THAT(refused(R"("servers":[)", R"("servers":{},"other":[)"), HasSubstr("servers"));
  EXPECT_THAT(refused(R"({)", R"({"look":["-x"],)"), HasSubstr("HCA's name"));
}

// ---- Ranks ----

const std::string kId = "9a5de56de6ae7fa60200987b0a000001" + std::string(224, '0');
constexpr const char* kStarted =
    R"({"kind":"start","program":"cupel-burn","protocol":1,"command":"collective","nccl":"2.28.9"})"
    "\n";
constexpr const char* kEnded =
    R"({"kind":"end","seconds":9,"faults":0,"complete":true,"stopped":false})"
    "\n";

std::string id_line() {
  return R"({"kind":"nccl-id","id":")" + kId + R"(","address":"10.0.0.1","port":39035})" + "\n";
}

/// The job of a member of two nodes of eight GPUs each; with what the fabric's rail needs.
burnin::MemberJob rank_job(std::size_t place, burnin::fabric::Collectives collectives = {},
                           int rail = -1) {
  collectives.least = 8;
  collectives.most = 1u << 30;
  const burnin::fabric::Team team{"all", {0, 1}, rail};
  return burnin::fabric::nccl_job(collectives, team, rail < 0 ? 8 : 1,
                                  {place, rail < 0 ? "" : "mlx5_6", "10.0.0.2"});
}

std::string text_of(const json::object& order) { return json::serialize(order); }

TEST(FabricNcclStage, RunsTheRanksOfANodeWithTheIdOfItsOrderOnStandardInputAlone) {
  LoadBench bench;
  bench.programs.add("cupel-burn", {.status = 3, .out = std::string{kStarted} + kEnded});

  const int status = bench.run("fabric-nccl", text_of(order_of(rank_job(1), kId)));

  EXPECT_EQ(status, 0);
  EXPECT_THAT(bench.programs.asked,
              ElementsAre("cupel-burn collective --ops all_reduce --min 8 --max 1073741824 "
                          "--factor 4 --times 20 --ranks 16 --rank-base 8 --gpus 0-7 "
                          "--join-within 120 --hang-after 60 --seconds 180 --address 10.0.0.2 "
                          "--id-file -"));
  EXPECT_EQ(bench.programs.last.input, kId + "\n");
  const auto report = burnin::fabric::nccl_report({bench.lines.text, "", status});
  EXPECT_EQ(report.text, std::string{kStarted} + kEnded + "cupel-run-status: 3\n");
  EXPECT_EQ(burnin::fabric::read_across(report).status, 3);
  EXPECT_EQ(burnin::fabric::nccl_report({report.text, "", 0}).text, report.text)
      << "as the script of an earlier version printed it";
}

TEST(FabricNcclStage, GivesNcclTheHcaOfARailAndTheVariablesOfTheSite) {
  LoadBench bench;
  bench.programs.add("cupel-burn", {.status = 0});
  burnin::fabric::Collectives collectives;
  collectives.interface = "bond0";
  collectives.steps = 30;
  collectives.environment = {{"NCCL_IB_SL", "1"}};

  bench.run("fabric-nccl", text_of(order_of(rank_job(0, collectives, 3))));

  EXPECT_THAT(bench.programs.asked.at(0),
              AllOf(HasSubstr("train --repeats 1 --passes 30 --ranks 2 --rank-base 0 --gpus 3 "),
                    HasSubstr("--interface bond0 --make-id"), Not(HasSubstr("--address"))));
  EXPECT_THAT(bench.programs.last.environment,
              ElementsAre(Pair("NCCL_IB_HCA", "=mlx5_6"), Pair("NCCL_IB_SL", "1")));
}

TEST(FabricNcclStage, HandsOnTheIdWhileItsRanksWaitForTheOthers) {
  const burnin::FakeTools tools;
  const auto go = tools.folder() + "/go";
  ASSERT_EQ(::mkfifo(go.c_str(), 0600), 0);
  tools.add("cupel-burn", "echo '" + id_line().substr(0, id_line().size() - 1) +
                              "'\nread -r line <" + go + "\necho '{\"kind\":\"end\"}'");
  const auto script =
      "printf '%s\\n' '" + text_of(order_of(rank_job(0))) + "' | " NODE_BINARY " stage fabric-nccl";

  testing::Child node{{"sh", "-c", script}, {"PATH=" + tools.folder() + ":/usr/bin:/bin"}};

  ASSERT_TRUE(node.wait_for(R"("port":39035})"
                            "\n"));
  std::ofstream{go} << "on\n";  // nothing reads it before the ranks wait
  const auto ran = node.wait();
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto id = burnin::fabric::id_printed(ran.out);
  ASSERT_TRUE(id) << id.error().what;
  EXPECT_EQ(**id, kId);
  EXPECT_LT(ran.out.find(R"({"kind":"nccl-id")"), ran.out.find(R"({"kind":"evidence")"));
}

TEST(FabricNcclStage, LeavesProgressOutAndReportsAnIdThatIsNoneAsItIs) {
  LoadBench bench;
  const std::string progress = R"({"kind":"progress","seconds":1})"
                               "\n";
  bench.programs.add("cupel-burn", {.status = 0,
                                    .out = progress + kStarted + "{\"kind\":\"nccl-id\",\n" +
                                           progress + kEnded + progress});

  const int status = bench.run("fabric-nccl", text_of(order_of(rank_job(0))));

  EXPECT_FALSE(burnin::fabric::id_printed(bench.lines.text)) << "the others need not wait";
  EXPECT_THAT(burnin::fabric::nccl_report({bench.lines.text, "", status}).text,
              AllOf(Not(HasSubstr("progress")), HasSubstr(kStarted), HasSubstr(kEnded)));
}

TEST(FabricNcclStage, ChecksThatTheAddressInAnIdIsReached) {
  const auto job = rank_job(1);
  const auto refusal = [&](const Ran& ran) {
    LoadBench bench;
    bench.programs.add("cupel-burn nccl-id --id-file -", ran);
    const auto order = text_of(burnin::order_in(job.with_shared.check(kId)));
    const int status = bench.run("fabric-nccl", order);
    EXPECT_EQ(bench.programs.last.input, kId + "\n");
    return job.with_shared.refusal({bench.lines.text, "", status});
  };

  EXPECT_EQ(refusal({.status = 0, .out = kStarted}), "");
  EXPECT_EQ(
      refusal({.status = 2,
               .out = std::string{kStarted} +
                      R"({"kind":"error","code":"nccl","message":"no TCP connection"})" + "\n"}),
      "no TCP connection");
}

TEST(FabricNcclStage, ProvesNothingWithoutCupelBurnOrWhereTheOutputHasNoEnd) {
  LoadBench bench;
  const int status = bench.run("fabric-nccl", text_of(order_of(rank_job(1), kId)));

  EXPECT_EQ(status, 2);
  EXPECT_EQ(burnin::gave_up_in({bench.lines.text, "", status}),
            "cupel-burn is not installed on the node");
  const std::string begun = R"({"kind":"stage","stage":"fabric-nccl","protocol":1})";
  EXPECT_EQ(burnin::fabric::nccl_report({begun + "\n", "", 0}).text, "");
}

TEST(FabricNcclStage, RunsNothingByAnOrderThatIsOutOfItsBounds) {
  const auto refused = [](const std::string& from, const std::string& to) {
    burnin::fabric::Collectives collectives;
    collectives.environment = {{"NCCL_IB_SL", "1"}};
    auto order = text_of(order_of(rank_job(1, collectives), kId));
    const auto at = order.find(from);
    EXPECT_NE(at, order.npos) << from;
    order.replace(at, from.size(), to);
    LoadBench bench;
    bench.programs.add("cupel-burn", {.status = 0});
    const int status = bench.run("fabric-nccl", order);
    EXPECT_THAT(bench.programs.asked, IsEmpty()) << order;
    return burnin::gave_up_in({bench.lines.text, "", status}).value_or("nothing was refused");
  };

  EXPECT_THAT(refused(R"("work":"collective")", R"("work":"gemm")"), HasSubstr("no work"));
  EXPECT_THAT(refused("all_reduce", "all_reduce --id x"), HasSubstr("operation"));
  EXPECT_THAT(refused(R"(["all_reduce"])", "[]"), HasSubstr("operations"));
  EXPECT_THAT(refused(R"("max":1073741824)", R"("max":1e18)"), HasSubstr("max from 8"));
  EXPECT_THAT(refused(R"("ranks":16)", R"("ranks":1)"), HasSubstr("ranks from 2"));
  EXPECT_THAT(refused(R"("gpus":8)", R"("gpus":65)"), HasSubstr("gpus from 1 to 64"));
  EXPECT_THAT(refused("10.0.0.2", "--id-file"), HasSubstr("address"));
  EXPECT_THAT(refused(kId, kId.substr(2)), HasSubstr("id of 256 hexadecimal digits"));
  EXPECT_THAT(refused(kId, "x" + kId.substr(1)), HasSubstr("id of 256"));
  for (const auto* name : {"LD_PRELOAD", "NCCL_DEBUG_FILE", "NCCL_COMM_ID", "NCCL_=x"})
    EXPECT_THAT(refused("NCCL_IB_SL", name), HasSubstr(name));
  EXPECT_THAT(refused(R"("NCCL_IB_SL":"1")", R"("NCCL_IB_SL":"a\nb")"), HasSubstr("NCCL_IB_SL"));
  EXPECT_THAT(refused(R"({"NCCL_IB_SL":"1"})", "[]"), HasSubstr("environment"));
}

}  // namespace
}  // namespace cupel::agent
