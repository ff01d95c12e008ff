// The stages of the host's parts on a virtual node: a healthy one gives what they want, and each
// fault is found in the part that has it.
#include "burnin/criteria/judge.h"
#include "burnin/stage.h"
#include "playbooks/playbook.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using enum FaultKind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "cpu0 core 17: cpu.failures" of each criterion that the node does not meet.
Texts unmet(const std::string& stage, const Result<burnin::Findings>& found) {
  if (!found) return {found.error().what};
  Texts all;
  for (const auto& each : burnin::judge(dgx(), {stage}, {{stage, *found}}))
    if (each.met != burnin::Met::met) all.push_back(each.part + ": " + each.measure);
  return all;
}

Texts unmet(Bench& bench, const std::string& stage, const burnin::Parameters& with = {}) {
  return unmet(stage, found_by(bench, stage, with));
}

const burnin::Parameters kDrives{{"raw", "yes"}, {"size", "1GiB"}, {"runtime", "20s"}};
/// What a shipped playbook says of its stage nvme, with the defaults of its parameters.
burnin::Parameters nvme_step_of(const std::string& playbook) {
  std::vector<inventory::Problem> problems;
  const auto read = playbooks::load_playbook(playbook, problems);
  EXPECT_TRUE(read) << to_string(problems);
  for (const auto& step : read ? read->steps : std::vector<playbooks::PlaybookStep>{})
    if (step.name == "nvme") return step.with;
  return {};
}

const burnin::Parameters kShared{{"directory", "/lustre"}, {"type", "lustre"}};

TEST(HostParts, AHealthyNodeMeetsEveryCriterion) {
  Bench bench;

  EXPECT_THAT(unmet(bench, "cpu", {{"duration", "10m"}}), IsEmpty());
  EXPECT_THAT(unmet(bench, "memory", {{"duration", "10m"}}), IsEmpty());
  EXPECT_THAT(unmet(bench, "nvme", kDrives), IsEmpty());
  EXPECT_THAT(unmet(bench, "storage", kShared), IsEmpty());
  EXPECT_THAT(unmet(bench, "thermal", {{"duration", "20m"}}), IsEmpty());
}

TEST(HostParts, NumbersAreThoseOfTheMachine) {
  Bench bench;

  const auto cpu = found_by(bench, "cpu", {{"duration", "10m"}});
  const auto memory = found_by(bench, "memory", {{"duration", "10m"}});
  const auto nvme = found_by(bench, "nvme", kDrives);

  ASSERT_TRUE(cpu && memory && nvme);
  EXPECT_EQ(value_of(*cpu, "cpu.cores", "cpu1"), 56);
  EXPECT_EQ(value_of(*cpu, "cpu.machine_checks"), 0);
  EXPECT_NEAR(value_of(*memory, "memory.tested", "numa1").value_or(0), 806, 8);
  for (const auto* drive : {"nvme0", "nvme9"}) EXPECT_EQ(value_of(*nvme, "nvme.errors", drive), 0);
  EXPECT_GT(value_of(*nvme, "nvme.read.iops", "nvme9").value_or(0), 100'000);
}

TEST(HostParts, EachFaultIsFoundInThePartThatHasIt) {
  Bench core{{{.kind = cpu_core_wrong, .part = "cpu1", .number = 17}}};
  Bench bits{{{.kind = memory_errors, .errors = 2}}};
  Bench hot{{{.kind = cpu_throttled, .part = "cpu0", .amount = 0.4}}};
  Bench slow{{{.kind = disk_slow, .part = "nvme4"}}};
  Bench broken{{{.kind = disk_errors, .part = "nvme0"}}};

  EXPECT_THAT(unmet(core, "cpu", {{"duration", "10m"}}), ElementsAre("cpu1 core 17: cpu.failures"));
  EXPECT_THAT(unmet(bits, "memory", {{"duration", "10m"}}), ElementsAre("numa1: memory.failures"));
  EXPECT_THAT(unmet(hot, "cpu", {{"duration", "10m"}}), Contains("cpu0: cpu.frequency.lowest"));
  EXPECT_THAT(unmet(slow, "nvme", kDrives), Contains("nvme4: nvme.write.bandwidth"));
  EXPECT_THAT(unmet(broken, "nvme", kDrives), ElementsAre("nvme0: nvme.errors"));
}

TEST(HostParts, ADimmThatWasTrainedToALowerRateIsNamed) {
  Bench slow{{{.kind = dimm_slow, .part = "dimm A5", .number = 3600}}};

  const auto findings = found_by(slow, "node-facts");

  ASSERT_TRUE(findings) << findings.error().what;
  EXPECT_EQ(value_of(*findings, "dimm.speed", "dimm A5"), 3600);
  EXPECT_EQ(value_of(*findings, "dimm.speed", "dimm A6"), 4400);
  EXPECT_THAT(unmet("node-facts", findings), Contains("dimm A5: dimm.speed.below_fastest"));
}

// Each meets the profile: the other machines of the run show it.
TEST(HostParts, ANodeWhoseMemoryIsSlowOrWhoseCoresHaveOneThreadShowsItInItsFacts) {
  Bench slow{{{.kind = memory_slow, .number = 4000}}};
  Bench single{{{.kind = smt_off}}};
  Bench healthy;

  for (const auto* stage : {"node-facts", "facts"}) {
    const auto of_slow = found_by(slow, stage), of_single = found_by(single, stage),
               of_healthy = found_by(healthy, stage);
    ASSERT_TRUE(of_slow && of_single && of_healthy) << stage;
    for (const auto* dimm : {"dimm A1", "dimm B16"}) {
      EXPECT_EQ(value_of(*of_slow, "dimm.speed", dimm), 4000) << stage;
      EXPECT_EQ(value_of(*of_healthy, "dimm.speed", dimm), 4400) << stage;
      EXPECT_EQ(value_of(*of_slow, "dimm.speed.below_fastest", dimm), 0) << stage;
    }
    EXPECT_EQ(value_of(*of_single, "cpu.threads", ""), 112) << stage;
    EXPECT_EQ(value_of(*of_healthy, "cpu.threads", ""), 224) << stage;
  }
}

TEST(HostParts, ACpuThatIsThrottledLateIsSoInTheKernelsLogFromThenOn) {
  Fault late{.kind = cpu_throttled, .part = "cpu0"};
  late.timing.after = VirtualTime{7200};
  Bench bench{{late}};
  const auto throttled = [&] {
    std::smatch found;
    const auto log = bench.sh("dmesg").out;
    const std::regex line{R"(\[ *([0-9.]+)\] mce: CPU0: Package temperature is above threshold)"};
    return std::regex_search(log, found, line) ? std::stod(found[1].str()) : 0;
  };

  const double before = throttled();
  bench.sh("sleep 9000");

  EXPECT_EQ(before, 0);
  EXPECT_GT(throttled(), 3600);
}

TEST(HostParts, NewRackAndBurnIn72hFindAnEmptyDataDriveAtATenthOfItsSpeed) {
  for (const auto* playbook : {"new-rack", "burn-in-72h"}) {
    Bench slow{{{.kind = disk_slow, .part = "nvme5"}}};
    Bench healthy;
    auto with = nvme_step_of(playbook);
    with["runtime"] = "20s";
    with["size"] = "1GiB";

    EXPECT_THAT(unmet(slow, "nvme", with),
                ElementsAre("nvme5: nvme.write.bandwidth", "nvme5: nvme.read.bandwidth"))
        << playbook;
    EXPECT_THAT(unmet(healthy, "nvme", with), IsEmpty()) << playbook;
  }
}

TEST(HostParts, TheSystemsDriveIsTestedByAFileAndNeverItself) {
  Bench bench{{}, 1000};  // lsblk has 120 s to answer

  const auto forced = found_by(bench, "nvme", {{"raw", "force"}, {"drives", "nvme0"}});
  const auto ran = bench.sh(burnin::stage("nvme")->prepare(dgx(), kDrives)->script);

  ASSERT_TRUE(forced) << forced.error().what;
  EXPECT_THAT(ran.out, HasSubstr(R"("name":"place nvme0","text":"/"})"));
  EXPECT_THAT(ran.out, HasSubstr(R"("name":"place nvme1","text":"/dev/nvme1n1"})"));
  EXPECT_THAT(bench.sh("ls -d /cupel-nvme.* 2>&1").out, HasSubstr("No such file"));
}

TEST(HostParts, ALocalDiskIsNoSharedFileSystem) {
  Bench bench;

  const auto found = unmet(bench, "storage", {{"directory", "/srv"}, {"type", "lustre"}});

  EXPECT_THAT(found, Contains(": storage.mounted"));
}

TEST(HostParts, AGpuThatIsHotUnderLoadIsNamed) {
  Bench bench{{{.kind = gpu_hot, .part = "gpu3", .amount = 60}}};
  // In the place of cupel-burn: a load of the machine's that says the same words at its end.
  bench.sh(
      "printf '%s\\n' 'dcgmi diag -r diagnostic -j >/dev/null' 'dcgmi diag -r diagnostic -j "
      ">/dev/null' 'echo \"{\\\"kind\\\":\\\"end\\\",\\\"complete\\\":true}\"' "
      ">/usr/local/bin/cupel-burn; chmod 755 /usr/local/bin/cupel-burn");

  const auto found =
      found_by(bench, "thermal", {{"load", "gpu"}, {"duration", "5m"}, {"window", "2m"}});

  ASSERT_TRUE(found) << found.error().what;
  for (const auto& each : found->measurements)
    if (each.name == "thermal.spread") EXPECT_EQ(each.traced_to, "gpu3");
  EXPECT_THAT(unmet("thermal", found), Contains("gpu3: thermal.margin"));
}

}  // namespace
}  // namespace cupel::rehearsal
