// The stages settings and settings-restore in the program itself, with an nvidia-smi that keeps its
// GPUs' settings in files: set, read back, put back; also by whoever comes after one that died
// half-way, by the node's own timer, and after the shell script of an earlier version.
#include "burnin/settings/settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "burnin/agent/node/stages/setting.h"
#include "tests/agent/settings_fixture.h"
#include "tests/support/real_part.h"

namespace cupel::agent {
namespace {

namespace fs = std::filesystem;
using burnin::value_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(SettingsStage, AreSetReadBackAndPutBack) {
  const auto set =
      run("settings", {{"persistence", "on"}, {"power_limit", "600W"}, {"gpu_clocks", "1410"}});
  ASSERT_EQ(set.exit_status, 0) << set.text << set.errors;
  EXPECT_EQ(limit("1"), "600.00\n");
  EXPECT_EQ(read("tools/gpus/0.clocks"), "1410,1410\n");
  const auto reported = found("settings", set);
  ASSERT_TRUE(reported) << reported.error().what;
  EXPECT_EQ(value_of(*reported, "settings.set"), 6);
  EXPECT_EQ(value_of(*reported, "settings.failed", "gpu1"), 0);

  const auto back = put_back();

  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(value_of(*back, "settings.restored"), 6);
  EXPECT_EQ(limit("1"), "700.00\n");
  EXPECT_EQ(read("tools/gpus/0.pm"), "Disabled\n");
  EXPECT_FALSE(fs::exists(at("tools/gpus/0.clocks")));
  EXPECT_FALSE(fs::exists(at(state("before"))));
}

TEST_F(SettingsStage, ThatWereSetTwiceGoBackToWhatWasBeforeTheFirst) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}}).exit_status, 0);
  ASSERT_EQ(run("settings", {{"power_limit", "500"}, {"persistence", "on"}}).exit_status, 0);
  EXPECT_EQ(limit("0"), "500.00\n");

  run("settings-restore");

  EXPECT_EQ(limit("0"), "700.00\n");
  EXPECT_EQ(read("tools/gpus/0.pm"), "Disabled\n");
}

TEST_F(SettingsStage, OfOneThatWasKilledHalfWayArePutBackByTheNext) {
  write("tools/dies", "");
  const auto killed = run("settings", {{"power_limit", "600"}});
  EXPECT_NE(killed.exit_status, 0);
  EXPECT_EQ(limit("0"), "600.00\n") << "it was killed at the second GPU";
  EXPECT_FALSE(found("settings", killed));

  const auto back = put_back();

  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(limit("0"), "700.00\n");
}

TEST_F(SettingsStage, ThatArePutBackASecondTimeAreLeftAlone) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}}).exit_status, 0);
  run("settings-restore");
  write("tools/gpus/0.pl", "650.00\n");

  const auto again = run("settings-restore");

  EXPECT_THAT(again.text, HasSubstr("before, by the run"));
  EXPECT_EQ(limit("0"), "650.00\n");
}

TEST_F(SettingsStage, ThatCannotBePutBackStayInTheRecord) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}}).exit_status, 0);
  write("tools/stuck", "");

  const auto output = run("settings-restore");

  const auto back = found("settings-restore", output);
  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 2);
  EXPECT_THAT(output.text, HasSubstr("Insufficient Permissions"));
  EXPECT_THAT(read(state("before")), HasSubstr("gpu.power|GPU-0001|700.00"));
}

TEST_F(SettingsStage, ThatDidNotTakeNameTheirPart) {
  write("tools/stuck", "");

  const auto reported = set({{"power_limit", "600"}});

  ASSERT_TRUE(reported);
  EXPECT_EQ(value_of(*reported, "settings.failed", "gpu1"), 1);
  EXPECT_THAT(reported->facts.at("settings.gpu1"),
              HasSubstr("expected 600.00, is 700.00; Insufficient Permissions"));
}

TEST_F(SettingsStage, AfterARestartOnlyPutBackWhatOutlivesOne) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}, {"ecc", "off"}}).exit_status, 0);
  boot("second");
  write("tools/gpus/0.pl", "650.00\n");  // of whoever came after the restart

  const auto back = put_back();

  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(value_of(*back, "settings.restored"), 2);
  EXPECT_EQ(limit("0"), "650.00\n");
  EXPECT_EQ(read("tools/gpus/0.ecc"), "Enabled\n");
}

TEST_F(SettingsStage, SayThatEccNeedsARestart) {
  const auto reported = set({{"ecc", "off"}});

  ASSERT_TRUE(reported);
  EXPECT_EQ(value_of(*reported, "settings.restart"), 2);
  EXPECT_EQ(value_of(*reported, "settings.failed", "gpu0"), 0);
}

TEST_F(SettingsStage, AreRefusedWhereAGpuIsInUseAndNothingIsTouched) {
  write("tools/busy", "GPU-0001, 4711\n");

  const auto output = run("settings", {{"power_limit", "600"}});

  const auto reported = found("settings", output);
  ASSERT_FALSE(reported);
  EXPECT_THAT(reported.error().what, HasSubstr("a GPU is in use: GPU-0001, 4711"));
  EXPECT_FALSE(fs::exists(at(state("before"))));
}

TEST_F(SettingsStage, OutOfTheGpusOwnRangeAreRefusedWithIt) {
  for (const auto& [with, why] : std::initializer_list<std::pair<Parameters, const char*>>{
           {{{"power_limit", "900"}}, "gpu0: power_limit 900 W is not between 200.00 and 700.00 W"},
           {{{"gpu_clocks", "210,2500"}}, "gpu_clocks 210,2500 MHz is above its most, 1980 MHz"}}) {
    const auto reported = set(with);

    ASSERT_FALSE(reported);
    EXPECT_THAT(reported.error().what, HasSubstr(why));
  }
  EXPECT_EQ(limit("0"), "700.00\n");
}

TEST_F(SettingsStage, OfApplicationClocksAreSetReadBackAndPutBack) {
  const auto reported = set({{"app_clocks", "2619, 1980"}});
  ASSERT_TRUE(reported) << reported.error().what;
  EXPECT_EQ(value_of(*reported, "settings.failed", "gpu1"), 0);
  EXPECT_EQ(read("tools/gpus/1.ac"), "2619, 1980\n");

  const auto back = put_back();

  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(value_of(*back, "settings.lost"), 0);
  EXPECT_EQ(read("tools/gpus/1.ac"), "1593, 1275\n");
}

/// What drivers 580 to 595 print for them on H100, H200 and L40S.
constexpr const char* kDeprecated =
    "[Requested functionality has been deprecated], [Requested functionality has been "
    "deprecated]\n";

TEST_F(SettingsStage, OfApplicationClocksThatADriverNoLongerHasNameTheOther) {
  write("tools/gpus/1.ac", kDeprecated);

  const auto reported = set({{"app_clocks", "2619,1980"}});

  ASSERT_TRUE(reported);
  EXPECT_EQ(value_of(*reported, "settings.failed", "gpu0"), 0);
  EXPECT_EQ(value_of(*reported, "settings.failed", "gpu1"), 1);
  EXPECT_THAT(reported->facts.at("settings.gpu1"), HasSubstr("use gpu_clocks"));
  EXPECT_EQ(read("tools/gpus/1.ac"), kDeprecated);
}

TEST_F(SettingsStage, ThatTheToolTookWithAWarningAndDidNotMakeHaveFailed) {
  write("tools/no-clocks", "");

  const auto reported = set({{"app_clocks", "2619,1980"}});

  ASSERT_TRUE(reported);
  EXPECT_THAT(reported->facts.at("settings.gpu0"),
              HasSubstr("expected 2619,1980, is 1593,1275; Setting applications clocks is not"));
}

TEST_F(SettingsStage, OfEccAreNotBackBeforeTheNodeWasRestarted) {
  ASSERT_EQ(run("settings", {{"ecc", "off"}}).exit_status, 0);
  write("tools/current", "Disabled\n");  // it was restarted, and has burnt without

  const auto early = put_back();
  write("tools/current", "Enabled\n");  // and once more
  const auto late = put_back();

  ASSERT_TRUE(early);
  EXPECT_EQ(value_of(*early, "settings.left"), 2);
  EXPECT_THAT(early->facts.at("settings.gpu0"), HasSubstr("needs a restart"));
  ASSERT_TRUE(late);
  EXPECT_EQ(value_of(*late, "settings.left"), 0);
}

TEST_F(SettingsStage, ReportsSettingsThatAnotherProgramChangedAsLost) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}}).exit_status, 0);
  write("tools/gpus/1.pl", "500.00\n");

  const auto back = put_back();

  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(value_of(*back, "settings.lost"), 1);
  EXPECT_EQ(back->facts.at("settings.lost.gpu1"), "gpu.power: was set to 600.00, and is 500.00");
}

TEST_F(SettingsStage, OfAGovernorAreMadeOnAllCpusThatHaveOneThatIsTheSame) {
  const std::string cpu = "node/sys/devices/system/cpu/cpu", file = "/cpufreq/scaling_governor";
  for (const auto* each : {"0", "1"}) write(cpu + each + file, "powersave\n");
  write(cpu + "0/cpufreq/scaling_available_governors", "performance powersave\n");

  ASSERT_TRUE(set({{"governor", "performance"}}));
  EXPECT_EQ(read(cpu + "1" + file), "performance\n");
  ASSERT_TRUE(put_back());
  EXPECT_EQ(read(cpu + "1" + file), "powersave\n");
  EXPECT_THAT(set({{"governor", "ondemand"}}).error().what, HasSubstr("'ondemand' is none of"));
  write(cpu + "1" + file, "performance\n");
  EXPECT_THAT(set({{"governor", "performance"}}).error().what, HasSubstr("different governors"));
}

/// A file with these words that refuses to be written, as the kernel's does for an interrupt that
/// it manages itself.
class Refusing {
 public:
  explicit Refusing(std::string_view text) : fd_{::memfd_create("irq", MFD_ALLOW_SEALING)} {
    EXPECT_EQ(::write(fd_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    EXPECT_EQ(::fcntl(fd_, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW), 0);
  }
  Refusing(const Refusing&) = delete;
  Refusing& operator=(const Refusing&) = delete;
  ~Refusing() { ::close(fd_); }
  std::string path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd_); }

 private:
  int fd_;
};

class InterruptSettings : public SettingsStage {
 protected:
  InterruptSettings() {
    const std::string device = "node/sys/class/infiniband/mlx5_0/device/";
    write(device + "numa_node", "1\n");
    write("node/sys/devices/system/node/node1/cpulist", "4-7,12-15\n");
    write("node/sys/devices/system/node/node0/cpulist", "0-3,8-11\n");
    for (const auto* irq : {"33", "34", "35", "36"}) write(device + "msi_irqs/" + irq, "msix\n");
    write("node/proc/irq/33/smp_affinity_list", "0-15\n");
  }
  void link(const std::string& name, const std::string& to) const {
    fs::create_directories(fs::path{at(name)}.parent_path());
    fs::create_symlink(to, at(name));
  }
  std::string irq33() const { return read("node/proc/irq/33/smp_affinity_list"); }
};

TEST_F(InterruptSettings, GoToTheNodeOfTheirHcaAndBackAndIrqbalanceWithThem) {
  write("tools/irqbalance", "active\n");

  const auto reported = set({{"irq_affinity", "local"}});
  ASSERT_TRUE(reported) << reported.error().what;
  EXPECT_EQ(value_of(*reported, "settings.failed", "irq 33"), 0);
  EXPECT_EQ(value_of(*reported, "settings.failed", "irqbalance"), 0);
  EXPECT_EQ(irq33(), "4-7,12-15\n");
  EXPECT_EQ(read("tools/irqbalance"), "inactive\n");

  const auto back = put_back();

  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(value_of(*back, "settings.lost"), 0);
  EXPECT_EQ(irq33(), "0-15\n");
  EXPECT_EQ(read("tools/irqbalance"), "active\n");
}

TEST_F(InterruptSettings, ThatTheKernelKeepsFailWhereTheyAreFarAndNotWhereTheyAreNear) {
  const Refusing far{"0-3\n"}, near{"5,12-13\n"};
  link("node/proc/irq/34/smp_affinity_list", far.path());
  link("node/proc/irq/35/smp_affinity_list", near.path());

  const auto reported = set({{"irq_affinity", "local"}});
  const auto back = put_back();

  ASSERT_TRUE(reported) << reported.error().what;
  EXPECT_EQ(value_of(*reported, "settings.failed", "irq 34"), 1);
  EXPECT_THAT(reported->facts.at("settings.irq 34"),
              HasSubstr("irq: expected 4-7,12-15, is 0-3; the kernel keeps it where it is"));
  EXPECT_EQ(value_of(*reported, "settings.failed", "irq 35"), 0);
  EXPECT_EQ(value_of(*reported, "settings.failed", "irq 36"), std::nullopt);
  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 0) << "they are as they were";
  EXPECT_EQ(irq33(), "0-15\n");
}

/// Whoever could write there would be root: what lies there is run as root, and says what is
/// written.
TEST_F(SettingsStage, RefusesARecordThatAnotherUserMayWrite) {
  fs::create_directories(at(state("")));
  write(state("wanted"), "gpu.power|GPU-0001|600.00\n");
  fs::permissions(at("node/var/lib"), fs::perms{0777});

  const auto set = run("settings", {{"power_limit", "600W"}});
  const auto back = run("settings-restore");

  for (const auto& output : {set, back}) {
    EXPECT_EQ(output.exit_status, 2) << output.text;
    EXPECT_THAT(output.text, AllOf(HasSubstr(R"("kind":"gave-up")"),
                                   HasSubstr(at("node/var/lib") + " is of user "),
                                   HasSubstr("mode 0777"), Not(HasSubstr(R"("kind":"setting")"))));
  }
  EXPECT_EQ(limit("1"), "700.00\n");
  EXPECT_FALSE(there(state("cupel-node")));
  EXPECT_FALSE(there(state("before")));
}

TEST_F(SettingsStage, AreNeitherMadeNorPutBackByARecordOfAnotherUser) {
  CUPEL_NEEDS_REAL_PART(::geteuid() == 0, "only root may give a folder away");
  fs::create_directories(at(state("")));
  ASSERT_EQ(::chown(at("node/var/lib/cupel").c_str(), 65534, 65534), 0);

  for (const auto& output : {run("settings", {{"power_limit", "600"}}), run("settings-restore")})
    EXPECT_THAT(output.text, HasSubstr("is of user 65534"));
  EXPECT_EQ(limit("0"), "700.00\n");
}

TEST_F(SettingsStage, FollowNoLinkInPlaceOfTheRecordOrItsFolder) {
  write("elsewhere/before", "cupel-settings|1|first\ngpu.power|GPU-0000|300.00\n");
  fs::create_directories(at("node/var/lib/cupel"));
  fs::create_symlink(at("elsewhere"), at("node/var/lib/cupel/settings"));
  EXPECT_THAT(run("settings-restore").text, HasSubstr("is a symbolic link"));

  fs::remove(at("node/var/lib/cupel/settings"));
  fs::create_directories(at(state("")));
  fs::create_symlink(at("elsewhere/before"), at(state("before")));
  const auto back = put_back();

  ASSERT_FALSE(back) << "a record that cannot be read is not 'nothing was set'";
  EXPECT_THAT(back.error().what, HasSubstr("/before: Too many levels of symbolic links"));
  EXPECT_EQ(limit("0"), "700.00\n");
}

TEST_F(SettingsStage, OfARecordThatIsNoneAreLeftToAPerson) {
  write(state("before"), "gpu.power=700\n");
  write("tools/active", "");

  const auto set = this->set({{"power_limit", "600"}});
  const auto back = put_back();

  ASSERT_FALSE(set);
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().what, HasSubstr("none of ours, 'gpu.power=700'"));
  EXPECT_EQ(limit("0"), "700.00\n");
  EXPECT_TRUE(there("tools/active")) << "the timer of whoever wrote it is not stopped";
  EXPECT_EQ(read(state("before")), "gpu.power=700\n");
}

TEST_F(SettingsStage, RestoresWhereTheExpectedValuesAreNotKnown) {
  ASSERT_TRUE(set({{"power_limit", "600"}}));
  fs::remove(at(state("wanted")));
  fs::create_directory(at(state("wanted")));

  const auto back = put_back();

  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(value_of(*back, "settings.lost"), 1) << "whether they stayed so is not known";
  EXPECT_EQ(limit("1"), "700.00\n");
}

TEST_F(SettingsStage, ThatNoPlanAsksForAreRefusedByTheNodeToo) {
  for (const auto* order :
       {"{}", R"({"at_most":60,"settings":[]})", R"({"at_most":0,"settings":[]})",
        R"({"at_most":60,"settings":[{"name":"power_limit","value":"600;reboot"}]})",
        R"({"at_most":60,"settings":[{"name":"fan","value":"on"}]})",
        R"({"at_most":60,"settings":[{"name":"ecc","value":"on"},{"name":"ecc","value":"off"}]})",
        R"({"at_most":60,"settings":[{"name":"governor","value":"../x"}]})"}) {
    const auto output = ordered("settings", order);

    EXPECT_EQ(output.exit_status, 2) << order << output.text;
    EXPECT_THAT(output.text, HasSubstr("the order has no "));
  }
  EXPECT_FALSE(there(state("")));
}

TEST_F(SettingsStage, AreNotMadeWhereWhatWasBeforeCannotBeWritten) {
  write("node/var/lib/cupel", "a file\n");

  const auto reported = set({{"power_limit", "600"}});

  ASSERT_FALSE(reported);
  EXPECT_THAT(reported.error().what, HasSubstr("/var/lib/cupel/settings cannot be made"));
  EXPECT_EQ(limit("0"), "700.00\n");
}

TEST_F(SettingsStage, OfGpusAreRefusedWhereTheirToolIsMissingOrListsNone) {
  write("tools/nvidia-smi", "#!/bin/sh\nexit 0\n");
  const auto none = set({{"power_limit", "600"}});
  write("tools/nvidia-smi",
        "#!/bin/sh\necho 'Failed to initialize NVML: Driver mismatch'\nexit 18\n");
  const auto broken = set({{"power_limit", "600"}});
  fs::remove(at("tools/nvidia-smi"));
  const auto job = burnin::prepared("settings", {{"power_limit", "600"}});
  const auto missing =
      found("settings", burnin::run_script(job->script, "PATH=" + at("tools") + "\nexport PATH\n"));

  ASSERT_FALSE(none || broken || missing);
  EXPECT_EQ(none.error().what, "nvidia-smi lists no GPU");
  EXPECT_EQ(broken.error().what, "nvidia-smi: Failed to initialize NVML: Driver mismatch");
  EXPECT_EQ(missing.error().what, "nvidia-smi is not installed on the node");
  EXPECT_FALSE(there(state("before")));
}

TEST(Setting, OfAToolThatHangsSaysSo) {
  EXPECT_EQ(first_line({.status = 124, .late = true}), "no answer within 120 s");
  EXPECT_EQ(first_line({.status = 4, .out = "  No | permission\nmore\n"}), "No   permission");
}

TEST_F(SettingsStage, OfAGpuThatReportsNoneAreRefused) {
  write("tools/gpus/1.ecc", "[N/A]\n");

  const auto reported = set({{"persistence", "on"}, {"ecc", "off"}});

  ASSERT_FALSE(reported);
  EXPECT_EQ(reported.error().what, "gpu1 does not report its ECC mode: it cannot be put back");
  EXPECT_EQ(read("tools/gpus/0.pm"), "Disabled\n");
}

TEST_F(SettingsStage, OfAGpuThatIsGoneAreLeft) {
  ASSERT_TRUE(set({{"power_limit", "600"}}));
  auto record = read(state("before"));
  replace_word(record, "GPU-0001", "GPU-0009");
  write(state("before"), record);

  const auto back = put_back();

  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 1);
  EXPECT_THAT(back->facts.at("settings.GPU-0009"), HasSubstr("nvidia-smi does not report it"));
  EXPECT_THAT(read(state("before")), HasSubstr("GPU-0000|700.00"));
}

TEST_F(SettingsStage, OfTheScriptOfAnEarlierVersionArePutBackAndItsTimerGoes) {
  for (const auto* gpu : {"0", "1"}) write(std::string{"tools/gpus/"} + gpu + ".pl", "600.00\n");
  write(state("before"),
        "cupel-settings|1|first\ngpu.power|GPU-0000|700.00\ngpu.power|GPU-0001|700.00\n"
        "gpu.clocks|GPU-0000|default\n");
  write(state("wanted"), "gpu.power|GPU-0000|600.00\ngpu.power|GPU-0001|600.00\ngpu.cl");
  write(state("until"), "1700000000 1700003600\n");
  write(state("restore.sh"), "echo the script\n");
  write(unit("service"), "ExecStart=/bin/sh /var/lib/cupel/settings/restore.sh timer\n");
  write(unit("timer"), "OnActiveSec=3600\n");
  write("tools/enabled", "");

  const auto back = put_back();

  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(value_of(*back, "settings.restored"), 3);
  EXPECT_EQ(value_of(*back, "settings.lost"), 0);
  EXPECT_EQ(limit("1"), "700.00\n");
  for (const auto& gone : {state("before"), state("wanted"), state("until"), state("restore.sh"),
                           unit("service"), unit("timer"), std::string{"tools/enabled"}})
    EXPECT_FALSE(there(gone)) << gone;
}

/// With a folder for units of systemd.
class TimedSettings : public SettingsStage {
 protected:
  TimedSettings() { fs::create_directories(at("node/etc/systemd/system")); }

  void set_for_an_hour() const {
    const auto reported = set({{"power_limit", "600"}, {"at_most", "1h"}});
    ASSERT_TRUE(reported) << reported.error().what;
    ASSERT_TRUE(reported->unknown.empty()) << reported->unknown[0].why;
    ASSERT_EQ(limit("0"), "600.00\n");
  }
  /// As systemd does when the timer fires: with a PATH of its own.
  Output fire() const {
    return burnin::run_script("export PATH=/usr/sbin:/usr/bin\n$(sed -n 's/^ExecStart=//p' " +
                              at(unit("service")) + ")\n");
  }
  void make_due() const { write(state("until"), "1 2\n"); }
};

TEST_F(TimedSettings, RestoreThemselvesWhereNoControllerReturns) {
  set_for_an_hour();
  EXPECT_THAT(read(unit("timer")), AllOf(HasSubstr("OnActiveSec=3600\n"),
                                         HasSubstr("OnBootSec=2min\nOnUnitInactiveSec=10min\n")));
  EXPECT_EQ(fs::status(at(state("cupel-node"))).permissions(), fs::perms::owner_all);
  make_due();

  const auto fired = fire();

  EXPECT_EQ(limit("0"), "700.00\n") << fired.text << fired.errors;
  EXPECT_EQ(limit("1"), "700.00\n");
  const auto late = put_back();
  ASSERT_TRUE(late);
  EXPECT_EQ(value_of(*late, "settings.left"), 0);
  EXPECT_EQ(value_of(*late, "settings.lost"), 1) << "they were gone under the run";
  EXPECT_EQ(late->facts.at("settings.lost"), "all of it was put back before, by the timer");
}

TEST_F(TimedSettings, AreLeftAloneByTheTimerUntilTheyAreDueAlsoAfterARestart) {
  set_for_an_hour();
  EXPECT_EQ(fire().exit_status, 0);
  boot("second");
  fire();
  EXPECT_EQ(limit("0"), "600.00\n") << "it was not due";
  EXPECT_TRUE(there("tools/enabled"));

  write(state("until"), "99999999999 99999999999\n");
  boot("first");
  fire();

  EXPECT_EQ(limit("0"), "700.00\n") << "the clock was set back behind the beginning";
  for (const auto& gone : {state("before"), unit("timer"), std::string{"tools/enabled"}})
    EXPECT_FALSE(there(gone)) << gone;
}

TEST_F(TimedSettings, ThatTheTimerCannotPutBackStayInTheRecordAndItsTimerToo) {
  set_for_an_hour();
  make_due();
  write("tools/stuck", "");

  fire();
  EXPECT_THAT(read(state("before")), HasSubstr("gpu.power|GPU-0001|700.00"));
  EXPECT_TRUE(there("tools/active"));
  fs::remove(at("tools/stuck"));
  fire();

  EXPECT_EQ(limit("1"), "700.00\n");
  EXPECT_FALSE(there("tools/active"));
}

TEST_F(TimedSettings, LeaveNothingOnceTheRunHasPutThemBack) {
  set_for_an_hour();

  const auto back = put_back();

  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  for (const auto& gone : {unit("timer"), unit("service"), state("cupel-node"), state("until"),
                           state("before"), state("wanted"), std::string{"tools/active"}})
    EXPECT_FALSE(there(gone)) << gone;
}

/// The machine lost its power after the record was removed, and before the timer was.
TEST_F(TimedSettings, OfWhichNothingIsLeftButTheTimerEndTheTimer) {
  set_for_an_hour();
  fs::remove(at(state("before")));
  make_due();

  fire();

  for (const auto& gone : {unit("timer"), unit("service"), state("cupel-node")})
    EXPECT_FALSE(there(gone)) << gone;
}

TEST_F(TimedSettings, ArePutBackByHandWithTheProgramThatTheNodeKeeps) {
  set_for_an_hour();

  const auto by_hand =
      run_here(at(state("cupel-node")) + " restore-settings --root " + at("node") + "\n");

  EXPECT_THAT(by_hand.text, HasSubstr(R"("name":"record","text":"gone")"));
  EXPECT_EQ(limit("0"), "700.00\n");
  EXPECT_EQ(read(state("put-back")), "hand\n");
}

/// Who may write a unit is root.
TEST_F(TimedSettings, AreGuardedForThisBootAloneWhereOthersMayWriteUnits) {
  fs::permissions(at("node/etc/systemd/system"), fs::perms{0777});
  write("tools/transient", "");

  const auto reported = set({{"power_limit", "600"}, {"at_most", "1h"}});

  ASSERT_TRUE(reported);
  EXPECT_FALSE(there(unit("service")));
  ASSERT_EQ(reported->unknown.size(), 1u);
  EXPECT_THAT(reported->unknown[0].why,
              AllOf(HasSubstr("no timer could be laid on its disk"), HasSubstr("mode 0777")));
  EXPECT_THAT(read("tools/transient"),
              AllOf(HasSubstr("--unit=cupel-settings\n--on-active=3600\n"),
                    HasSubstr(at(state("cupel-node")) + "\nrestore-settings\n--timer\n")));
  make_due();
  run_here("sed -n '/^.usr.bin.env$/,$p' " + at("tools/transient") + " | xargs env\n");
  EXPECT_EQ(limit("1"), "700.00\n");
}

TEST_F(TimedSettings, AreReportedToHaveNoTimerWhereNoneCouldBeMade) {
  write("tools/no-timers", "");

  const auto reported = set({{"power_limit", "600"}});

  ASSERT_TRUE(reported);
  ASSERT_EQ(reported->unknown.size(), 1u);
  EXPECT_THAT(reported->unknown[0].why, AllOf(HasSubstr("absent: it is put back by the run alone"),
                                              HasSubstr("Read-only file system")));
  EXPECT_FALSE(there(unit("timer")));
  EXPECT_EQ(limit("0"), "600.00\n");
}

TEST_F(TimedSettings, AreReportedToHaveNoTimerWhereTheProgramCannotBeKept) {
  write(state("cupel-node/in-its-place"), "");

  const auto reported = set({{"power_limit", "600"}});

  ASSERT_TRUE(reported) << reported.error().what;
  ASSERT_EQ(reported->unknown.size(), 1u);
  EXPECT_THAT(reported->unknown[0].why, HasSubstr("cupel-node: Is a directory"));
  EXPECT_FALSE(there(unit("timer")));
}

}  // namespace
}  // namespace cupel::agent
