// The stage gpu-reset: which GPUs are reset, when none is, and what is left for a restart, with
// tools from a table.
#include <gmock/gmock.h>

#include <deque>
#include <map>

#include "burnin/agent/node/stages/reset_reasons.h"
#include "burnin/agent/node/stages/stage.h"
#include "tests/agent/load_bench.h"

namespace cupel::agent {
namespace {

using burnin::value_of;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kFail = R"({"flaky":"fail"})";
constexpr const char* kAsk = "nvidia-smi -q -x";
constexpr const char* kPrograms =
    "nvidia-smi --query-compute-apps=gpu_bus_id,pid,process_name --format=csv,noheader,nounits";
constexpr const char* kUse =
    "nvidia-smi --query-gpu=pci.bus_id,utilization.gpu --format=csv,noheader,nounits";
constexpr const char* kReset0 = "nvidia-smi --gpu-reset -i 00000000:1B:00.0";
constexpr const char* kReset1 = "nvidia-smi --gpu-reset -i 00000000:43:00.0";
constexpr const char* kResetAll = "nvidia-smi --gpu-reset";

Ran printed(std::string out, int status = 0) { return {.status = status, .out = std::move(out)}; }

/// Answers by the whole command line: of several answers each once, and the last again.
class Tools final : public Programs {
 public:
  void answers(const std::string& line, std::vector<Ran> all) {
    answers_[line] = {all.begin(), all.end()};
  }
  std::string folder_of(const std::string& name) const override {
    return name == "nvidia-smi" && !answers_.empty() ? "/usr/bin" : "";
  }
  int start(const Command&) override { return 0; }
  std::vector<std::string> asked{};

 private:
  bool begin(const Command& command, Wait<Ran>& wait) override {
    std::string line;
    for (const auto& word : command.argv) line += (line.empty() ? "" : " ") + word;
    asked.push_back(line);
    auto found = answers_.find(line);
    if (found == answers_.end()) {
      wait.answer(Ran{.status = 127});
      return true;
    }
    wait.answer(found->second.front());
    if (found->second.size() > 1) found->second.pop_front();
    return true;
  }
  bool begin_first_end(std::chrono::milliseconds, Wait<std::optional<Ended>>& wait) override {
    wait.answer(std::nullopt);
    return true;
  }
  bool begin_stop(int, Wait<Ran>&) override { return true; }

  std::map<std::string, std::deque<Ran>> answers_{};
};

std::string gpu(const std::string& address, const std::string& elements) {
  return "\t<gpu id=\"" + address + "\">\n" + elements + "\t</gpu>\n";
}
std::string action(const std::string& word) {
  return "\t\t<gpu_recovery_action>" + word + "</gpu_recovery_action>\n";
}
/// gpu0 and gpu1 of a DGX H100.
std::string two(const std::string& first, const std::string& second) {
  return gpu("00000000:1B:00.0", first) + gpu("00000000:43:00.0", second);
}

struct ResetBench {
  NodeTree files{};
  WaitedClock clock{};
  Tools tools{};
  PrintedLines lines{};

  ResetBench() {
    tools.answers(kUse, {printed("00000000:1B:00.0, 0\n00000000:43:00.0, 0\n")});
    tools.answers(kPrograms, {printed("")});
    tools.answers("dmesg", {printed("[    1.0] Linux\n")});
    for (const auto* line : {kReset0, kReset1, kResetAll})
      tools.answers(line, {printed("GPU 00000000:1B:00.0 was successfully reset.\nAll done.\n")});
  }
  Result<burnin::Findings> found(const std::string& order = kFail) {
    const auto tree = files.tree();
    Node node{tree, tools, clock, lines};
    auto work = run_stage(node, "gpu-reset", order);
    work.start();
    return burnin::parsed("gpu-reset", {lines.text, "", work.result()});
  }
  std::vector<std::string> resets() const {
    std::vector<std::string> all;
    for (const auto& line : tools.asked)
      if (line.starts_with(kResetAll)) all.push_back(line);
    return all;
  }
};

std::string words_of(const Result<burnin::Findings>& found, const std::string& gpu) {
  if (!found) return found.error().what;
  for (const auto& each : found->measurements)
    if (each.name == "gpu.reset.needed" && each.part == gpu) return each.traced_to;
  return "nothing is reported of " + gpu;
}

TEST(GpuResetStage, ResetsTheGpuThatTheDriverAsksForAndNoOther) {
  ResetBench bench;
  bench.tools.answers(kAsk, {printed(two(action("None"), action("Reset"))),
                             printed(two(action("None"), action("None")))});

  const auto found = bench.found();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(bench.resets(), std::vector<std::string>{kReset1});
  EXPECT_EQ(value_of(*found, "gpu.reset.needed", "gpu0"), 0);
  EXPECT_EQ(value_of(*found, "gpu.reset.needed", "gpu1"), 1);
  EXPECT_EQ(value_of(*found, "gpu.reset.done", "gpu1"), 1);
  EXPECT_EQ(value_of(*found, "gpu.reset.needed"), 1);
  EXPECT_EQ(value_of(*found, "gpu.reset.restart"), 0);
  EXPECT_EQ(words_of(found, "gpu1"), "the driver asks for Reset; reset");
  EXPECT_EQ(found->facts.at("gpu.flaky.gpu1"), "the driver asks for Reset; reset");
}

TEST(GpuResetStage, ResetsNothingWhereNoneIsNeeded) {
  ResetBench bench;
  bench.tools.answers(kAsk, {printed(two(action("None"), action("None")))});

  const auto found = bench.found();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(bench.resets(), IsEmpty());
  EXPECT_EQ(value_of(*found, "gpu.reset.needed"), 0);
  EXPECT_THAT(found->facts, IsEmpty());
}

TEST(GpuResetStage, NeverResetsAGpuThatAProgramHolds) {
  ResetBench bench;
  bench.tools.answers(kAsk, {printed(two(action("Reset"), action("Reset"))),
                             printed(two(action("Reset"), action("None")))});
  bench.tools.answers(kPrograms, {printed("00000000:1B:00.0, 42, python3\n")});

  const auto found = bench.found();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(bench.resets(), std::vector<std::string>{kReset1});
  EXPECT_EQ(value_of(*found, "gpu.reset.done", "gpu0"), 0);
  EXPECT_EQ(value_of(*found, "gpu.reset.done", "gpu1"), 1);
  EXPECT_THAT(words_of(found, "gpu0"), HasSubstr("not reset: a program holds it"));
}

TEST(GpuResetStage, ResetsNothingWhileItIsNotKnownWhoHoldsTheGpu) {
  ResetBench bench;
  bench.tools.answers(kAsk, {printed(two(action("Reset"), action("None")))});
  bench.tools.answers(kPrograms, {printed("", 255)});

  const auto found = bench.found();

  EXPECT_THAT(bench.resets(), IsEmpty());
  EXPECT_THAT(words_of(found, "gpu0"), HasSubstr("does not report which programs hold it"));
}

TEST(GpuResetStage, ResetsAllTogetherWhereTheDriverDoesNotResetOneAlone) {
  ResetBench bench;
  bench.tools.answers(kAsk, {printed(two(action("Reset"), action("None"))),
                             printed(two(action("None"), action("None")))});
  bench.tools.answers(kReset0, {printed("GPU Reset couldn't run because GPU 00000000:1B:00.0 is "
                                        "connected to other GPUs.\n",
                                        255)});

  const auto found = bench.found();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(bench.resets(), (std::vector<std::string>{kReset0, kResetAll}));
  EXPECT_EQ(value_of(*found, "gpu.reset.done", "gpu0"), 1);
  EXPECT_EQ(value_of(*found, "gpu.reset.needed", "gpu1"), 0);
}

TEST(GpuResetStage, LeavesAGpuWhoseResetHangsToARestartAndTheOthersAlone) {
  ResetBench bench;
  bench.tools.answers(kAsk, {printed(two(action("Reset"), action("None")))});
  bench.tools.answers(kReset0, {Ran{.status = 124, .late = true}});

  const auto found = bench.found();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(bench.resets(), std::vector<std::string>{kReset0});
  EXPECT_EQ(value_of(*found, "gpu.reset.restart"), 1);
  EXPECT_EQ(words_of(found, "gpu0"),
            "the driver asks for Reset; not reset: nvidia-smi --gpu-reset did not end within its "
            "limit");
}

TEST(GpuResetStage, AsksForNoRestartWhereItMayNotReset) {
  for (const auto* words :
       {"The following GPUs could not be reset:\n  GPU 00000000:1B:00.0: In use "
        "by another client\n",
        "GPU 00000000:1B:00.0: Insufficient Permissions\n"}) {
    ResetBench bench;
    bench.tools.answers(kAsk, {printed(two(action("Reset"), action("None")))});
    bench.tools.answers(kReset0, {printed(words, 4)});

    const auto found = bench.found();

    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(bench.resets(), std::vector<std::string>{kReset0}) << words;
    EXPECT_EQ(value_of(*found, "gpu.reset.restart"), 0) << words;
    EXPECT_EQ(value_of(*found, "gpu.reset.done", "gpu0"), 0) << words;
  }
}

TEST(GpuResetStage, NeverResetsAGpuThatIsDivided) {
  const std::string mig = "\t\t\t<current_mig>Enabled</current_mig>\n";
  ResetBench own, beside;
  own.tools.answers(kAsk, {printed(two(action("Reset") + mig, action("None")))});
  beside.tools.answers(kAsk, {printed(two(action("Reset"), mig + action("None")))});
  beside.tools.answers(kReset0, {printed("GPU 00000000:1B:00.0: Not Supported\n", 255)});

  const auto of_itself = own.found(), of_another = beside.found();

  EXPECT_THAT(own.resets(), IsEmpty());
  EXPECT_EQ(words_of(of_itself, "gpu0"),
            "the driver asks for Reset; not reset: MIG is on at 00000000:1B:00.0: a reset may take "
            "its instances away");
  EXPECT_EQ(beside.resets(), std::vector<std::string>{kReset0}) << "all together are not reset";
  EXPECT_THAT(words_of(of_another, "gpu0"), HasSubstr("MIG is on at 00000000:43:00.0"));
}

TEST(GpuResetStage, LeavesARestartForWhatNoResetMends) {
  ResetBench refused, reboot, again;
  refused.tools.answers(kAsk, {printed(two(action("Reset"), action("None")))});
  for (const auto* line : {kReset0, kResetAll})
    refused.tools.answers(line, {printed("GPU 00000000:1B:00.0: Unknown Error\n", 255)});
  reboot.tools.answers(kAsk, {printed(two(action("Reboot"), action("None")))});
  again.tools.answers(kAsk, {printed(two(action("Reset"), action("None")))});

  const auto by_refusal = refused.found(), by_reboot = reboot.found(), still = again.found();

  for (const auto* found : {&by_refusal, &by_reboot, &still}) {
    ASSERT_TRUE(*found);
    EXPECT_EQ(value_of(**found, "gpu.reset.restart"), 1);
    EXPECT_EQ(value_of(**found, "gpu.reset.done", "gpu0"), 0);
  }
  EXPECT_THAT(reboot.resets(), IsEmpty());
  EXPECT_THAT(words_of(still, "gpu0"), HasSubstr("after its reset: the driver asks for Reset"));
}

TEST(GpuResetStage, GivesUpWhereNvidiaSmiDoesNotAnswerForAllGpus) {
  ResetBench bench;
  bench.tools.answers(kAsk, {printed("Unable to determine the device handle\n", 255)});

  const auto found = bench.found();

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("does not answer for all GPUs: none is reset"));
  EXPECT_THAT(bench.resets(), IsEmpty());
}

TEST(GpuResetStage, LetsPassAsThePlaybookSaysButNeverAnXidThatNoResetAnswers) {
  const auto contained = two(action("None"), action("None"));
  const std::string memory = "[ 70.5] NVRM: Xid (PCI:0000:1b:00): 94, pid=1, Contained: CE\n";
  const std::string firmware = "[ 71.5] NVRM: Xid (PCI:0000:43:00): 119, pid=1, Timeout\n";
  const auto may_pass = [&](const char* order, const std::string& log, const char* gpu) {
    ResetBench bench;
    bench.tools.answers(kAsk, {printed(contained)});
    bench.tools.answers("dmesg", {printed(log)});
    const auto found = bench.found(order);
    return found ? value_of(*found, "gpu.reset.may_pass", gpu) : std::nullopt;
  };

  EXPECT_EQ(may_pass(kFail, memory, "gpu0"), 0);
  EXPECT_EQ(may_pass(R"({"flaky":"contained"})", memory + firmware, "gpu0"), 1);
  EXPECT_EQ(may_pass(R"({"flaky":"contained"})", memory + firmware, "gpu1"), 0);
  EXPECT_EQ(may_pass(R"({"flaky":"pass"})", memory + firmware, "gpu1"), 1);
  EXPECT_EQ(
      may_pass(R"({"flaky":"pass"})",
               firmware + "[ 72.5] NVRM: Xid (PCI:0000:43:00): 92, pid=1, High rate\n", "gpu1"),
      0);
}

TEST(GpuResetStage, TakesNoOrderThatItDoesNotKnow) {
  ResetBench bench;
  bench.tools.answers(kAsk, {printed(two(action("Reset"), action("None")))});

  const auto found = bench.found(R"({"flaky":"always"})");

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("the order has no flaky"));
  EXPECT_THAT(bench.resets(), IsEmpty());
}

TEST(ResetReasons, ReadOlderDriversAndRepairsThatWait) {
  const auto old = needs_of(two("\t\t<reset_required>Yes</reset_required>\n", ""), "");
  const auto repair = needs_of(
      two("", "\t\t<remapped_row_pending>Yes</remapped_row_pending>\n" + action("Reset")), "");

  ASSERT_EQ(old.size(), 2u);
  EXPECT_EQ(old[0].why, "the driver asks for a reset");
  EXPECT_FALSE(old[0].contained);
  EXPECT_EQ(old[1].why, "");
  ASSERT_EQ(repair.size(), 2u);
  EXPECT_EQ(repair[1].why, "the driver asks for Reset; a memory repair waits");
  EXPECT_TRUE(repair[1].contained);
}

TEST(ResetReasons, CountSeriousXidsOfTheGpuOnceWithTheirTimes) {
  const std::string log =
      "[  4711.2] NVRM: Xid (PCI:0000:1b:00): 95, pid=1, Uncontained\n"
      "[  4712.2] NVRM: Xid (PCI:0000:1b:00): 95, pid=1, Uncontained\n"
      "[  4713.2] NVRM: Xid (PCI:0000:1b:00): 45, pid=1, Ch 00000008\n"
      "[  4714.2] NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to "
      "0x1 (GPU Reset Required)\n"
      "NVRM: Xid (PCI:0000:43:00): 64, pid=1, Row Remapper: Failed\n";

  const auto needs = needs_of(two(action("None"), action("None")), log);

  ASSERT_EQ(needs.size(), 2u);
  EXPECT_EQ(needs[0].why, "Xid 95 at 4711.2 s");
  EXPECT_FALSE(needs[0].contained || needs[0].other || needs[0].restart);
  EXPECT_EQ(needs[1].why, "") << "a row that could not be remapped is not mended by a reset";
  EXPECT_TRUE(needs[1].other);
}

TEST(ResetReasons, LeaveAGpuOffItsBusToARestart) {
  const auto needs =
      needs_of(two(action("None"), action("None")),
               "[ 9.5] NVRM: Xid (PCI:0000:43:00): 79, GPU has fallen off the bus.\n");

  EXPECT_TRUE(needs.at(1).restart);
  EXPECT_EQ(needs.at(1).why, "Xid 79 at 9.5 s");
}

TEST(ResetReasons, TakeNoWordsOfTheNodeForAnAddress) {
  EXPECT_THAT(needs_of(gpu("--id=0; rm", action("Reset")) + gpu("", action("Reset")), ""),
              IsEmpty());
  EXPECT_THAT(needs_of(gpu("0000:1b:00.0", action("Reset\x1b[2J")), "").at(0).why,
              Not(HasSubstr("\x1b")));
  EXPECT_TRUE(same_gpu("00000000:1B:00.0", "0000:1b:00"));
  EXPECT_FALSE(same_gpu("00000001:1B:00.0", "0000:1b:00"));
  EXPECT_FALSE(same_gpu("", ""));
}

}  // namespace
}  // namespace cupel::agent
