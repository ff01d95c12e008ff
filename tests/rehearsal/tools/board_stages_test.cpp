// The stages that set a node's settings, and the one that steps its load, on a virtual node.
#include "burnin/settings/settings.h"
#include "burnin/stage.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using ::testing::HasSubstr;

Fault fault(FaultKind kind, std::string part) {
  Fault made;
  made.kind = kind;
  made.part = std::move(part);
  return made;
}

std::string power_limits(Bench& bench) {
  return bench.sh("nvidia-smi --query-gpu=power.limit --format=csv,noheader | sort -u").out;
}

TEST(SettingsStage, SetsAVirtualNodeAndPutsItBack) {
  Bench bench;

  const auto set = found_by(bench, "settings",
                            {{"persistence", "off"},
                             {"power_limit", "500"},
                             {"gpu_clocks", "210,1410"},
                             {"mig", "on"},
                             {"governor", "performance"},
                             {"numa_balancing", "off"}});
  ASSERT_TRUE(set) << set.error().what;
  EXPECT_EQ(value_of(*set, "settings.set"), 4 * 8 + 2);
  for (const auto& each : set->measurements)
    if (each.name == "settings.failed") EXPECT_EQ(each.value, 0) << each.part;
  EXPECT_EQ(power_limits(bench), "500.00 W\n");
  EXPECT_EQ(bench.sh("cat /proc/sys/kernel/numa_balancing").out, "0\n");

  const auto back = found_by(bench, "settings-restore");

  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(value_of(*back, "settings.lost"), 0);
  EXPECT_EQ(power_limits(bench), "700.00 W\n");
  EXPECT_EQ(bench.sh("cat /proc/sys/kernel/numa_balancing").out, "1\n");
  EXPECT_EQ(bench.sh("cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").out,
            "powersave\n");
}

TEST(SettingsStage, SaysThatTheDriverHasNoApplicationClocksAndSetsTheRest) {
  Bench bench;

  const auto set =
      found_by(bench, "settings", {{"app_clocks", "2619,1980"}, {"power_limit", "500"}});
  const auto back = found_by(bench, "settings-restore");

  ASSERT_TRUE(set) << set.error().what;
  EXPECT_EQ(value_of(*set, "settings.failed", "gpu3"), 1);
  EXPECT_THAT(set->facts.at("settings.gpu3"), HasSubstr("use gpu_clocks"));
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(value_of(*back, "settings.restored"), 8);
  EXPECT_EQ(value_of(*back, "settings.lost"), 0);
}

TEST(SettingsStage, RefusesABusyGpuAndAPowerLimitBeyondTheGpus) {
  Bench busy{{fault(FaultKind::gpu_busy, "gpu3")}};
  Bench bench;

  const auto used = found_by(busy, "settings", {{"power_limit", "500"}});
  const auto wide = found_by(bench, "settings", {{"power_limit", "900"}});

  ASSERT_FALSE(used);
  EXPECT_THAT(used.error().what, HasSubstr("a GPU is in use"));
  ASSERT_FALSE(wide);
  EXPECT_THAT(wide.error().what, HasSubstr("power_limit 900 W is not between"));
}

TEST(SettingsStage, ArePutBackByTheVirtualNodesOwnTimerOnceTheyAreDue) {
  Bench bench;
  const auto set = found_by(bench, "settings", {{"power_limit", "500"}, {"at_most", "10m"}});
  ASSERT_TRUE(set) << set.error().what;
  EXPECT_EQ(bench.sh("systemctl is-active cupel-settings.timer").out, "active\n");
  bench.sh("sleep 300");
  EXPECT_EQ(power_limits(bench), "500.00 W\n");

  bench.sh("sleep 900");
  const auto back = found_by(bench, "settings-restore");

  EXPECT_EQ(power_limits(bench), "700.00 W\n");
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(back->facts.at("settings.record"), "before, by the timer");
  EXPECT_EQ(bench.sh("systemctl is-active cupel-settings.timer").out, "inactive\n");
}

TEST(SettingsStage, EndsTheVirtualNodesOwnTimerOnceTheRunHasPutThemBack) {
  Bench bench;
  ASSERT_TRUE(found_by(bench, "settings", {{"power_limit", "500"}, {"at_most", "10m"}}));
  ASSERT_TRUE(found_by(bench, "settings-restore"));

  EXPECT_EQ(bench.sh("systemctl is-active cupel-settings.timer").out, "inactive\n");
  EXPECT_EQ(bench.sh("ls /var/lib/cupel/settings").out, "put-back\n");
}

TEST(SystemdRun, RefusesASecondTimerOfOneName) {
  Bench bench;
  const std::string timer = "systemd-run --quiet --unit=late --on-active=60 touch /tmp/late";

  EXPECT_EQ(bench.sh(timer).status, 0);
  EXPECT_THAT(bench.sh(timer).err, HasSubstr("late.timer already exists"));
  bench.sh("sleep 90");

  EXPECT_EQ(bench.sh("ls /tmp/late").status, 0);
  EXPECT_EQ(bench.sh(timer).status, 0) << "it rang once, and is gone";
}

TEST(PsuStage, StepsTheLoadOfAVirtualNode) {
  Bench bench;
  const auto job = burnin::stage("psu")->prepare(dgx(), {{"phase", "20s"}, {"load", "cpu"}});
  ASSERT_TRUE(job);

  const auto ran = bench.sh(job->script);

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  for (const auto* line : {"idle", "full", "rest", "wave", "over"})
    EXPECT_THAT(ran.out,
                HasSubstr(R"({"kind":"phase","name":")" + std::string{line} + R"(","seconds":0})"));
}

TEST(PsuStage, WaitsOnAVirtualNodeUntilItHearsThatTheBmcWasRead) {
  Bench bench{{}, 500};  // a look at the job's folder is a second of the node's time, not a minute
  const auto job = burnin::stage("psu")->prepare(
      dgx(), {{"phase", "20s"}, {"load", "gpu"}, {"patience", "40s"}});
  ASSERT_TRUE(job);
  const std::string reported = "mkdir -p /var/tmp/job\necho idle >/var/tmp/job/word\n";

  const auto ran = bench.sh(reported + "export CUPEL_JOB=/var/tmp/job\n" + job->script);

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("full\",\"seconds\":[345][0-9]"))
      << "nobody told it more";
  EXPECT_THAT(ran.out, ::testing::Not(
                           ::testing::ContainsRegex("(idle|rest|wave)\",\"seconds\":[345][0-9]")));
  EXPECT_THAT(ran.out, HasSubstr(R"("over","seconds":0})"));
}

}  // namespace
}  // namespace cupel::rehearsal
