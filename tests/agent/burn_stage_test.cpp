// cupel-burn as cupel-node runs it, alone and with companions: tools that take time, on a clock of
// the test's own, held against what an earlier version's script printed of the same node; and the
// program with real processes.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>

#include "burnin/agent/node/stages/reported.h"
#include "burnin/companions.h"
#include "tests/agent/load_bench.h"
#include "tests/burnin/burn_said.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/tools.h"
#include "tests/support/damage.h"

namespace cupel::agent {
namespace {

using burnin::BurnText;
using std::chrono::hours;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// What the controller tells cupel-node.
std::string order_of(const std::string& stage, const burnin::Parameters& with) {
  const auto script = burnin::prepared(stage, with)->script;
  const std::string begins = "printf '%s\\n' '", ends = "' | cupel-node stage cupel-burn\n";
  const auto at = script.find(begins) + begins.size();
  EXPECT_TRUE(script.ends_with(ends)) << script;
  return script.substr(at, script.size() - ends.size() - at);
}

std::string minute(const std::string& stage = "gemm", burnin::Parameters with = {}) {
  with["duration"] = "60s";
  if (stage == "gemm") with["types"] = "bf16,fp8";
  return order_of(stage, with);
}

/// All that was found, sorted: "gpu.idle gpu3 1 ()".
std::vector<std::string> all_of(const Result<burnin::Findings>& found) {
  if (!found) return {found.error().what};
  std::vector<std::string> all;
  for (const auto& each : found->measurements)
    all.push_back(fmt::format("{} {} {} {} ({})", each.name, each.part, each.value, each.unit,
                              each.traced_to));
  for (const auto& each : found->unknown) all.push_back(each.fact + ": " + each.why);
  for (const auto& [name, value] : found->facts) all.push_back(name + " = " + value);
  std::ranges::sort(all);
  return all;
}

/// The node of burnin::BurnText, whose GPUs are loaded for a minute.
struct BurnBench : LoadBench {
  BurnText burn_text = burnin::good();
  std::string complaint{};  // of cupel-burn
  seconds lasts{60};

  void prepare() {
    programs.add("nvidia-smi --query-gpu=pci.bus_id,utilization.gpu",
                 {.status = 0, .out = burn_text.gpus_text()});
    programs.add("nvidia-smi --query-compute-apps", {.status = 0, .out = burn_text.apps});
    programs.add("nvidia-smi --query-gpu=clocks_event_reasons.active", {.status = 0});
    programs.add("dmesg", {.status = 0, .out = "[    1.000000] one\n[   12.500000] last\n"});
    programs.add(
        "timeout 60 cupel-burn",
        {.status = burn_text.self_test_status, .out = burn_text.self_test_text(), .err = complaint},
        seconds{4});
    programs.add("stdbuf -oL nvidia-smi", {.status = 0, .out = burn_text.samples_text()},
                 hours{200});
    programs.add("cupel-burn",
                 {.status = burn_text.status, .out = burn_text.run_text(), .err = complaint},
                 lasts);
    programs.passes = [this] {
      if (clock.time > seconds{10}) programs.add("dmesg", {.status = 0, .out = burn_text.kernel});
    };
  }
  void burn(const std::string& order = minute()) {
    prepare();
    run("cupel-burn", order);
  }
  Result<burnin::Findings> burned(const std::string& order = minute()) {
    burn(order);
    return burnin::parsed(burn_text.command, lines.text);
  }
};

TEST(BurnStage, FindsWhatTheScriptFoundOfTheSameNode) {
  const std::vector<std::function<void(BurnText&)>> cases{
      [](BurnText&) {},
      [](BurnText& burn) { burn.reasons = "0x0000000000000044"; },
      [](BurnText& burn) {
        burn.lines += burnin::kFault;
        burn.end.clear();
        burn.status = 137;
      },
      [](BurnText& burn) { burn.self_test_status = 1; },
      [](BurnText& burn) { burn.self_test.clear(); },
      [](BurnText& burn) { burn.end.clear(); },
      [](BurnText& burn) {
        burn.kernel =
            "[    3.000000] NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has fallen off the bus.\n"
            "[  912.250000] NVRM: Xid (PCI:0000:61:00): 79, pid=1, GPU has fallen off the bus.\n";
      },
      [](BurnText& burn) {
        burn.apps = "00000000:61:00.0, 4242, python3\n";
        burn.busy = "yes";
      }};
  for (const auto& spoil : cases) {
    BurnBench bench;
    bench.complaint = "CUDA complains\nand goes on\n";
    spoil(bench.burn_text);

    const auto found = bench.burned();

    const auto by_script = burnin::parsed("gemm", {bench.burn_text.text(), bench.complaint, 0});
    EXPECT_EQ(all_of(found), all_of(by_script));
    EXPECT_TRUE(bench.programs.is_idle()) << "the sampling ends with the load";
  }
}

TEST(BurnStage, TestsItselfInTheTypesOfTheRunAndWithinATimeOfItsOwn) {
  BurnBench gemm, hbm;
  hbm.burn_text.command = "hbm";

  ASSERT_TRUE(gemm.burned(minute("gemm", {{"pattern", "square"}, {"hertz", "0.5"}})));
  hbm.burn(minute("hbm"));

  EXPECT_THAT(
      gemm.programs.asked,
      AllOf(Contains("timeout 60 cupel-burn gemm --seconds 50 --types bf16,fp8 --self-test"),
            Contains("cupel-burn gemm --seconds 60 --types bf16,fp8 --pattern square --hertz 0.5"),
            Contains("stdbuf -oL nvidia-smi --query-gpu=pci.bus_id,temperature.gpu,"
                     "temperature.memory,clocks_event_reasons.active,power.draw,"
                     "enforced.power.limit,clocks.sm --format=csv,noheader,nounits -l 5")));
  EXPECT_THAT(hbm.programs.asked, Contains("timeout 60 cupel-burn hbm --seconds 50 --self-test"));
}

TEST(BurnStage, RunsNothingAfterASelfTestThatFailed) {
  BurnBench bench;
  bench.burn_text.self_test_status = 3;

  EXPECT_FALSE(bench.burned());
  EXPECT_THAT(bench.programs.asked, Not(Contains(HasSubstr("cupel-burn gemm --seconds 60"))));
  EXPECT_THAT(bench.programs.asked, Not(Contains(HasSubstr("stdbuf"))));
}

TEST(BurnStage, WaitsAMinuteForGpusAndReportsWhoUsesThem) {
  BurnBench bench;
  bench.burn_text.apps = "00000000:61:00.0, 4242, python3\n";

  const auto found = bench.burned();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(bench.clock.time, seconds{60});
  EXPECT_EQ(value_of(*found, "gpu.idle", "gpu3"), 0);
  EXPECT_EQ(value_of(*found, "gpu.idle", "gpu4"), 1);
  EXPECT_EQ(value_of(*found, "burn.complete"), 0);
  EXPECT_THAT(bench.programs.asked, Not(Contains(HasSubstr("cupel-burn"))));
}

TEST(BurnStage, AsksOlderDriversForTheReasonsByTheirOlderName) {
  BurnBench bench;
  bench.prepare();
  bench.programs.add("nvidia-smi --query-gpu=clocks_event_reasons.active",
                     {.status = 2, .out = "Field \"x\" is not a valid field to query.\n"});

  bench.run("cupel-burn", minute());

  EXPECT_THAT(bench.programs.asked, Contains(HasSubstr(",clocks_throttle_reasons.active,")));
}

TEST(BurnStage, GoesOnWhereNothingCanBeSampledAndTheKernelsLogIsNotReadable) {
  BurnBench bench;
  bench.prepare();
  bench.programs.passes = [] {};
  bench.programs.add("stdbuf -oL nvidia-smi", {.status = 6});
  bench.programs.add("dmesg", {.status = 1, .err = "dmesg: read kernel buffer failed"});

  const int status = bench.run("cupel-burn", minute());
  const auto found = burnin::parsed("gemm", {bench.lines.text, "", status});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "kernel_log.readable"), 0);
  EXPECT_EQ(value_of(*found, "gpu.temperature", "gpu3"), std::nullopt);
  EXPECT_EQ(value_of(*found, "gemm.bf16.rate", "gpu3"), 703);
}

TEST(BurnStage, ReportsWhichToolIsMissing) {
  LoadBench none, no_driver;
  no_driver.programs.add("cupel-burn", {});

  const auto why = [](LoadBench& bench) {
    const int status = bench.run("cupel-burn", minute());
    return burnin::refusal(burnin::parsed("gemm", {bench.lines.text, "", status}));
  };
  EXPECT_EQ(why(none), "cupel-burn is not installed on the node");
  EXPECT_EQ(why(no_driver), "nvidia-smi is not installed on the node");
}

TEST(BurnStage, RefusesAnOrderWithWordsThatAreNoOptions) {
  const auto refused = [](const std::string& change, const std::string& to) {
    BurnBench bench;
    bench.prepare();
    EXPECT_EQ(bench.run("cupel-burn", burnin::replaced(minute(), change, to)), 2) << to;
    EXPECT_THAT(bench.programs.asked, IsEmpty()) << to;
    return bench.lines.text;
  };
  for (const auto* arguments :
       {R"(["--types"])", R"(["types","bf16"])", R"(["--types","-x"])", R"(["--types",""])",
        R"(["--types","/etc/x"])", R"(["--types","bf16; reboot"])", R"(["--types",3])", R"("x")"})
    EXPECT_THAT(refused(R"("self-test":["--types","bf16,fp8"])",
                        R"("self-test":)" + std::string{arguments}),
                HasSubstr("lists of cupel-burn's options"));
  EXPECT_THAT(refused(R"("command":"gemm")", R"("command":"nccl-id")"),
              HasSubstr("no command of cupel-burn"));
  EXPECT_THAT(refused(R"("seconds":60)", R"("seconds":0)"), HasSubstr("seconds from 1"));
  EXPECT_THAT(refused(R"("period":5)", R"("period":0)"), HasSubstr("period from 1"));
  for (const auto* beside : {R"("cpu")", "[]", R"(["cpu"])", R"([{"stage":"cpu"}])",
                             R"([{"stage":"disk","order":{}}])", R"([{"stage":"cpu","order":[]}])",
                             R"([{"stage":"cpu","order":{}},{"stage":"cpu","order":{}}])"})
    EXPECT_THAT(refused(R"("command":)", R"("beside":)" + std::string{beside} + R"(,"command":)"),
                HasSubstr("beside that is a list of the stages cpu and memory"));
}

/// What had been printed after 40 s by a job whose cupel-burn has found a fault and then hangs.
std::string printed_of_a_hung_run(BurnBench& bench) {
  bench.lasts = hours{100};
  bench.burn_text.end.clear();
  bench.prepare();
  bench.programs.prints(seconds{12}, std::string{burnin::kFault});
  bench.programs.prints(seconds{20}, "{\"kind\":\"progress\",\"seconds\":20}\n{\"kind\":\"pro");
  std::string printed;
  bench.programs.passes = [&] {
    if (printed.empty() && bench.clock.time >= seconds{40}) printed = bench.lines.text;
  };
  bench.run("cupel-burn", minute());
  return printed;
}

TEST(BurnStage, WhatWasPrintedUntilItsJobWasKilledCounts) {
  BurnBench bench;

  const auto printed = printed_of_a_hung_run(bench);

  const auto found = burnin::parsed("gemm", {printed, "", 137});
  EXPECT_THAT(printed, Not(HasSubstr(R"("kind":"done")")));
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gemm.errors", "gpu4"), 1);
  EXPECT_EQ(value_of(*found, "burn.complete"), 0);
  EXPECT_EQ(value_of(*found, "gpu.temperature", "gpu3"), 66);
  EXPECT_EQ(value_of(*found, "gemm.bf16.rate", "gpu0"), std::nullopt);
}

TEST(BurnStage, KeepsAllOfAToolThatIsKilledAtItsLimitAndTheLastOfItsProgress) {
  BurnBench bench;

  printed_of_a_hung_run(bench);

  const auto found = burnin::parsed("gemm", {bench.lines.text, "", 0});
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gemm.errors", "gpu4"), 1);
  EXPECT_EQ(value_of(*found, "kernel_log.readable"), 1);
  const auto read = burnin::read_agent_so_far("cupel-burn", {bench.lines.text, "", 0}, {});
  ASSERT_TRUE(read && *read);
  const auto* run = (*read)->tool("run");
  EXPECT_EQ(run->status, 124);
  EXPECT_THAT(run->out, ::testing::EndsWith("{\"kind\":\"progress\",\"seconds\":20}\n"
                                            "{\"kind\":\"pro"));
  EXPECT_TRUE(burnin::says_unknown(*found, "the rest of gemm"));
}

TEST(BurnStage, ProvesNothingWhereMoreWasPrintedThanIsKeptButTellsTheFaults) {
  BurnBench bench;
  for (int i = 0; i < 50'000; ++i) bench.burn_text.lines += std::string{burnin::kFault};

  const auto found = bench.burned();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_GT(value_of(*found, "gemm.errors", "gpu4").value_or(0), 1000);
  EXPECT_EQ(value_of(*found, "burn.complete"), 0);
  EXPECT_EQ(value_of(*found, "gemm.bf16.rate", "gpu3"), std::nullopt);
  EXPECT_LT(bench.lines.text.size(), 8u << 20);
}

/// What the controller reads of a tool that prints so many lines, one a second, of which 1,000
/// bytes are kept.
burnin::ToolOutput read_of(int lines, std::function<void(std::string&)> shorten = {}) {
  LoadBench bench;
  bench.programs.add("tool", {.status = 0}, seconds{lines + 1});
  for (int i = 0; i < lines; ++i) bench.programs.prints(seconds{i}, fmt::format("line {:4}\n", i));
  bench.programs.prints(seconds{lines}, "the end");
  const auto tree = bench.files.tree();
  Node node{tree, bench.programs, bench.clock, bench.lines};
  const Command command{.argv = {"tool"}, .limit = hours{1}, .most = 1000, .shorten = shorten};
  auto work = run_reported(node, "tool", command);
  work.start();
  EXPECT_EQ(work.result().status, 0);
  const auto text = R"({"kind":"stage","stage":"x","protocol":1})"
                    "\n" +
                    bench.lines.text + R"({"kind":"done"})" + "\n";
  return *burnin::read_agent_output("x", {text, "", 0}, {}).value()->tool("tool");
}

TEST(Reported, ReadsAsIfItHadBeenReportedAtOnce) {
  const auto few = read_of(60);

  std::string expected;
  for (int i = 0; i < 60; ++i) expected += fmt::format("line {:4}\n", i);
  EXPECT_EQ(few.out, expected + "the end");
  EXPECT_FALSE(few.cut);
}

TEST(Reported, KeepsNoMoreThanTheCommandDoesAndSaysThatItWasCut) {
  const auto many = read_of(400);

  EXPECT_EQ(many.out.size(), 1000);
  EXPECT_THAT(many.out, ::testing::EndsWith("line   99\n")) << "no line behind the cut";
  EXPECT_TRUE(many.cut);
}

TEST(Reported, KeepsTheEndOfWhatIsShortenedHoweverLongItLasts) {
  const auto last = [](std::string& out) {
    const auto before = out.size() < 2 ? out.npos : out.rfind('\n', out.size() - 2);
    if (before != out.npos) out.erase(0, before + 1);
  };

  const auto shortened = read_of(3000, last);

  EXPECT_THAT(shortened.out, ::testing::EndsWith("line 2999\nthe end"));
  EXPECT_FALSE(shortened.cut);
}

/// One logical CPU, and a stress-ng that is at home on it.
void add_cpu(LoadBench& bench, seconds lasts, int status = 0) {
  bench.files.write("/proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 3100.000\n");
  bench.files.write("/proc/vmstat", "oom_kill 3");
  bench.programs.add("nice -n 19 stress-ng --cpu 1",
                     {.status = status,
                      .out = fmt::format("stress-ng: metrc: [7] stressor  bogo ops real time  usr "
                                         "time\nstress-ng: metrc: [7] cpu  3372  {}.00  1.96\n",
                                         lasts.count())},
                     lasts);
  bench.programs.add("stress-ng", {});
}

struct Found {
  std::vector<burnin::CompanionFindings> companions{};
  Result<burnin::Findings> own = Error{};
};

/// As the controller takes it.
Found taken(const BurnBench& bench) {
  burnin::Output output{bench.lines.text, "", 0};
  Found found;
  found.companions = burnin::take_companions(burnin::profile(), output);
  EXPECT_THAT(output.text, Not(HasSubstr(R"("of":)")));
  found.own = burnin::parsed(bench.burn_text.command, output);
  return found;
}

std::string with_cpu(const std::string& duration = "60s") {
  return order_of("gemm", {{"duration", duration}, {"types", "bf16,fp8"}, {"beside", "cpu"}});
}

TEST(Together, FindsOfEachWhatItFindsAlone) {
  BurnBench both, alone;
  LoadBench cpu;
  add_cpu(both, seconds{61});
  add_cpu(cpu, seconds{61});

  both.burn(with_cpu());
  const auto own = alone.burned();
  const auto beside =
      cpu.found("cpu", R"({"seconds":60,"interval":15,"samples":100,"spare":8,"limit":375})");

  const auto found = taken(both);
  ASSERT_THAT(found.companions, SizeIs(1));
  EXPECT_EQ(all_of(found.companions[0].findings), all_of(beside));
  EXPECT_EQ(value_of(found.companions[0].findings, "cpu.failures", "cpu0 core 0"), 0);
  EXPECT_EQ(all_of(found.own), all_of(own));
  EXPECT_LT(both.clock.time, seconds{90}) << "at the same time";
  EXPECT_TRUE(both.programs.is_idle());
}

TEST(Together, IsWaitedForWhereItEndsALittleLater) {
  BurnBench bench;
  add_cpu(bench, seconds{100});

  bench.burn(with_cpu());

  const auto found = taken(bench);
  EXPECT_EQ(value_of(found.companions.at(0).findings, "cpu.failures", "cpu0 core 0"), 0);
  EXPECT_TRUE(found.own);
}

TEST(Together, OneThatGivesUpDoesNotEndTheOther) {
  BurnBench bench;
  bench.programs.add("stress-ng", {});

  bench.burn(with_cpu());

  const auto found = taken(bench);
  ASSERT_THAT(found.companions, SizeIs(1));
  EXPECT_EQ(found.companions[0].findings.unknown.at(0).why, "/proc/cpuinfo lists no processor");
  ASSERT_TRUE(found.own) << found.own.error().what;
  EXPECT_EQ(value_of(*found.own, "burn.complete"), 1);
}

TEST(Together, StopsCompanionsWhereThereIsNothingLeftToWorkBeside) {
  BurnBench fails, gives_up;
  for (auto* bench : {&fails, &gives_up}) add_cpu(*bench, hours{12});
  fails.lasts = seconds{30};
  fails.burn_text.end.clear();

  fails.burn(with_cpu("12h"));
  gives_up.run("cupel-burn", with_cpu("12h"));

  for (const auto* bench : {&fails, &gives_up}) {
    EXPECT_LT(bench->clock.time, seconds{60});
    EXPECT_TRUE(bench->programs.is_idle());
    const auto found = taken(*bench);
    EXPECT_FALSE(found.own);
    ASSERT_THAT(found.companions, SizeIs(1));
    EXPECT_THAT(found.companions[0].findings.unknown.at(0).why, HasSubstr("it was cut"));
  }
  EXPECT_THAT(taken(gives_up).own.error().what, HasSubstr("cupel-burn is not installed"));
}

TEST(Together, ACompanionThatHangsKeepsTheJobUntilItsLimitAndThenNamesItsCpu) {
  BurnBench bench;
  add_cpu(bench, hours{100});

  bench.burn(with_cpu());

  const auto found = taken(bench);
  EXPECT_EQ(bench.clock.time, seconds{60 + 60 / 4 + 300});
  EXPECT_TRUE(bench.programs.is_idle());
  EXPECT_THAT(found.companions.at(0).findings.unknown.at(0).why, HasSubstr("exit status 124"));
  EXPECT_TRUE(found.own);
}

TEST(BurnStage, DamagedLinesGiveNoNumberThatIsNone) {
  BurnBench bench;
  add_cpu(bench, seconds{61});
  bench.burn_text.lines += burnin::kFault;
  bench.burn(with_cpu());
  std::mt19937 random{7};
  for (int round = 0; round < 60; ++round) {
    burnin::Output output{test::damaged(bench.lines.text, random), "", 0};
    burnin::take_companions(burnin::profile(), output);
    const auto found = burnin::parsed("gemm", output);
    for (const auto& each : found ? found->measurements : std::vector<burnin::Measurement>{})
      ASSERT_TRUE(std::isfinite(each.value)) << each.name;
  }
}

/// The program itself, with tools of the test's own first in PATH: one GPU, and a cupel-burn that
/// does that in place of its load.
struct RealBurn {
  burnin::FakeTools tools{};
  NodeTree files{};
  BurnText burn_text = burnin::good({0});

  explicit RealBurn(const std::string& load = "") {
    burn_text.lines = burnin::result("gemm.rate", "gpu0", 700, "TFLOP/s", R"({"type":"bf16"})");
    tools.add("nvidia-smi", R"(case $1 in
  *compute-apps*) ;;
  *utilization*) echo '00000000:1B:00.0, 0' ;;
  *temperature*) echo '00000000:1B:00.0, 61, 66, 0x0000000000000004, 690.10'; exec sleep 1000 ;;
esac
)");
    tools.add("dmesg", "echo '[   12.500000] last'");
    tools.add("cupel-burn", "echo \"$*\" >&2\ncase $* in *--self-test)\ncat <<'END'\n" +
                                burn_text.self_test_text() + "END\nexit 0;; esac\ncat <<'END'\n" +
                                burn_text.run_text() + "END\n" + load);
  }
  burnin::Output run(const std::string& order) const {
    return burnin::run_script("printf '%s' " + shell_quoted(order) +
                                  " | " NODE_BINARY " stage cupel-burn --root " + files.root() +
                                  "\n",
                              "PATH=" + tools.folder() + ":$PATH\nexport PATH\n");
  }
};

TEST(NodeStage, BurnsBySuchProgramsAsNodesHave) {
  const RealBurn node;

  const auto output = node.run(order_of("gemm", {{"duration", "7s"}}));
  const auto found = burnin::parsed("gemm", output);

  ASSERT_TRUE(found) << found.error().what << output.text;
  EXPECT_EQ(value_of(*found, "gemm.bf16.rate", "gpu0"), 700);
  EXPECT_EQ(value_of(*found, "gpu.idle", "gpu0"), 1);
  EXPECT_EQ(value_of(*found, "gpu.temperature", "gpu0"), 61);
  EXPECT_EQ(value_of(*found, "burn.complete"), 1);
  EXPECT_THAT(output.text, AllOf(HasSubstr("gemm --seconds 50 --types bf16 --self-test\\n"),
                                 HasSubstr("gemm --seconds 7 --types bf16 --pattern steady\\n")));
}

TEST(NodeStage, ReportsWhatAToolPrintedThatHangsUntilItsLimit) {
  const RealBurn node{"exec sleep 1000"};

  const auto output = node.run(
      R"({"command":"gemm","seconds":7,"period":1,"limit":12,"arguments":[],"self-test":[]})");

  EXPECT_THAT(output.text, HasSubstr(R"({"kind":"piece","name":"run","out":"{\"kind\":\"start\")"));
  EXPECT_THAT(output.text, HasSubstr(R"("status":124,"cut":false,"late":true,"out":"")"));
  const auto read = burnin::read_agent_output("cupel-burn", output, {});
  ASSERT_TRUE(read && *read);
  EXPECT_THAT((*read)->tool("run")->out, HasSubstr("gemm.rate"));
}

TEST(NodeStage, LeavesNothingOfACompanionThatWasStopped) {
  const RealBurn node{"read line < \"${0%/*}/begun\"\nexit 2"};
  const auto file = node.tools.folder() + "/left", begun = node.tools.folder() + "/begun";
  ASSERT_EQ(::mkfifo(begun.c_str(), 0600), 0);
  node.tools.add("stress-ng", "setsid sleep 1000 &\necho $! > " + file + "\necho > " + begun +
                                  "\nexec sleep 1000");
  node.files.write("/proc/cpuinfo", "processor\t: 0");

  const auto output = node.run(order_of("gemm", {{"duration", "12h"}, {"beside", "cpu"}}));
  const auto left = number<pid_t>(trimmed(*read_file(file, 64)));

  EXPECT_EQ(output.exit_status, 0) << output.errors;
  EXPECT_THAT(output.text, HasSubstr(R"({"kind":"done","status":0})"));
  EXPECT_THAT(output.text, HasSubstr(R"({"kind":"stage","stage":"cpu","protocol":1,)"));
  ASSERT_TRUE(left);
  EXPECT_NE(::kill(*left, 0), 0);
}

}  // namespace
}  // namespace cupel::agent
