// The stages cpu, memory and thermal: parsers on what the tools print.
#include <gmock/gmock.h>

#include "burnin/node/soak.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/host_texts.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {
using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Le;

std::string why(const Result<Findings>& found) {
  return found ? std::string{"found something"} : found.error().what;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

void proves_nothing(std::string_view stage_name, const Pairs& texts) {
  for (const auto& [text, reason] : texts) {
    const auto found = parsed(stage_name, text);
    ASSERT_FALSE(found) << reason;
    EXPECT_EQ(found.error().code, Code::kNoMeasurement);
    EXPECT_THAT(found.error().what, HasSubstr(reason));
  }
}

void refuses(std::string_view stage_name,
             const std::vector<std::pair<Parameters, std::string>>& refused) {
  for (const auto& [with, reason] : refused) {
    const auto job = prepared(stage_name, with);
    ASSERT_FALSE(job) << reason;
    EXPECT_EQ(job.error().code, Code::kInvalid);
    EXPECT_THAT(job.error().what, HasSubstr(reason));
  }
}

TEST(Cpu, TellsEachCoreItsClockAndItsHeat) {
  const auto found = parsed("cpu", cpu_text());

  ASSERT_TRUE(found) << why(found);
  const auto& all = *found;
  EXPECT_EQ(value_of(all, "cpu.failures", "cpu0 core 0"), 0);
  EXPECT_EQ(value_of(all, "cpu.failures", "cpu1 core 4"), 0);
  EXPECT_EQ(value_of(all, "cpu.cores", "cpu0"), 1);
  EXPECT_EQ(value_of(all, "cpu.frequency.lowest", "cpu0"), 2900);
  EXPECT_EQ(value_of(all, "cpu.frequency.lowest", "cpu1"), 1200);
  EXPECT_EQ(value_of(all, "cpu.frequency.base"), 2000);
  EXPECT_EQ(value_of(all, "cpu.temperature", "cpu1"), 81);
  EXPECT_EQ(value_of(all, "cpu.throttled", "cpu0"), 0);
  EXPECT_EQ(value_of(all, "cpu.throttled", "cpu1"), 7);
  EXPECT_EQ(value_of(all, "cpu.machine_checks"), 1);
  for (const auto& each : all.measurements)
    if (each.name == "cpu.slowest" || each.name == "cpu.frequency.lowest")
      EXPECT_EQ(each.traced_to, each.part == "cpu0" ? "cpu0 core 0" : "cpu1 core 4") << each.name;
}

TEST(Cpu, NamesTheCoreThatComputesWrongly) {
  const auto text = replaced(
      cpu_text(), "3:stress-ng: metrc: [104] cpu",
      "3:stress-ng: fail:  [105] cpu: prime error detected\n3:stress-ng: metrc: [104] cpu");

  const auto found = parsed("cpu", replaced(text, "cupel-ended: 3 0", "cupel-ended: 3 2"));

  ASSERT_TRUE(found) << why(found);
  EXPECT_EQ(value_of(*found, "cpu.failures", "cpu1 core 4"), 1);
  EXPECT_EQ(value_of(*found, "cpu.failures", "cpu0 core 0"), 0);
}

TEST(Cpu, ProvesNothingWhereACoreDidNotWork) {
  proves_nothing("cpu",
                 {{replaced(cpu_text(), "cupel-ended: 2 0", "cupel-ended: 2 1"),
                   "on logical CPU 2: stress-ng ended with exit status 1"},
                  {replaced(cpu_text(), "cupel-ended: 2 0\n", ""), "logical CPU 2 is not reported"},
                  {replaced(cpu_text(), "[103] cpu                3372      2.00",
                            "[103] cpu                3372      1.10"),
                   "on logical CPU 2: stressor cpu ran for 1.1 of 2 s"},
                  {replaced(cpu_text(), "cupel-begin: topology", "x"), "does not tell its CPUs"},
                  {replaced(cpu_text(), "cupel-begin: counters after", "x"), "cut short"},
                  {"cupel-gave-up: stress-ng is not installed on the node\n", "not installed"},
                  {"", "not started"}});
}

TEST(Cpu, AndTheOthersRefuseWhatCannotBeMeant) {
  refuses("cpu", {{{{"duration", "soon"}}, "duration must be a duration of 1s to 168h"}});
  refuses("memory", {{{{"memory", "96%"}}, "memory must be 1% to 95%, not '96%'"},
                     {{{"memory", "4GiB"}}, "memory must be 1% to 95%, not '4GiB'"},
                     {{{"stream", "1s"}}, "stream must be"},
                     {{{"duration", "0s"}}, "duration"}});
  refuses("thermal", {{{{"load", "sun; reboot"}}, "load must be cpu or gpu, not 'sun; reboot'"},
                      {{{"duration", "6m"}}, "duration must be two windows (10m) or more, not 6m"},
                      {{{"window", "2h"}}, "window must be"}});
}

TEST(Memory, TellsEachNumaNodeAndEachDimm) {
  const auto found = parsed("memory", memory_text());

  ASSERT_TRUE(found) << why(found);
  const auto& all = *found;
  EXPECT_EQ(value_of(all, "memory.failures", "numa0"), 0);
  EXPECT_EQ(value_of(all, "memory.failures", "numa1"), 0);
  EXPECT_EQ(value_of(all, "memory.tested", "numa1"), 1);
  EXPECT_NEAR(value_of(all, "memory.bandwidth", "numa0").value_or(0), 117.7, 0.1);
  EXPECT_EQ(value_of(all, "memory.corrected", "dimm A5"), 3);
  EXPECT_EQ(value_of(all, "memory.corrected", "dimm B5"), 0);
  EXPECT_EQ(value_of(all, "memory.uncorrected"), 0);
  EXPECT_EQ(all.facts.at("memory.binding"), "numactl");
}

/// The words of stress-ng 0.13 (Ubuntu 22.04), 0.15 (Debian 12) and 0.17 (Ubuntu 24.04).
TEST(Memory, ReadsTheBandwidthInTheWordsOfEachVersion) {
  const std::string head = "stress-ng: metrc: [14441] stream             ",
                    mean = " (geometic mean of ";
  const std::string read = " memory read rate (MB per sec)",
                    write = " memory write rate (MB per sec)";
  auto newer =
      replaced(memory_text(), read + mean, " MB per sec memory read rate (harmonic mean of ");
  newer = replaced(newer, write + mean, " MB per sec memory write rate (harmonic mean of ");
  auto older = replaced(memory_text(), "33684.10" + read + mean + "2 instances)",
                        "56140.20 memory rate (MB per sec) (average per stressor)");
  older = replaced(older, head + "22456.10" + write + mean + "2 instances)", "");
  const auto hogs = replaced(older, "stress-ng: info:  [14442] stream: memory rate",
                             "stress-ng: info:  [14441] dispatching hogs: 1 vm, 2 stream\n"
                             "stress-ng: info:  [14442] stream: memory rate");

  for (const auto& text : {memory_text(), newer, hogs}) {
    const auto found = parsed("memory", text);
    ASSERT_TRUE(found) << why(found);
    EXPECT_NEAR(value_of(*found, "memory.bandwidth", "numa1").value_or(0), 117.7, 0.1) << text;
  }
  EXPECT_TRUE(says_unknown(*parsed("memory", older), "memory.bandwidth of numa0"))
      << "of how many instances is not reported";
}

TEST(Memory, NamesTheNumaNodeWhereBitsAreWrong) {
  const auto text = replaced(
      memory_text(), "cupel-begin: vm 1\ncupel-status: 0\n",
      "cupel-begin: vm 1\ncupel-status: 2\nstress-ng: fail:  [7] vm: detected 3 bit errors\n");

  const auto found = parsed("memory", text);

  ASSERT_TRUE(found) << why(found);
  EXPECT_EQ(value_of(*found, "memory.failures", "numa1"), 1);
  EXPECT_EQ(value_of(*found, "memory.failures", "numa0"), 0);
}

TEST(Memory, ProvesNothingWhereMemoryWasNotUsed) {
  proves_nothing(
      "memory",
      {{replaced(memory_text(), "Node 1 AnonPages:  1572864 kB", "Node 1 AnonPages:  600000 kB"),
        "numa1: 464.6 MiB of 1 GiB were in use at once"},
       {replaced(memory_text(), "oom_kill 3\ncupel-end\ncupel-begin: asked 0",
                 "oom_kill 2\ncupel-end\ncupel-begin: asked 0"),
        "killed for memory"},
       {replaced(memory_text(), "cupel-begin: vm 1\ncupel-status: 0",
                 "cupel-begin: vm 1\ncupel-status: 3"),
        "numa1: stress-ng ended with status 3"},
       {replaced(memory_text(), "cupel-begin: counters after", "x"), "cut short"},
       {"cupel-gave-up: no\n", "no"}});
}

std::vector<HeatSample> warming(double tau, double seconds, double noise = 0) {
  std::vector<HeatSample> row;
  for (double at = 10; at <= seconds; at += 10)
    row.push_back({at, std::round(80 - 50 * std::exp(-at / tau)) +
                           (static_cast<int>(at / 10) % 2 == 0 ? noise : -noise)});
  return row;
}

TEST(Soak, IsSteadyWhenNothingRisesAnyMore) {
  const auto quick = warming(60, 1800), slow = warming(900, 1800), noisy = warming(60, 1800, 2);

  EXPECT_TRUE(is_steady({quick}, 1800, 300));
  EXPECT_TRUE(is_steady({noisy}, 1800, 300));
  auto step = warming(60, 1800);
  for (auto& each : step) each.celsius = each.seconds < 1650 ? 66 : 67;
  EXPECT_TRUE(is_steady({step}, 1800, 300)) << "66.5 C, told in whole degrees";
  EXPECT_FALSE(is_steady({quick}, 200, 300)) << "the window is not full";
  EXPECT_FALSE(is_steady({slow}, 1800, 300));
  EXPECT_FALSE(is_steady({quick, slow}, 1800, 300));
  EXPECT_FALSE(is_steady({}, 1800, 300));
  EXPECT_FALSE(rise_in(std::vector<HeatSample>(9, {5, 60}), 300)) << "all of one moment";
}

TEST(Thermal, TellsMarginsAndTheSpreadBetweenGpus) {
  const auto found = parsed("thermal", thermal_text());

  ASSERT_TRUE(found) << why(found);
  const auto& all = *found;
  EXPECT_EQ(value_of(all, "thermal.steady"), 1);
  EXPECT_EQ(value_of(all, "gpu.temperature", "gpu1"), 75);
  EXPECT_EQ(value_of(all, "thermal.spread"), 15);
  EXPECT_EQ(value_of(all, "thermal.margin", "gpu0"), 26);
  EXPECT_EQ(value_of(all, "thermal.memory", "gpu0"), 55);
  EXPECT_EQ(value_of(all, "thermal.inlet"), 23);
  EXPECT_EQ(value_of(all, "thermal.faults"), 0);
  for (const auto& each : all.measurements)
    if (each.name == "thermal.spread") EXPECT_EQ(each.traced_to, "gpu1");
}

/// Seven of eight GPUs at 60 to 67 degrees, and one that is far above them though its limit is not.
TEST(Thermal, TellsAGpuThatIsHotterThanItsNeighboursFromABaseboardWithAWarmRow) {
  const auto output_at = [](int last) {
    std::string rows;
    for (int at = 4; at <= 60; at += 4) {
      rows += fmt::format(
          "cupel-at: {}\nindex, temperature.gpu, temperature.memory, temperature.gpu.tlimit, "
          "power.draw [W]\n",
          at);
      for (int gpu = 0; gpu < 8; ++gpu)
        rows += fmt::format("{}, {}, 55, 12, 690\n", gpu, gpu < 7 ? 60 + gpu : last);
    }
    const auto text = thermal_text();
    const auto begin = text.find("cupel-at: "), end = text.find("cupel-end");
    return text.substr(0, begin) + rows + text.substr(end);
  };

  const auto hot = parsed("thermal", output_at(78)), warm = parsed("thermal", output_at(68));

  ASSERT_TRUE(hot && warm);
  EXPECT_EQ(value_of(*hot, "thermal.above_neighbours", "gpu7"), 15);
  EXPECT_EQ(value_of(*hot, "thermal.above_neighbours", "gpu0"), 0);
  EXPECT_EQ(value_of(*warm, "thermal.above_neighbours", "gpu7"), 5);
}

TEST(Thermal, HoldsItsInletAgainstItsNeighbours) {
  const auto with = [](std::string beside, std::string text = thermal_text()) {
    return stage("thermal")->parse(profile(), Output{std::move(text), "", 0, std::move(beside)});
  };
  const std::string three =
      R"({"inlet":33.5,"neighbours":[{"node":"n1","celsius":24},{"node":"n3","celsius":60},)"
      R"({"node":"n4","celsius":25.5}]})";

  const auto hot = with(three);
  const auto alone = with(R"({"inlet":33.5,"neighbours":[{"node":"n1","celsius":24}]})");
  const auto silent = with(R"({"failed":"no answer in 60 s"})");
  const auto only_bmc = with(three, replaced(thermal_text(), "Inlet Temp,23", "Inlet Temp,na"));

  ASSERT_TRUE(hot && alone && silent && only_bmc);
  constexpr std::string_view kAbove = "thermal.inlet.above_neighbours";
  // One sensor of theirs that is broken moves nothing.
  EXPECT_EQ(value_of(*hot, kAbove, "inlet air"), 8);
  EXPECT_EQ(value_of(*hot, "thermal.inlet"), 23);
  EXPECT_EQ(value_of(*only_bmc, "thermal.inlet"), 33.5);
  EXPECT_EQ(value_of(*alone, kAbove, "inlet air"), std::nullopt);
  EXPECT_TRUE(says_unknown(*alone, kAbove));
  EXPECT_TRUE(says_unknown(*silent, kAbove));
  EXPECT_TRUE(says_unknown(*with("*{"), kAbove));
}

TEST(Thermal, TakesAMarginForNoTemperatureAndNothingForNoMargin) {
  auto text = replaced(thermal_text(), ", 26, ", ", [N/A], ");
  text = replaced(text, ", 11, ", ", N/A, ");

  const auto without = parsed("thermal", text);
  const auto with = parsed("thermal", replaced(text, "cupel-begin: samples",
                                               "cupel-begin: thresholds\n"
                                               "GPU 00000000:1B:00.0\n"
                                               "        GPU Slowdown Temp      : 92 C\n"
                                               "GPU 00000000:43:00.0\n"
                                               "        GPU Slowdown Temp      : N/A\n"
                                               "cupel-end\ncupel-begin: samples"));

  ASSERT_TRUE(without && with);
  EXPECT_EQ(value_of(*without, "thermal.margin", "gpu0"), std::nullopt);
  EXPECT_TRUE(says_unknown(*without, "thermal.margin of gpu0"));
  EXPECT_EQ(value_of(*with, "thermal.margin", "gpu0"), 32);
  EXPECT_EQ(value_of(*with, "thermal.margin", "gpu1"), std::nullopt);
}

TEST(Thermal, NamesTheOthersByTheirPlacesWhereAGpuIsMissing) {
  auto profile = inventory::Profile{};
  inventory::ExpectedParts gpus;
  gpus.kind = inventory::PartKind::gpu;
  gpus.pci = {"1b:00.0", "43:00.0", "52:00.0"};
  profile.parts.push_back(gpus);
  const auto text = "cupel-gpu: 0, 00000000:1B:00.0\ncupel-gpu: 1, 00000000:52:00.0\n" +
                    replaced(thermal_text(), R"({"kind":"end")",
                             R"({"kind":"fault","what":"wrong-result","part":"gpu1","round":3})"
                             "\n"
                             R"({"kind":"end")");

  const auto found = stage("thermal")->parse(profile, Output{text, "", 1});

  ASSERT_TRUE(found) << why(found);
  EXPECT_TRUE(value_of(*found, "gpu.temperature", "gpu2"));
  EXPECT_FALSE(value_of(*found, "gpu.temperature", "gpu1"));
  EXPECT_EQ(value_of(*found, "thermal.faults", "gpu2"), 1);
}

TEST(Thermal, CountsTheFaultsOfTheBurnAndProvesNothingWithoutOne) {
  const std::string end =
      R"({"kind":"end","seconds":60.1,"faults":0,"complete":true,"stopped":false})";
  const auto with = [&](const std::string& output, const std::string& status) {
    return parsed("thermal", replaced(replaced(thermal_text(), end, output), "cupel-begin: load 0",
                                      "cupel-begin: load " + status));
  };

  const auto wrong = with(R"({"kind":"fault","what":"wrong-result","part":"gpu4","round":3})"
                          "\n" +
                              end,
                          "1");
  const auto hang = with(R"({"kind":"hang","doing":"gemm bf16","seconds":60})", "3");
  const auto error = with(R"({"kind":"error","code":"busy","message":"gpu3 is in use"})", "2");

  ASSERT_TRUE(wrong && hang);
  EXPECT_EQ(value_of(*wrong, "thermal.faults", "gpu4"), 1);
  EXPECT_EQ(value_of(*hang, "thermal.faults", "gpus"), 1);
  EXPECT_EQ(why(error), "cupel-burn: gpu3 is in use");
  EXPECT_THAT(why(with("", "0")), HasSubstr("did not come to its end"));
  EXPECT_THAT(why(with(replaced(end, "true", "false"), "0")), HasSubstr("did not come to its end"));
}

TEST(Thermal, SaysThatNothingTellsATemperature) {
  EXPECT_THAT(why(parsed("thermal", replaced(thermal_text(), "cupel-at: ", "x"))),
              HasSubstr("no temperature is reported"));
  EXPECT_THAT(why(parsed("thermal", "cupel-gave-up: cupel-burn is not installed on the node\n")),
              HasSubstr("cupel-burn is not installed"));
}

}  // namespace
}  // namespace cupel::burnin
