// The stages that cupel-node does itself: over a written tree, tools from a table and a clock of
// the test's own, read by the controller's own parsers; and the program with real processes.
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>

#include "burnin/agent/node/stages/stage.h"
#include "burnin/agent/node/subcommand.h"
#include "tests/agent/node_tree.h"
#include "tests/burnin/tools.h"
#include "tests/support/real_part.h"

namespace cupel::agent {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// "dcgmi diag -r 2 -j"
std::string line_of(const Command& command) {
  std::string line;
  for (const auto& word : command.argv) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// Answers by how a command line begins; of several answers each once, and the last again.
class TableOfPrograms final : public Programs {
 public:
  void add(const std::string& begins, std::vector<std::string> outs) {
    for (auto& out : outs) answers_[begins].push_back({.status = 0, .out = std::move(out)});
  }
  std::string folder_of(const std::string& name) const override {
    for (const auto& [begins, all] : answers_)
      if (begins.substr(0, begins.find(' ')) == name) return "/usr/bin";
    return {};
  }
  std::vector<std::string> asked{};
  std::vector<int> cpus{};                  // those that the last command asked for
  std::optional<std::vector<int>> given{};  // in place of them
  bool suspends = false;
  Wait<Ran>* waiting = nullptr;
  int start(const Command& command) override {
    started_.push_back({++last_, ran_of(command)});
    return last_;
  }

 private:
  bool begin_first_end(std::chrono::milliseconds, Wait<std::optional<Ended>>& wait) override {
    if (started_.empty()) return true;
    wait.answer(std::move(started_.front()));
    started_.pop_front();
    return true;
  }
  bool begin_stop(int number, Wait<Ran>& wait) override {
    const auto found = std::ranges::find(started_, number, &Ended::number);
    if (found == started_.end()) return true;
    wait.answer(std::move(found->ran));
    started_.erase(found);
    return true;
  }
  bool begin(const Command& command, Wait<Ran>& wait) override {
    wait.answer(ran_of(command));
    waiting = &wait;
    return !suspends;
  }
  Ran ran_of(const Command& command) {
    asked.push_back(line_of(command));
    cpus = command.cpus;
    auto ran = next(asked.back());
    if (command.shorten) command.shorten(ran.out);
    ran.cpus = cpus.empty() ? cpus : given.value_or(cpus);
    return ran;
  }
  Ran next(const std::string& line) {
    for (auto& [begins, all] : answers_) {
      if (!line.starts_with(begins)) continue;
      auto first = all.front();
      if (all.size() > 1) all.erase(all.begin());
      return first;
    }
    return {.status = 127};
  }
  std::map<std::string, std::vector<Ran>> answers_{};
  std::deque<Ended> started_{};
  int last_ = 0;
};

class TestClock final : public StageClock {
 public:
  std::chrono::milliseconds now() const override { return time; }
  std::chrono::milliseconds time{};

 private:
  bool begin(std::chrono::milliseconds span, Wait<Passed>& wait) override {
    time += span;
    wait.answer({});
    return true;
  }
};

class KeptLines final : public StageLines {
 public:
  void write(const JsonLine& line) override { text += line.text(); }
  std::string text{};
};

/// A node with nothing on it, and what a stage makes of it.
struct StageBench {
  NodeTree files{};
  TableOfPrograms programs{};
  TestClock clock{};
  KeptLines lines{};

  burnin::Output run(const std::string& stage, const std::string& order = "{}") {
    const auto tree = files.tree();
    Node node{tree, programs, clock, lines};
    auto work = run_stage(node, stage, order);
    work.start();
    return {lines.text, "", work.result()};
  }
  Result<burnin::Findings> found(const std::string& stage, const std::string& order = "{}") {
    return burnin::parsed(stage, run(stage, order));
  }
};

constexpr const char* kQos =
    "DCBX mode: OS controlled\nPriority trust state: dscp\n"
    "PFC configuration:\n\tenabled     0   0   0   1   0   0   0   0   \n";

/// One HCA of Ethernet, and one of InfiniBand.
void add_hcas(const NodeTree& files) {
  const std::string hca = "/sys/class/infiniband/mlx5_0";
  files.write(hca + "/ports/1/link_layer", "Ethernet");
  for (const auto& [index, type, gid] :
       {std::tuple{"1", "RoCE v2", "fe80:0000:0000:0000:966d:aeff:fe12:3456"},
        {"2", "IB/RoCE v1", "0000:0000:0000:0000:0000:ffff:0a01:0203"},
        {"3", "RoCE v2", "0000:0000:0000:0000:0000:ffff:0a01:0203"},
        {"5", "RoCE v2", "0000:0000:0000:0000:0000:ffff:0a01:0204"}}) {
    files.write(hca + "/ports/1/gid_attrs/types/" + index, type);
    files.write(hca + "/ports/1/gids/" + index, gid);
  }
  files.write(hca + "/tc/1/traffic_class", "Global tclass=106");
  files.write("/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos", "106");
  files.write(hca + "/device/net/eth4/mtu", "9000");
  for (const auto& [priority, notifies, reacts] :
       {std::tuple{"2", "0", "0"}, {"3", "1", "1"}, {"4", "1", "0"}}) {
    files.write(hca + "/device/net/eth4/ecn/roce_np/enable/" + priority, notifies);
    files.write(hca + "/device/net/eth4/ecn/roce_rp/enable/" + priority, reacts);
  }
  files.write("/sys/class/infiniband/mlx5_1/ports/1/link_layer", "InfiniBand");
}

TEST(AgentStage, RoceReadsWhatASiteStatesOfItsLosslessClass) {
  StageBench bench;
  add_hcas(bench.files);
  bench.programs.add("mlnx_qos -i eth4", {kQos});

  const auto found = bench.found("roce");

  ASSERT_TRUE(found) << found.error().what;
  const auto of_hca = [&](std::string_view name) { return value_of(*found, name, "mlx5_0"); };
  EXPECT_EQ(of_hca("roce.gid"), 3) << "the first of RoCE v2 with an IPv4 address";
  EXPECT_EQ(of_hca("roce.mtu"), 9000);
  EXPECT_EQ(of_hca("roce.tclass"), 106);
  EXPECT_EQ(of_hca("roce.dscp"), 26);
  EXPECT_EQ(of_hca("roce.tos"), 106);
  EXPECT_EQ(of_hca("roce.trust"), 1);
  EXPECT_EQ(of_hca("roce.pfc.3"), 1);
  EXPECT_EQ(of_hca("roce.pfc.0"), 0);
  EXPECT_EQ(of_hca("roce.ecn.3"), 1);
  EXPECT_EQ(of_hca("roce.ecn.4"), 0) << "one end of two";
  EXPECT_EQ(value_of(*found, "roce.hcas"), 1);
  EXPECT_TRUE(found->unknown.empty());
}

TEST(AgentStage, RoceReportsWhatIsNotThereAndTakesNoneOfItForZero) {
  StageBench bench;
  bench.files.write("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet");
  bench.files.write("/sys/class/infiniband/mlx5_0/device/net/eth4/mtu", "-1");

  const auto found = bench.found("roce");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->measurements.size(), 1u) << "the number of HCAs alone";
  EXPECT_EQ(found->unknown.size(), 3u);
}

TEST(AgentStage, RoceProvesNothingWhereNoPortIsEthernet) {
  StageBench bench;
  bench.files.write("/sys/class/infiniband/mlx5_1/ports/1/link_layer", "InfiniBand");

  const auto found = bench.found("roce");

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kNoMeasurement);
  EXPECT_THAT(found.error().what, HasSubstr("Ethernet"));
}

constexpr const char* kDiagnosed =
    R"({"DCGM Diagnostic":{"test_categories":[{"category":"Hardware","tests":[{"name":"memory",)"
    R"("results":[{"entity_group":"GPU","entity_id":0,"status":"Pass"}]}]}]}})"
    "\n";
constexpr const char* kLevelTwo = R"({"level":2,"limit":900})";

/// An nvidia-smi of one idle GPU, at gpu3's place.
void add_gpu(TableOfPrograms& programs, std::vector<std::string> uses = {"00000000:61:00.0, 3\n"},
             const std::string& holders = "", const std::string& mig = "Disabled\n") {
  programs.add("nvidia-smi --query-gpu=index", {"0, 00000000:61:00.0\n"});
  programs.add("nvidia-smi --query-gpu=mig", {mig});
  programs.add("nvidia-smi --query-gpu=pci", std::move(uses));
  programs.add("nvidia-smi --query-compute-apps", {holders});
  programs.add("dcgmi diag", {kDiagnosed});
}

TEST(AgentStage, DcgmDiagNamesGpusByTheirPlace) {
  StageBench bench;
  add_gpu(bench.programs);

  const auto found = bench.found("dcgm-diag", kLevelTwo);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "dcgm.passed", "gpu3"), 1);
  EXPECT_EQ(bench.programs.asked.back(), "dcgmi diag -r 2 -j");
  EXPECT_EQ(bench.clock.time.count(), 0);
}

TEST(AgentStage, DcgmDiagWaitsUntilGpusAreIdle) {
  const std::string busy = "00000000:61:00.0, 97\n", idle = "00000000:61:00.0, 3\n";
  StageBench bench;
  add_gpu(bench.programs, {busy, busy, idle});

  const auto found = bench.found("dcgm-diag", kLevelTwo);

  EXPECT_TRUE(found) << found.error().what;
  EXPECT_EQ(bench.clock.time, std::chrono::seconds{8}) << "two pauses of four seconds";
}

TEST(AgentStage, DcgmDiagLeavesGpusAloneThatAreInUseOrShared) {
  const auto refused_with = [](const std::string& use, const std::string& holders,
                               const std::string& mig) {
    StageBench bench;
    add_gpu(bench.programs, {use}, holders, mig);
    const auto found = bench.found("dcgm-diag", kLevelTwo);
    EXPECT_THAT(bench.lines.text, Not(HasSubstr("\"evidence\",\"name\":\"dcgmi\"")));
    EXPECT_LE(bench.clock.time, std::chrono::seconds{60});
    return burnin::refusal(found);
  };

  EXPECT_THAT(refused_with("0000:61:00.0, 3\n", "", "Enabled\n"), HasSubstr("MIG is on"));
  EXPECT_THAT(refused_with("0000:61:00.0, 3\n",
                           "0000:1B:00.0, 42, python3\n0000:43:00.0, 43, a, b\n", "[N/A]\n"),
              HasSubstr("in use: 2 other programs"));
  EXPECT_THAT(refused_with("0000:61:00.0, 11\n", "", "Disabled\n"),
              HasSubstr("busy, and no program is listed"));
}

TEST(AgentStage, DcgmDiagReportsAToolThatIsNotInstalled) {
  StageBench none, no_driver;
  no_driver.programs.add("dcgmi diag", {kDiagnosed});

  EXPECT_EQ(burnin::refusal(none.found("dcgm-diag", kLevelTwo)),
            "dcgmi is not installed on the node");
  EXPECT_EQ(burnin::refusal(no_driver.found("dcgm-diag", kLevelTwo)),
            "nvidia-smi is not installed on the node");
}

constexpr const char* kCopies = R"({"buffer":512,"samples":3,"limit":900})";
constexpr const char* kPinnedCopies = R"({"buffer":512,"samples":3,"limit":900,"numa":1})";
constexpr const char* kCopied =
    "Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n"
    "          0\n0     55.03\n";

/// An nvbandwidth of that help beside an idle GPU.
void add_nvbandwidth(TableOfPrograms& programs, const std::string& help) {
  add_gpu(programs);
  programs.add("nvbandwidth --help", {help});
  programs.add("nvbandwidth -b", {kCopied});
}

TEST(AgentStage, NvbandwidthAsksForCopyEnginesByName) {
  StageBench bench;
  add_nvbandwidth(bench.programs, "-j [ --json ]  Print output in json format\n");

  const auto found = bench.found("nvbandwidth", kCopies);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(bench.programs.asked.back(),
            "nvbandwidth -b 512 -i 3 -j -t host_to_device_memcpy_ce device_to_host_memcpy_ce "
            "device_to_device_memcpy_write_ce device_to_device_memcpy_read_ce");
  EXPECT_EQ(value_of(*found, "pcie.h2d", "gpu3"), 55.03);
}

TEST(AgentStage, NvbandwidthIsAskedForTextWhereItsVersionKnowsNoJson) {
  StageBench bench;
  add_nvbandwidth(bench.programs, "-h [ --help ]  Produce help message\n");

  EXPECT_TRUE(bench.found("nvbandwidth", kCopies));
  EXPECT_THAT(bench.programs.asked.back(), HasSubstr("nvbandwidth -b 512 -i 3 -t "));
}

TEST(AgentStage, KeepsAToolOnTheNumaNodeThatWasAskedFor) {
  StageBench bench;
  add_nvbandwidth(bench.programs, "");
  bench.files.write("/sys/devices/system/node/node1/cpulist", "2-3,6");

  const auto found = bench.found("nvbandwidth", kPinnedCopies);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(bench.programs.asked.back(), HasSubstr(" --disableAffinity "))
      << "it would go elsewhere";
  EXPECT_THAT(bench.programs.cpus, ElementsAre(2, 3, 6));
  EXPECT_EQ(found->facts.at("host.pinned"), "NUMA node 1, CPUs 2-3,6");
}

TEST(AgentStage, RunsNoToolWhereTheKernelGivesOtherCpusOrTheNodeHasNone) {
  for (const auto& [list, why] : {std::pair{"2-3,6", "numa 1 is CPUs 2-3,6, and it may run on 0-1"},
                                  {"", "the node has no NUMA node 1 with CPUs"},
                                  {"3-2", "the node has no NUMA node 1 with CPUs"},
                                  {"0-99999999", "the node has no NUMA node 1 with CPUs"}}) {
    StageBench bench;
    add_nvbandwidth(bench.programs, "");
    bench.programs.given = {0, 1};
    bench.files.write("/sys/devices/system/node/node1/cpulist", list);

    EXPECT_THAT(burnin::refusal(bench.found("nvbandwidth", kPinnedCopies)), HasSubstr(why));
    EXPECT_THAT(bench.lines.text, Not(HasSubstr(R"("name":"nvbandwidth")")));
  }
}

std::string burn_order(const std::string& folder, const std::string& precision = "tensor") {
  return R"({"seconds":30,"limit":900,"directory":")" + folder + R"(","precision":")" + precision +
         R"("})";
}

TEST(AgentStage, GpuBurnKeepsOneLineOfEachPerCentAndAllOthers) {
  const auto drawn = [](const std::string& percent, const std::string& work) {
    return "\r" + percent + "%  proc'd: " + work + " (5 Gflop/s)   errors: 1   temps: 40 C ";
  };
  StageBench bench;
  add_gpu(bench.programs);
  bench.programs.add("gpu_burn", {""});  // in PATH
  bench.programs.add("env -C",
                     {"Burning for 30 seconds.\n" + drawn("1.0", "1") + drawn("1.4", "2") +
                      drawn("100.0", "3") + "\ndone\n\nTested 1 GPUs:\n\tGPU 0: FAULTY\n"});

  const auto found = bench.found("gpu-burn", burn_order("/opt/gpu-burn", "double"));

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(bench.programs.asked.back(), "env -C /usr/bin /usr/bin/gpu_burn -d -tc 30");
  EXPECT_THAT(bench.lines.text, Not(HasSubstr("proc'd: 1 ")));
  EXPECT_THAT(bench.lines.text, AllOf(HasSubstr("proc'd: 2 "), HasSubstr("proc'd: 3 ")));
  EXPECT_EQ(value_of(*found, "gpuburn.errors", "gpu3"), 1);
  EXPECT_EQ(value_of(*found, "gpuburn.double.rate", "gpu3"), 0.005);
}

TEST(AgentStage, CpuMemoryCountsWhatTheKernelKilledMeanwhile) {
  StageBench bench;
  bench.files.write("/proc/vmstat", "nr_free_pages 812\noom_kill 3\noom_kill_x 4");
  bench.programs.add("stress-ng", {"stress-ng: fail:  [1] vm: detected 3 memory errors\n"});

  const auto found = bench.found("cpu-memory", R"({"seconds":300,"percent":80,"limit":675})");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "stress.failures"), 1);
  EXPECT_THAT(bench.programs.asked,
              ElementsAre("stress-ng --cpu 0 --cpu-method all --vm 0 --vm-bytes 80% --vm-method "
                          "all --verify --metrics --timeout 300s"));
  EXPECT_THAT(bench.lines.text, AllOf(HasSubstr(R"("oom-kills-before","text":"3")"),
                                      HasSubstr(R"("oom-kills-after","text":"3")")));
}

std::string collective_order(const std::string& folder) {
  return R"({"bytes":8589934592,"limit":1200,"operation":"all_reduce","nvls":"off","directory":")" +
         folder + R"("})";
}

TEST(AgentStage, ToolsOfGpusThatAreNotInstalledProveNothingInWords) {
  for (const auto& [stage, tool, order] :
       {std::tuple{"nvbandwidth", "nvbandwidth", std::string{kCopies}},
        {"gpu-burn", "gpu_burn", burn_order("/opt/gpu-burn")},
        {"nccl-tests", "all_reduce_perf", collective_order("/opt/nccl-tests")}}) {
    StageBench bench;
    add_gpu(bench.programs);

    EXPECT_EQ(burnin::refusal(bench.found(stage, order)),
              std::string{tool} + " is not installed on the node");
  }
}

constexpr const char* kLookFromTwo = R"({"report":true,"look":[["mlx5_0","mlx5_1"]]})";

TEST(AgentStage, FabricCablesReportsEthernetHcasAndTheirInterfacesAlone) {
  StageBench bench;
  const std::string hcas = "/sys/class/infiniband/";
  bench.files.write(hcas + "mlx5_0/node_guid", "a088:c203:0000:0001");
  bench.files.write(hcas + "mlx5_0/ports/1/link_layer", "Ethernet");
  bench.files.write(hcas + "mlx5_0/device/net/eth4/operstate", "up");
  bench.files.write(hcas + "mlx5_1/ports/1/link_layer", "InfiniBand");
  bench.files.write(hcas + "mlx5_1/device/net/ib1/operstate", "up");
  bench.programs.add("lldpctl -f json0", {"{}"});

  const auto with = bench.run("fabric-cables", R"({"report":true})").text;

  EXPECT_THAT(
      with, AllOf(HasSubstr(R"("name":"guid mlx5_0","text":"a088:c203:0000:0001")"),
                  HasSubstr(R"("name":"ethernet mlx5_0")"),
                  HasSubstr(R"("name":"net mlx5_0 eth4","text":"up")"), Not(HasSubstr("mlx5_1"))));
  EXPECT_THAT(bench.programs.asked, ElementsAre("lldpctl -f json0"));
}

TEST(AgentStage, FabricCablesLooksFromTheFirstHcaOfAnIslandThatCan) {
  StageBench bench;
  bench.programs.add("ibnetdiscover -C mlx5_1", {"Switch"});  // mlx5_0 cannot

  const auto output = bench.run("fabric-cables", kLookFromTwo);
  bench.programs.asked.clear();
  const auto again = bench.run("fabric-cables", R"({"look":[["mlx5_1","mlx5_0"]]})");

  EXPECT_EQ(output.exit_status, kDone) << output.text;
  EXPECT_THAT(output.text, HasSubstr(R"("part":"mlx5_1")"));
  EXPECT_THAT(bench.programs.asked, ElementsAre("ibnetdiscover -C mlx5_1 -P 1"));
}

TEST(AgentStage, FabricCablesReportsToolsThatAreNotInstalled) {
  StageBench bench;
  bench.files.write("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet");

  EXPECT_THAT(bench.run("fabric-cables", kLookFromTwo).text,
              AllOf(HasSubstr("lldpctl is not installed (lldpd)"),
                    HasSubstr(R"("name":"cupel-missing:","text":"ibnetdiscover")")));
}

TEST(AgentStage, IsSuspendedUntilItsToolHasEnded) {
  StageBench bench;
  add_hcas(bench.files);
  bench.programs.add("mlnx_qos", {kQos});
  bench.programs.suspends = true;
  const auto tree = bench.files.tree();
  Node node{tree, bench.programs, bench.clock, bench.lines};

  auto work = run_stage(node, "roce", "{}");
  work.start();
  const bool done_before = work.done();
  bench.programs.waiting->resume();

  EXPECT_FALSE(done_before);
  ASSERT_TRUE(work.done());
  EXPECT_EQ(work.result(), kDone);
  EXPECT_TRUE(burnin::parsed("roce", bench.lines.text));
}

TEST(AgentStage, RefusesAnOrderThatItCannotRead) {
  for (const auto& [stage, order, status, why] :
       {std::tuple{"roce", std::string{"{"}, kUsage, "no JSON object"},
        {"roce", std::string{"[]"}, kUsage, "no JSON object"},
        {"roce", std::string(kMostOrder + 1, ' '), kUsage, "longer than"},
        {"sleep", std::string{"{}"}, kUsage, "has no stage 'sleep'"},
        {"dcgm-diag", std::string{R"({"level":5,"limit":9})"}, kFoundOutNothing, "level from 1"},
        {"dcgm-diag", std::string{R"({"level":"2"})"}, kFoundOutNothing, "level from 1"},
        {"dcgm-diag", std::string{R"({"level":2,"limit":1e9})"}, kFoundOutNothing, "limit from"},
        {"nvbandwidth", std::string{R"({"buffer":512,"samples":0})"}, kFoundOutNothing,
         "samples from 1 to 1000"},
        {"gpu-burn", std::string{R"({"directory":"/opt/../etc"})"}, kFoundOutNothing,
         "directory that is a folder's path"},
        {"gpu-burn", std::string{R"({"directory":"/x","seconds":30,"precision":"half"})"},
         kFoundOutNothing, "precision that this stage knows"},
        {"cpu-memory", std::string{R"({"seconds":1,"percent":96})"}, kFoundOutNothing,
         "percent from 1 to 95"},
        {"cpu-memory", std::string{R"({"seconds":1})"}, kFoundOutNothing, "bytes from 1048576"},
        {"fabric-cables", std::string{R"({"look":["mlx5_0"]})"}, kFoundOutNothing, "list of lists"},
        {"fabric-cables", std::string{R"({"look":[["-o"]]})"}, kFoundOutNothing, "list of lists"},
        {"nccl-tests", std::string{R"({"directory":"/x","operation":"reboot"})"}, kFoundOutNothing,
         "operation that this stage knows"}}) {
    StageBench bench;
    const auto output = bench.run(stage, order);

    EXPECT_EQ(output.exit_status, status) << order.substr(0, 40);
    EXPECT_THAT(output.text, AllOf(HasSubstr("\"gave-up\""), HasSubstr(why)));
  }
}

/// The program itself on this machine, with tools of the test's own first in PATH.
struct RealNode {
  burnin::FakeTools tools{};
  NodeTree files{};

  burnin::Output run(const std::string& stage, const std::string& order) const {
    return run(stage, order, files.root());
  }
  burnin::Output run(const std::string& stage, const std::string& order,
                     const std::string& root) const {
    return burnin::run_script("printf '%s' " + shell_quoted(order) + " | " NODE_BINARY " stage " +
                                  stage + " --root " + root + "\n",
                              "PATH=" + tools.folder() + ":$PATH\nexport PATH\n");
  }
};

TEST(NodeStage, EndsWhatAToolLeavesBehindAndDoesNotWaitForIt) {
  RealNode node;
  add_hcas(node.files);
  const auto file = node.tools.folder() + "/left";
  node.tools.add("mlnx_qos",
                 "[ \"$1 $2\" = '-i eth4' ] || exit 1\n"
                 "setsid sleep 1000 &\necho $! > " +
                     file + "\necho 'Priority trust state: dscp'");

  const auto output = node.run("roce", "{}");
  const auto found = burnin::parsed("roce", output);
  const auto left = number<pid_t>(trimmed(*read_file(file, 64)));

  ASSERT_TRUE(found) << found.error().what << output.errors;
  EXPECT_EQ(value_of(*found, "roce.trust", "mlx5_0"), 1);
  ASSERT_TRUE(left);
  EXPECT_NE(::kill(*left, 0), 0);
}

/// dcgmi of the test's own, on a node whose GPUs are idle; the end of what cupel-node printed of
/// it.
std::string reported_of(const std::string& dcgmi, const std::string& limit) {
  RealNode node;
  node.tools.add("nvidia-smi", std::string{burnin::kIdleSmi});
  node.tools.add("dcgmi", dcgmi);
  const auto output = node.run("dcgm-diag", R"({"level":1,"limit":)" + limit + "}");
  EXPECT_EQ(output.exit_status, kDone) << output.errors;
  return output.text.substr(
      std::min(output.text.rfind(R"({"kind":"evidence")"), output.text.size()));
}

/// What the stage finds on this machine itself with its stress-ng.
Result<burnin::Findings> stressed(const std::string& seconds, const std::string& bytes) {
  return burnin::parsed(
      "cpu-memory",
      RealNode{}.run("cpu-memory",
                     R"({"limit":600,"seconds":)" + seconds + R"(,"bytes":)" + bytes + "}", "/"));
}

TEST(NodeStage, FindsNothingWrongWithTheCpusAndTheMemoryOfThisMachine) {
  CUPEL_NEEDS_REAL_PART(burnin::installed("stress-ng"), "stress-ng is not installed");

  const auto found = stressed("2", "33554432");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "stress.failures"), 0);
  EXPECT_GT(value_of(*found, "stress.bogo_ops", "vm").value_or(0), 0);
}

TEST(NodeStage, CpuMemoryIsInconclusiveWhereStressNgHadNoMemory) {
  CUPEL_NEEDS_REAL_PART(burnin::installed("stress-ng"), "stress-ng is not installed");

  const auto found = stressed("1", "70368744177664");

  ASSERT_FALSE(found) << "stress-ng calls this a successful run";
  EXPECT_EQ(found.error().code, Code::kNoMeasurement);
}

/// What an nvbandwidth of the test's own reports of the CPUs that it may run on, on a node whose
/// NUMA node 1 has these.
std::string run_on(const std::string& cpus) {
  RealNode node;
  node.tools.add("nvidia-smi", std::string{burnin::kIdleSmi});
  node.tools.add("nvbandwidth", "grep Cpus_allowed_list: /proc/self/status");
  node.files.write("/sys/devices/system/node/node1/cpulist", cpus);
  return node.run("nvbandwidth", kPinnedCopies).text;
}

TEST(NodeStage, KeepsAToolOnTheCpusOfItsOrder) {
  cpu_set_t mine;
  ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
  int first = 0;
  while (!CPU_ISSET(first, &mine)) ++first;

  EXPECT_THAT(run_on(std::to_string(first)),
              AllOf(HasSubstr("Cpus_allowed_list:\\u0009" + std::to_string(first) + "\\n"),
                    HasSubstr("NUMA node 1, CPUs " + std::to_string(first) + "\"")));
  EXPECT_THAT(run_on("8000"), AllOf(HasSubstr("numa 1 is CPUs 8000, and it may run on"),
                                    Not(HasSubstr("Cpus_allowed_list"))));
}

/// A folder of a site with a gpu_burn of the test's own, on a node whose GPUs are idle.
struct SiteFolder {
  RealNode node{};
  burnin::FakeTools site{};

  SiteFolder() {
    node.tools.add("nvidia-smi", std::string{burnin::kIdleSmi});
    site.add("gpu_burn", "pwd; echo it ran as $(id -u)");
  }
  std::string run() const { return node.run("gpu-burn", burn_order(site.folder()), "/").text; }
  void allow(const std::string& path, unsigned mode) const {
    EXPECT_EQ(::chmod((site.folder() + path).c_str(), mode), 0);
  }
};

TEST(NodeStage, NcclTestsRunInAnEnvironmentOfTheirOwn) {
  SiteFolder folder;
  folder.site.add("all_reduce_perf", "env; echo \"asked: $*\"; echo log >/dev/stderr");
  ASSERT_EQ(::setenv("NCCL_ALGO", "Tree", 1), 0);

  const auto text = folder.node.run("nccl-tests", collective_order(folder.site.folder()), "/").text;
  ::unsetenv("NCCL_ALGO");

  const auto printed = text.substr(std::min(text.rfind(R"("out":")"), text.size()));
  EXPECT_THAT(text, HasSubstr(R"("err":"log\n")"));
  for (const auto* part :
       {"CUDA_DEVICE_ORDER=PCI_BUS_ID\\n", "NCCL_NVLS_ENABLE=0\\n", "PATH=/", "LC_ALL=C\\n",
        "NCCL_DEBUG_FILE=/dev/stderr\\n", "asked: -b 8 -e 8589934592 -f 2 -g 8 -c 1\\n"})
    EXPECT_THAT(printed, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("NCCL_ALGO")));
}

TEST(NodeStage, RunsAToolOfTheSiteInItsFolder) {
  const SiteFolder folder;

  EXPECT_THAT(folder.run(), HasSubstr(folder.site.folder() + "\\nit ran as"));
}

TEST(NodeStage, RunsNoToolOfTheSiteThatAnotherUserCanChange) {
  const auto refuses = [](const SiteFolder& folder, const std::string& why) {
    EXPECT_THAT(folder.run(),
                AllOf(HasSubstr(R"({"kind":"gave-up","why":")" + folder.site.folder() + why),
                      Not(HasSubstr("it ran as"))));
  };
  const SiteFolder open_tool, open_folder, link, none;
  open_tool.allow("/gpu_burn", 0777);
  refuses(open_tool, "/gpu_burn is -rwxrwxrwx of user");
  open_folder.allow("", 0777);
  refuses(open_folder, " is drwxrwxrwx of user");
  const auto tool = link.site.folder() + "/gpu_burn";
  ASSERT_EQ(::rename(tool.c_str(), (tool + "_old").c_str()), 0);
  ASSERT_EQ(::symlink((tool + "_old").c_str(), tool.c_str()), 0);
  refuses(link, "/gpu_burn is a symbolic link");
  none.allow("/gpu_burn", 0644);
  EXPECT_THAT(none.run(), HasSubstr("gpu_burn is not installed on the node"));
}

TEST(NodeStage, LooksAtTheFolderBehindALinkToo) {
  const SiteFolder folder;
  const auto link = folder.node.tools.folder() + "/site";
  ASSERT_EQ(::symlink(folder.site.folder().c_str(), link.c_str()), 0);
  const auto run = [&] { return folder.node.run("gpu-burn", burn_order(link), "/").text; };

  EXPECT_THAT(run(), HasSubstr("it ran as"));
  folder.allow("", 0777);
  EXPECT_THAT(run(), AllOf(HasSubstr(folder.site.folder() + " is drwxrwxrwx of user"),
                           Not(HasSubstr("it ran as"))));
}

TEST(NodeStage, TakesNoOtherProgramFromTheFolderOfTheSite) {
  const SiteFolder folder;
  const auto log = folder.site.folder() + "/log";
  for (const auto* name : {"nvidia-smi", "env"})
    folder.site.add(name, "echo taken >> " + log + "; exit 1");

  EXPECT_THAT(folder.run(), HasSubstr("it ran as"));
  EXPECT_FALSE(read_file(log, 64));
}

TEST(NodeStage, KillsAToolAtItsLimit) {
  EXPECT_THAT(reported_of("exec sleep 1000", "1"),
              HasSubstr(R"("status":124,"cut":false,"late":true)"));
}

TEST(NodeStage, KeepsNoMoreOfAToolsOutputThanItsLimit) {
  const auto reported = reported_of("head -c 3000000 /dev/zero | tr '\\0' x", "600");

  EXPECT_THAT(reported.substr(0, 200), HasSubstr(R"("status":0,"cut":true,"late":false)"));
  EXPECT_LT(reported.size(), 2'200'000u);
}

TEST(NodeStage, GivesToolsTheEnvironmentOfTheirStage) {
  EXPECT_THAT(reported_of("echo \"order $CUDA_DEVICE_ORDER language $LC_ALL\"; exit 3", "600"),
              AllOf(HasSubstr("order PCI_BUS_ID language C"), HasSubstr(R"("status":3)")));
}

}  // namespace
}  // namespace cupel::agent
