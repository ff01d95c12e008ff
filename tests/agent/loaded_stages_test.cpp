// Stages that start several tools at once and sample the node meanwhile: tools that take time, on a
// clock of the test's own; what is read is held against what an earlier version's script printed.
#include <gmock/gmock.h>

#include <algorithm>

#include "burnin/agent/node/stages/cpu_lists.h"
#include "burnin/agent/node/stages/stage.h"
#include "burnin/agent_stage.h"
#include "tests/agent/load_bench.h"
#include "tests/burnin/host_texts.h"
#include "tests/burnin/tools.h"
#include "tests/support/real_part.h"

namespace cupel::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// "cpu.slowest cpu1 100 (cpu1 core 4)", sorted.
std::vector<std::string> measured(const Result<burnin::Findings>& found) {
  std::vector<std::string> all;
  if (!found) return {found.error().what};
  for (const auto& each : found->measurements)
    all.push_back(fmt::format("{} {} {} ({})", each.name, each.part, each.value, each.traced_to));
  std::ranges::sort(all);
  return all;
}

/// What stress-ng prints of one stressor that ran for two seconds.
std::string stress_text(const std::string& stressor) {
  return "stress-ng: info:  [7] setting to a 2 second run per stressor\n"
         "stress-ng: metrc: [7] stressor       bogo ops real time  usr time  sys time\n"
         "stress-ng: metrc: [7] " +
         stressor + "  3372      2.00      1.96      0.00\n";
}

/// As burnin::counters_text() has them.
void write_counters(const NodeTree& files, int corrected, int throttled, int checks) {
  const std::string memory = "/sys/devices/system/edac/mc/mc0", cpus = "/sys/devices/system/cpu/";
  files.write(memory + "/ue_count", "0");
  files.write(memory + "/ce_count", std::to_string(corrected));
  for (const auto& [dimm, label, count] :
       {std::tuple{"/dimm0", "A5", corrected}, {"/dimm1", "B5", 0}}) {
    files.write(memory + dimm + "/dimm_label", label);
    files.write(memory + dimm + "/dimm_ue_count", "0");
    files.write(memory + dimm + "/dimm_ce_count", std::to_string(count));
  }
  for (const auto& [cpu, count] : {std::pair{0, 2}, {1, throttled}}) {
    const auto folder = cpus + "cpu" + std::to_string(cpu);
    files.write(folder + "/topology/physical_package_id", std::to_string(cpu));
    files.write(folder + "/thermal_throttle/package_throttle_count", std::to_string(count));
  }
  files.write("/proc/interrupts", fmt::format("  0:  1  2  timer\nMCE:  {}  0  Machine check "
                                              "exceptions",
                                              checks));
  files.write("/proc/vmstat", "nr_free_pages 5\noom_kill 3");
}

void write_clocks(const NodeTree& files, const std::array<int, 4>& megahertz) {
  std::string cpuinfo;
  for (int cpu = 0; cpu < 4; ++cpu)
    cpuinfo += fmt::format(
        "processor\t: {}\nmodel name\t: a processor\ncpu MHz\t\t: {}.000\nphysical id\t: {}\n"
        "core id\t\t: {}\n\n",
        cpu, megahertz[static_cast<std::size_t>(cpu)], cpu % 2, cpu % 2 * 4);
  files.write("/proc/cpuinfo", cpuinfo);
}

/// The machine of burnin::cpu_text(); its clocks rise, and its counters, once it works.
void add_cpus(LoadBench& bench) {
  write_clocks(bench.files, {800, 800, 800, 800});
  write_counters(bench.files, 4, 10, 0);
  bench.files.write("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2000000");
  for (const auto& [chip, millidegrees] : {std::pair{1, "61000"}, {2, "81000"}}) {
    const auto folder = "/sys/class/hwmon/hwmon" + std::to_string(chip);
    bench.files.write(folder + "/name", "coretemp");
    bench.files.write(folder + "/temp1_label", "Package id " + std::to_string(chip - 1));
    bench.files.write(folder + "/temp1_input", millidegrees);
    bench.files.write(folder + "/temp2_label", "Core 0");
  }
  bench.files.write("/sys/class/hwmon/hwmon0/name", "nvme");
  bench.files.write("/sys/class/hwmon/hwmon0/temp1_label", "Package id 0");
  bench.files.write("/sys/devices/system/node/node0/cpulist", "0-3");
  bench.programs.passes = [&bench] {
    if (bench.clock.time > seconds{1}) write_clocks(bench.files, {3000, 1200, 2900, 1300});
    write_counters(bench.files, 7, 17, 1);
  };
}

std::string cpu_order(int spare = 0) {
  return fmt::format(R"({{"seconds":2,"interval":1,"samples":400,"spare":{},"limit":302}})", spare);
}

TEST(LoadedStage, CpuFindsWhatTheScriptFoundOfTheSameMachine) {
  LoadBench bench;
  add_cpus(bench);
  bench.programs.add("stress-ng --cpu 1", {.status = 0, .err = stress_text("cpu")}, seconds{3});

  const auto found = bench.found("cpu", cpu_order());

  EXPECT_EQ(measured(found), measured(burnin::parsed("cpu", burnin::cpu_text())));
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(found->unknown, IsEmpty());
  EXPECT_EQ(bench.programs.asked.size(), 4u) << "one for each logical CPU";
  EXPECT_EQ(bench.programs.asked.back(),
            "stress-ng --cpu 1 --taskset 3 --cpu-method all --verify --metrics-brief --temp-path "
            "/tmp --timeout 2s");
}

TEST(LoadedStage, CpuNamesTheOneOnWhichTheToolFailsAndLeavesTheSparedAlone) {
  LoadBench bench;
  add_cpus(bench);
  bench.programs.add("nice -n 19 stress-ng --cpu 1 --taskset 3",
                     {.status = 2,
                      .out = "stress-ng: fail:  [9] cpu: error\nstress-ng: fail:  [9] cpu: more\n",
                      .err = "a line without its end"},
                     seconds{1});
  bench.programs.add("nice -n 19 stress-ng", {.status = 0, .out = stress_text("cpu")}, seconds{2});
  bench.programs.add("stress-ng", {});

  const auto found = bench.found("cpu", cpu_order(8));

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "cpu.failures", "cpu1 core 4"), 2);
  EXPECT_EQ(value_of(*found, "cpu.failures", "cpu0 core 0"), 0);
  EXPECT_EQ(bench.programs.asked.size(), 3u) << "a quarter of them is left to others, however many";
  EXPECT_THAT(bench.programs.asked.front(), HasSubstr("--taskset 1"));
}

TEST(LoadedStage, CpuReadsTopologyAndClocksOfMachinesThatAreNoX86) {
  LoadBench bench;
  bench.files.write("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 2000\n");
  write_counters(bench.files, 0, 0, 0);
  const std::string cpu = "/sys/devices/system/cpu/cpu0";
  bench.files.write(cpu + "/topology/physical_package_id", "1");
  bench.files.write(cpu + "/topology/core_id", "7");
  bench.files.write(cpu + "/cpufreq/scaling_cur_freq", "3100000");
  bench.programs.add("stress-ng", {.status = 0, .out = stress_text("cpu")}, seconds{3});

  const auto found = bench.found("cpu", cpu_order());

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "cpu.failures", "cpu1 core 7"), 0);
  EXPECT_EQ(value_of(*found, "cpu.frequency.lowest", "cpu1"), 3100);
}

TEST(LoadedStage, CpuProvesNothingWhereOneDidNotWork) {
  for (const auto& [ran, why] :
       {std::pair{Ran{.status = 1}, "on logical CPU 0: stressor cpu did no work"},
        {Ran{.status = 124, .out = stress_text("cpu"), .late = true}, "exit status 124"}}) {
    LoadBench bench;
    add_cpus(bench);
    bench.programs.add("stress-ng --cpu 1 --taskset 0", ran);
    bench.programs.add("stress-ng", {.status = 0, .out = stress_text("cpu")}, seconds{2});

    EXPECT_THAT(burnin::refusal(bench.found("cpu", cpu_order())), HasSubstr(why));
  }
  LoadBench without, blind, wrong;
  blind.programs.add("stress-ng", {});
  EXPECT_EQ(burnin::refusal(without.found("cpu", cpu_order())),
            "stress-ng is not installed on the node");
  EXPECT_EQ(burnin::refusal(blind.found("cpu", cpu_order())), "/proc/cpuinfo lists no processor");
  EXPECT_THAT(burnin::refusal(wrong.found("cpu", R"({"seconds":0})")), HasSubstr("seconds from 1"));
}

TEST(SpareCpus, AreAtMostAQuarter) {
  EXPECT_EQ(spared_of(112, 8), 8u);
  EXPECT_EQ(spared_of(112, 1000), 28u);
  EXPECT_EQ(spared_of(3, 8), 0u);
}

constexpr int kGibInKib = 1 << 20;  // in KiB

/// A NUMA node of 2 GiB, half of it free, where so much is in use.
void write_numa(const NodeTree& files, int node, int used) {
  const auto folder = "/sys/devices/system/node/node" + std::to_string(node);
  files.write(folder + "/meminfo",
              fmt::format("Node {0} MemTotal:  {1} kB\nNode {0} MemFree:  {2} kB\n"
                          "Node {0} Active(file):  {3} kB\nNode {0} Inactive(file):  0 kB\n"
                          "Node {0} AnonPages:  {4} kB",
                          node, 2 * kGibInKib, kGibInKib, kGibInKib / 2, used));
}

/// The machine of burnin::memory_text(), and a third NUMA node without CPUs.
void add_numa_nodes(LoadBench& bench, int used = 524288 + kGibInKib) {
  write_counters(bench.files, 4, 10, 0);
  bench.files.write("/sys/devices/system/node/node0/cpulist", "0,2");
  bench.files.write("/sys/devices/system/node/node1/cpulist", "1,3");
  bench.files.write("/sys/devices/system/node/node2/cpulist", "");
  for (int node = 0; node < 3; ++node) write_numa(bench.files, node, 524288);
  bench.programs.passes = [&bench, used] {
    for (int node = 0; node < 2; ++node) write_numa(bench.files, node, used);
    write_counters(bench.files, 7, 10, 0);
  };
}

constexpr const char* kStreamed =
    "stress-ng: metrc: [14441] stream             33684.10 memory read rate (MB per sec) "
    "(geometic mean of 2 instances)\n"
    "stress-ng: metrc: [14441] stream             22456.10 memory write rate (MB per sec) "
    "(geometic mean of 2 instances)\n";
constexpr const char* kMemoryOrder =
    R"({"seconds":2,"stream":5,"percent":50,"interval":1,"samples":400,"spare":0,"limit":602})";

TEST(LoadedStage, MemoryFindsWhatTheScriptFoundOfTheSameMachine) {
  LoadBench bench;
  add_numa_nodes(bench);
  const std::string on = "numactl --cpunodebind=1 --membind=1 stress-ng ";
  bench.programs.add("numactl --membind=0 true", {.status = 0});
  for (const auto* node : {"0", "1"}) {
    const auto bound = fmt::format("numactl --cpunodebind={0} --membind={0} stress-ng ", node);
    bench.programs.add(bound + "--vm ", {.status = 0, .out = stress_text("vm")}, seconds{3});
    bench.programs.add(bound + "--stream ",
                       {.status = 0, .out = stress_text("stream"), .err = kStreamed}, seconds{5});
  }
  bench.programs.add("stress-ng", {});

  const auto found = bench.found("memory", kMemoryOrder);

  EXPECT_EQ(measured(found), measured(burnin::parsed("memory", burnin::memory_text())));
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->facts.at("memory.binding"), "numactl");
  EXPECT_THAT(bench.programs.asked,
              IsSupersetOf({on + "--vm 2 --vm-bytes 1048550k --vm-keep --vm-method all --verify "
                                 "--metrics-brief --taskset 1,3 --temp-path /tmp --timeout 2s",
                            on + "--stream 2 --stream-l3-size 16m --metrics --taskset 1,3 "
                                 "--temp-path /tmp --timeout 5s"}));
}

TEST(LoadedStage, MemoryProvesNothingWhereItWasNotInUse) {
  LoadBench bench, none;
  add_numa_nodes(bench, 600000);
  bench.programs.add("stress-ng --vm", {.status = 0, .out = stress_text("vm")}, seconds{3});
  bench.programs.add("stress-ng --stream", {.status = 0}, seconds{5});
  none.programs.add("stress-ng", {});

  EXPECT_THAT(burnin::refusal(bench.found("memory", kMemoryOrder)),
              AllOf(HasSubstr("numa0: 73.9 MiB of "), HasSubstr(" were in use at once")));
  EXPECT_THAT(bench.lines.text, HasSubstr(R"("name":"binding","text":"cpus")"));
  EXPECT_EQ(burnin::refusal(none.found("memory", kMemoryOrder)),
            "the kernel lists no NUMA node with CPUs in /sys/devices/system/node");
}

TEST(LoadedStage, MemoryNamesTheNumaNodeWhereBitsAreWrongHoweverMuchWasPrinted) {
  LoadBench bench;
  add_numa_nodes(bench);
  bench.programs.add(
      "stress-ng --vm 2 --vm-bytes 1048550k --vm-keep --vm-method all --verify "
      "--metrics-brief --taskset 1,3",
      {.status = 2, .out = "stress-ng: fail:  [7] vm: 3 bit errors\n", .cut = true}, seconds{3});
  bench.programs.add("stress-ng --vm", {.status = 0, .out = stress_text("vm")}, seconds{3});
  bench.programs.add("stress-ng --stream", {.status = 0}, seconds{5});

  const auto found = bench.found("memory", kMemoryOrder);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "memory.failures", "numa1"), 1);
  EXPECT_EQ(value_of(*found, "memory.failures", "numa0"), 0);
}

constexpr const char* kQuery =
    "nvidia-smi --query-gpu=index,temperature.gpu,temperature.memory,temperature.gpu.tlimit,"
    "power.draw --format=csv,nounits";
constexpr const char* kBurn = "cupel-burn gemm --types bf16 --seconds 60";
constexpr const char* kThermalOrder =
    R"({"load":"gpu","seconds":60,"window":20,"interval":4,"samples":710,"limit":375})";

Ran two_gpus(int first, int second) {
  return {.status = 0,
          .out = fmt::format("index, temperature.gpu, temperature.memory, temperature.gpu.tlimit, "
                             "power.draw [W]\n0, {}, 55, 26, 631.95\n1, {}, 60, 11, 640.10\n",
                             first, second)};
}

/// The machine of burnin::thermal_text().
void add_warm_gpus(LoadBench& bench, Ran burn, seconds lasts) {
  const std::string chip = "/sys/class/hwmon/hwmon1";
  bench.files.write(chip + "/name", "k10temp");
  bench.files.write(chip + "/temp1_label", "Tctl");
  bench.files.write(chip + "/temp1_input", "61000");
  bench.programs.add(kQuery, two_gpus(40, 45));
  bench.programs.add(
      "ipmitool -c sdr type temperature",
      {.status = 0, .out = "GPU0 Temp,58,degrees C,ok\nInlet Temp,23,degrees C,ok\n"});
  bench.programs.add(kBurn, std::move(burn), lasts);
  bench.programs.passes = [&bench] {
    if (bench.clock.time >= seconds{20}) bench.programs.add(kQuery, two_gpus(60, 75));
  };
}

TEST(LoadedStage, ThermalFindsWhatTheScriptFoundOfTheSameMachine) {
  std::string printed = R"({"kind":"start","program":"cupel-burn"})"
                        "\n";
  for (int i = 0; i < 300; ++i)
    printed += fmt::format(R"({{"kind":"progress","second":{}}})"
                           "\n",
                           i);
  LoadBench bench;
  add_warm_gpus(bench,
                {.status = 0,
                 .out = printed + R"({"kind":"end","complete":true})"
                                  "\n"},
                seconds{61});

  const auto found = bench.found("thermal", kThermalOrder);

  EXPECT_EQ(measured(found), measured(burnin::parsed("thermal", burnin::thermal_text())));
  EXPECT_THAT(bench.programs.asked, ::testing::Contains(kBurn));
  EXPECT_THAT(bench.lines.text, AllOf(HasSubstr("cupel-burn"), Not(HasSubstr("progress"))));
}

TEST(LoadedStage, ThermalSamplesNoLongerThanItsLoadLasts) {
  std::string faults;
  for (int i = 0; i < 300; ++i)
    faults += fmt::format(R"({{"kind":"fault","part":"gpu1","number":{}}})"
                          "\n",
                          i);
  LoadBench ended, faulty;
  add_warm_gpus(ended, {.status = 3}, seconds{9});
  add_warm_gpus(faulty, {.status = 1, .out = faults}, seconds{9});

  EXPECT_EQ(burnin::refusal(ended.found("thermal", kThermalOrder)),
            "cupel-burn did not come to its end (exit status 3)");
  EXPECT_LT(ended.clock.time, seconds{20});
  const auto found = faulty.found("thermal", kThermalOrder);
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "thermal.faults", "gpu1"), 200) << "of the last lines";
}

TEST(LoadedStage, ThermalProvesNothingWithoutItsTools) {
  LoadBench none, blind;
  blind.programs.add("cupel-burn", {.status = 0});

  EXPECT_EQ(burnin::refusal(none.found("thermal", kThermalOrder)),
            "cupel-burn is not installed on the node");
  EXPECT_EQ(burnin::refusal(blind.found("thermal", kThermalOrder)),
            "nvidia-smi does not tell the temperatures of the GPUs");
}

std::string psu_order(const std::string& load, int patience = 0, int feeds = 0) {
  return fmt::format(R"({{"load":"{}","phase":20,"patience":{},"feeds":{},"pause":1,"settling":5,)"
                     R"("limit":900}})",
                     load, patience, feeds);
}

/// The last second of each phase that was printed, in order: "idle 19".
std::vector<std::string> phases_of(const std::string& text) {
  std::vector<std::string> all;
  std::string last;
  for (const auto line : lines(text)) {
    const auto name = burnin::phase_in(line);
    if (!name) continue;
    if (*name != last) all.emplace_back();
    last = *name;
    const auto second = line.substr(line.rfind(':') + 1);
    all.back() = *name + " " + std::string{second.substr(0, second.size() - 1)};
  }
  return all;
}

TEST(LoadedStage, PsuStepsTheLoadThroughItsPhasesAndEndsIt) {
  LoadBench bench;
  bench.programs.add("stress-ng --cpu 0 --timeout 1s", {.status = 0}, seconds{1});
  bench.programs.add("stress-ng --cpu 0 --timeout 1960s", {.status = 0}, seconds{1960});

  EXPECT_EQ(bench.run("psu", psu_order("auto", 0, 1800)), 0) << bench.lines.text;

  EXPECT_THAT(phases_of(bench.lines.text),
              ::testing::ElementsAre("idle 19", "settling 4", "full 19", "settling 4", "rest 19",
                                     "settling 4", "wave 19", "settling 4", "feeds 19", "over 0"))
      << "nobody is there who could tell it more";
  EXPECT_EQ(std::ranges::count(bench.programs.asked, "stress-ng --cpu 0 --timeout 1960s"), 2);
  const auto bursts = std::ranges::count(bench.programs.asked, "stress-ng --cpu 0 --timeout 1s");
  EXPECT_EQ(bursts, 13) << "one every other second of 25";
}

TEST(LoadedStage, PsuWaitsInEachPhaseUntilItHearsThatTheBmcWasReadOrPatienceEnds) {
  LoadBench bench;
  bench.job = "/job";
  bench.programs.add("cupel-burn gemm --types bf16 --seconds 220", {.status = 0}, seconds{900});
  bench.programs.passes = [&] {
    if (bench.clock.time == seconds{35}) bench.files.write("/job/word", "idle");
  };

  EXPECT_EQ(bench.run("psu", psu_order("auto", 60)), 0) << bench.lines.text;

  EXPECT_THAT(phases_of(bench.lines.text),
              ::testing::ElementsAre("idle 27", "settling 4", "full 51", "settling 4", "rest 19",
                                     "settling 4", "wave 19", "over 0"));
  EXPECT_EQ(bench.programs.asked.back(),
            "cupel-burn gemm --types bf16 --seconds 220 --pattern square --hertz 1");
}

TEST(LoadedStage, PsuProvesNothingWhereItsLoadEndsEarly) {
  LoadBench bench, none;
  bench.programs.add("cupel-burn gemm", {.status = 2, .out = "one\ngpu3 is in use\n"}, seconds{9});

  EXPECT_EQ(bench.run("psu", psu_order("gpu")), 2);
  EXPECT_THAT(bench.lines.text, HasSubstr("the load ended early: gpu3 is in use"));
  EXPECT_EQ(none.run("psu", psu_order("cpu")), 2);
  EXPECT_THAT(none.lines.text, HasSubstr("stress-ng is not installed on the node"));
}

/// Of a node whose one NVMe drive is nvme0.
std::string nvme_lines(LoadBench& bench, const std::string& mount, const std::string& raw) {
  bench.files.write("/proc/mounts", "/dev/md0 / ext4 rw 0 0");
  bench.files.write("/sys/class/nvme/nvme0/serial", "S64H0001");
  bench.files.write("/sys/block/nvme0n1/device/serial", "S64H0001");
  for (const auto* tool : {"fio", "blkid", "wipefs"}) bench.programs.add(tool, {.status = 0});
  bench.programs.add("lsblk", {.status = 0, .out = "MOUNTPOINT=\"" + mount + "\"\n"});
  bench.run("nvme",
            R"({"drives":[],"raw":")" + raw + R"(","runtime":1,"bytes":16777216,"limit":900})");
  return bench.lines.text;
}

TEST(LoadedStage, NvmeTakesNoToolThatHangsForOneThatFoundNothing) {
  LoadBench mounted, pooled;
  mounted.programs.add("smartctl", {.status = 0}, seconds{5000});
  pooled.programs.add("zpool", {.status = 0}, seconds{5000});

  nvme_lines(mounted, "/raid", "no");

  EXPECT_GE(mounted.clock.time, seconds{900}) << "a job that hangs ends at its limit";
  EXPECT_THAT(nvme_lines(pooled, "", "yes"), HasSubstr("zpool cannot tell"));
}

/// Of a file system that the kernel made read-only after errors.
class ReadOnlyScratch final : public Scratch {
 public:
  std::optional<Room> look(const std::string& folder) const override {
    return Room{.path = folder, .free_kib = 1u << 30};
  }
  Made make(const Room& room, std::string_view) override {
    return {nullptr, "make the folder " + room.below("x") + ": Read-only file system"};
  }
  Held hold(const std::string&, const std::string&) override { return {nullptr, "it is no disk"}; }
};

TEST(LoadedStage, NvmeReportsAFileSystemThatTakesNoFileAndTestsTheOthers) {
  LoadBench bench;
  ReadOnlyScratch scratch;
  bench.scratch = &scratch;

  EXPECT_THAT(nvme_lines(bench, "/raid", "no"),
              AllOf(HasSubstr(R"("name":"short","part":"/raid")"),
                    HasSubstr("Read-only file system"), Not(HasSubstr("gave-up"))));
}

/// stress-ng of the test's own on a node of so many logical CPUs.
burnin::Output with_real_tools(const std::string& stress, int cpus, const std::string& limit,
                               const std::string& before = {}) {
  const burnin::FakeTools tools;
  const NodeTree files;
  std::string cpuinfo;
  for (int cpu = 0; cpu < cpus; ++cpu) cpuinfo += fmt::format("processor\t: {}\n", cpu);
  files.write("/proc/cpuinfo", cpuinfo);
  tools.add("stress-ng", stress);
  const auto order = R"({"seconds":1,"interval":1,"samples":0,"spare":0,"limit":)" + limit + "}";
  return burnin::run_script(
      "printf '%s' " + shell_quoted(order) + " | " NODE_BINARY " stage cpu --root " + files.root(),
      "LEFT=" + tools.folder() + "/left\nexport LEFT\nPATH=" + tools.folder() +
          ":$PATH\nexport PATH\n" + before);
}

/// The second tool ends when nothing is left of the first one; without that, at its limit.
TEST(NodeStage, EndsWhatOneOfSeveralToolsLeavesBehindAndLetsTheOthersRun) {
  const auto output = with_real_tools(
      "if [ \"$4\" = 0 ]; then\n"
      "  setsid sleep 1000 &\n  echo $! >\"$LEFT.part\"\n  mv \"$LEFT.part\" \"$LEFT\"\n"
      "else\n"
      "  until [ -e \"$LEFT\" ]; do sleep 0.01; done\n"
      "  while kill -0 \"$(cat \"$LEFT\")\" 2>/dev/null; do sleep 0.01; done\n"
      "fi\n"
      "echo \"ended on $4\"",
      2, "60");

  EXPECT_THAT(output.text,
              AllOf(HasSubstr(R"("status":0,"cut":false,"late":false,"out":"ended on 0\n")"),
                    HasSubstr(R"("status":0,"cut":false,"late":false,"out":"ended on 1\n")")));
}

/// None reads the other's output, and a pipe holds 64 KiB.
TEST(NodeStage, ReadsAllOfSeveralToolsThatPrintMuch) {
  const auto output =
      with_real_tools("head -c 300000 /dev/zero | tr '\\0' x; echo >&2 whole", 8, "600");

  std::size_t whole = 0;
  for (auto at = output.text.find(R"("err":"whole\n")"); at != std::string::npos;
       at = output.text.find(R"("err":"whole\n")", at + 1))
    ++whole;
  EXPECT_EQ(whole, 8u);
  EXPECT_THAT(output.text, HasSubstr(R"("status":0,"cut":true,"late":false)"));
}

/// Each needs three files. A round of poll(2) with more entries than files may be open is refused:
/// none would be seen to end before its limit.
TEST(NodeStage, SeesSeveralToolsEndWhereFewFilesMayBeOpen) {
  const auto output = with_real_tools("echo ended", 20, "60", "ulimit -n 72\n");

  EXPECT_THAT(output.text, AllOf(HasSubstr(R"("part":"19")"), HasSubstr(R"("out":"ended\n")"),
                                 Not(HasSubstr(R"("late":true)"))));
}

TEST(NodeStage, CpuFindsNothingWrongWithThisMachine) {
  CUPEL_NEEDS_REAL_PART(burnin::installed("stress-ng"), "stress-ng is not installed");

  const auto output = burnin::run_script("printf '%s' " + shell_quoted(cpu_order()) +
                                         " | " NODE_BINARY " stage cpu");

  const auto found = burnin::parsed("cpu", output);
  ASSERT_TRUE(found) << found.error().what << "\n" << output.text << output.errors;
  double cores = 0;
  for (const auto& each : found->measurements) {
    cores += each.name == "cpu.failures" ? 1 : 0;
    EXPECT_TRUE(each.name != "cpu.failures" || each.value == 0) << each.part;
  }
  EXPECT_GE(cores, 1);
}

/// On a NUMA node of 64 MiB, in a tree of the test's own: what is in use there rises when the tool
/// begins.
TEST(NodeStage, MemoryRunsTheRealToolOnThisMachine) {
  CUPEL_NEEDS_REAL_PART(burnin::installed("stress-ng"), "stress-ng is not installed");
  const burnin::FakeTools tools;
  const NodeTree files;
  const std::string folder = "/sys/devices/system/node/node0";
  files.write("/proc/vmstat", "oom_kill 0");
  files.write(folder + "/cpulist", "0");
  files.write(folder + "/meminfo",
              "Node 0 MemTotal:  65536 kB\nNode 0 MemFree:  65536 kB\nNode 0 AnonPages:  0 kB");
  tools.add("numactl", "exit 1");
  tools.add("stress-ng",
            "sed 's/AnonPages:  0/AnonPages:  65000/' \"$MEMINFO\" >\"$MEMINFO.part\"\n"
            "mv \"$MEMINFO.part\" \"$MEMINFO\"\n"
            "for each; do\n  shift\n  [ \"$each\" != 16m ] || each=1m\n  set -- \"$@\" "
            "\"$each\"\ndone\n"
            "exec " +
                std::string{trimmed(burnin::run_script("command -v stress-ng").text)} + " \"$@\"");
  constexpr const char* kOrder =
      R"({"seconds":2,"stream":2,"percent":50,"interval":1,"samples":9,"spare":0,"limit":600})";

  const auto output = burnin::run_script(
      "printf '%s' '" + std::string{kOrder} + "' | " NODE_BINARY " stage memory --root " +
          files.root(),
      "MEMINFO=" + files.root() + folder + "/meminfo\nexport MEMINFO\nPATH=" + tools.folder() +
          ":$PATH\nexport PATH\n");

  const auto found = burnin::parsed("memory", output);
  ASSERT_TRUE(found) << found.error().what << "\n" << output.text << output.errors;
  EXPECT_EQ(value_of(*found, "memory.failures", "numa0"), 0);
  EXPECT_EQ(found->facts.at("memory.binding"), "one");
}

/// GPUs that are warm from the beginning, in the words of the captured query of an older driver.
TEST(NodeStage, ThermalHeatsThisMachineAndReadsWhatItCan) {
  CUPEL_NEEDS_REAL_PART(burnin::installed("stress-ng"), "stress-ng is not installed");
  const burnin::FakeTools tools;
  tools.add("nvidia-smi",
            "case $1 in --query-gpu=index,temp*) ;; *) exit 0 ;; esac\n"
            "case $1 in *tlimit*) echo 'Field \"temperature.gpu.tlimit\" is not a valid field to "
            "query.'; exit 2 ;; esac\n"
            "echo 'index, temperature.gpu, temperature.memory, power.draw [W]'\n"
            "echo '0, 59, N/A, 631.95'");
  constexpr const char* kOrder =
      R"({"load":"cpu","seconds":2,"window":1,"interval":1,"samples":9,"limit":600})";

  const auto output = burnin::run_script(
      "printf '%s' '" + std::string{kOrder} + "' | " NODE_BINARY " stage thermal",
      "PATH=" + tools.folder() + ":$PATH\nexport PATH\n");

  const auto found = burnin::parsed("thermal", output);
  ASSERT_TRUE(found) << found.error().what << "\n" << output.text << output.errors;
  EXPECT_EQ(value_of(*found, "gpu.temperature", "gpu0"), 59);
  EXPECT_TRUE(says_unknown(*found, "thermal.margin of gpu0"));
  EXPECT_TRUE(value_of(*found, "thermal.steady"));
}

}  // namespace
}  // namespace cupel::agent
