// Settings on a real shell, with an nvidia-smi that keeps its GPUs' settings in files: set, read
// back, put back; also by whoever comes after one that died half-way.
#include "burnin/settings/settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burnin/settings/settings_script.h"
#include "burnin/undo.h"
#include "tests/burnin/stages.h"
#include "tests/support/real_part.h"

namespace cupel::burnin {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSmi = R"sh(#!/bin/sh
cd "$(dirname "$0")/gpus" || exit 1
for word in "$@"; do
  case $word in
    --query-compute-apps=*) cat ../busy 2>/dev/null; exit 0 ;;
  esac
done
which=
if [ "$1" = -i ]; then which=$2; shift 2; fi
gpu() { echo "$1, GPU-000$1, $(cat $1.pm), $(cat $1.pl), 200.00, 700.00, $(cat $1.ecc), Disabled, 1980"; }
case $1 in
  --query-gpu=index,uuid) for g in 0 1; do echo "$g, GPU-000$g"; done ;;
  --query-gpu=index,uuid,*) for g in 0 1; do gpu $g; done ;;
  --query-gpu=persistence_mode) cat $which.pm ;;
  --query-gpu=power.limit) cat $which.pl ;;
  --query-gpu=ecc.mode.pending) cat $which.ecc ;;
  --query-gpu=ecc.mode.current) if [ -e ../current ]; then cat ../current; else echo Enabled; fi ;;
  --query-gpu=clocks.applications.memory,clocks.applications.graphics) cat $which.ac ;;
  -ac)
    if [ -e ../no-clocks ]; then echo "Setting applications clocks is not supported for GPU 0000$which"; exit 0; fi
    echo "$2" | sed 's/,/, /' > $which.ac ;;
  -pm) if [ "$2" = 1 ]; then echo Enabled > $which.pm; else echo Disabled > $which.pm; fi ;;
  -pl)
    if [ -e ../dies ] && [ "$which" = 1 ]; then rm ../dies; kill -9 $(cat ../leader); sleep 1; exit 1; fi
    if [ -e ../stuck ]; then echo "Insufficient Permissions"; exit 4; fi
    printf '%.2f\n' "$2" > $which.pl ;;
  -e) if [ "$2" = 1 ]; then echo Enabled > $which.ecc; else echo Disabled > $which.ecc; fi ;;
  -lgc) echo "$2" > $which.clocks ;;
  -rgc) rm -f $which.clocks ;;
  *) echo "unknown: $*"; exit 2 ;;
esac
)sh";

/// As much of systemd as the scripts ask for: one service that is or is not, and one timer, which
/// is started as its unit's file says, and after a restart only where it is enabled.
constexpr const char* kSystemctl = R"sh(#!/bin/sh
cd "$(dirname "$0")" || exit 1
unit=$PWD/units/cupel-settings
fire() { $(sed -n 's/^ExecStart=//p' "$unit.service"); }
case "$*" in
  'is-active irqbalance') cat irqbalance 2>/dev/null || echo inactive ;;
  'stop irqbalance') echo inactive > irqbalance ;;
  'start irqbalance') echo active > irqbalance ;;
  daemon-reload) [ -d units ] ;;
  'enable --now cupel-settings.timer')
    [ -d units ] && grep -q '^WantedBy=timers.target$' "$unit.timer" || exit 1
    touch enabled
    after=$(sed -n 's/^OnActiveSec=//p' "$unit.timer")
    (sleep "$after" & echo $! > timer; wait $! && fire && echo rang > rang) > fired 2>&1 &
    until [ -s timer ]; do sleep 0.01; done ;;
  'disable cupel-settings.timer') rm -f enabled ;;
  'is-active --quiet cupel-settings.timer') [ -s timer ] ;;
  'stop cupel-settings.timer'*) if [ -s timer ]; then kill "$(cat timer)" 2>/dev/null; rm -f timer; fi ;;
  boot) rm -f timer; if [ -e enabled ] && grep -q '^OnBootSec=' "$unit.timer"; then fire; fi ;;
  *) exit 1 ;;
esac
)sh";

class Settings : public ::testing::Test {
 protected:
  Settings() {
    std::filesystem::create_directories(at("gpus"));
    // No timer of the machine that runs the test is touched.
    for (const auto& [name, does] : std::initializer_list<std::pair<const char*, const char*>>{
             {"nvidia-smi", kSmi},
             {"systemd-run", "#!/bin/sh\nexit 1\n"},
             {"systemctl", kSystemctl}}) {
      write(name, does);
      std::filesystem::permissions(at(name), std::filesystem::perms::owner_all);
    }
    for (const auto* gpu : {"0", "1"}) {
      write(std::string{"gpus/"} + gpu + ".pm", "Disabled\n");
      write(std::string{"gpus/"} + gpu + ".pl", "700.00\n");
      write(std::string{"gpus/"} + gpu + ".ecc", "Enabled\n");
      write(std::string{"gpus/"} + gpu + ".ac", "1593, 1275\n");
    }
  }

  std::string at(const std::string& name) const { return (folder.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{at(name)} << text;
  }
  std::string read(const std::string& name) const {
    const auto text = read_file(at(name), 1u << 20);
    return text ? *text : "";
  }
  std::string limit(const char* gpu) const { return read(std::string{"gpus/"} + gpu + ".pl"); }

  /// Nothing of the machine that runs the tests is touched.
  Output run_here(const std::string& script) const {
    std::string before = "PATH=" + folder.path().string() + ":$PATH\nexport PATH\n";
    for (const auto& [name, where] :
         std::initializer_list<std::pair<const char*, const char*>>{{"CUPEL_SETTINGS", "state"},
                                                                    {"CUPEL_UNITS", "units"},
                                                                    {"CUPEL_SYS", "sys"},
                                                                    {"CUPEL_PROC", "proc"}})
      before += std::string{name} + "=" + at(where) + "\nexport " + name + "\n";
    return run_script(script, before + "echo $$ > " + at("leader") + "\n");
  }
  Output run(std::string_view name, const Parameters& with = {}) const {
    const auto job = prepared(name, with);
    if (!job) return {job.error().what, "", -1};
    return run_here(job->script);
  }
  Result<Findings> found(std::string_view name, const Output& output) const {
    return stage(name)->parse(profile(), output);
  }

  test::TemporaryFolder folder{};
};

TEST_F(Settings, AreSetReadBackAndPutBack) {
  const auto set =
      run("settings", {{"persistence", "on"}, {"power_limit", "600W"}, {"gpu_clocks", "1410"}});
  ASSERT_EQ(set.exit_status, 0) << set.text << set.errors;
  EXPECT_EQ(limit("1"), "600.00\n");
  EXPECT_EQ(read("gpus/0.clocks"), "1410,1410\n");
  const auto told = found("settings", set);
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(value_of(*told, "settings.set"), 6);
  EXPECT_EQ(value_of(*told, "settings.failed", "gpu1"), 0);

  const auto back = found("settings-restore", run("settings-restore"));

  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(value_of(*back, "settings.restored"), 6);
  EXPECT_EQ(limit("1"), "700.00\n");
  EXPECT_EQ(read("gpus/0.pm"), "Disabled\n");
  EXPECT_FALSE(std::filesystem::exists(at("gpus/0.clocks")));
  EXPECT_FALSE(std::filesystem::exists(at("state/before")));
}

TEST_F(Settings, AreNeitherMadeNorPutBackByARecordThatSomebodyElseMayWrite) {
  namespace fs = std::filesystem;
  fs::create_directory(at("state"));
  write("state/wanted", "gpu.power|GPU-1|600.00\n");
  fs::permissions(folder.path(), fs::perms{0777});

  const auto set = run("settings", {{"power_limit", "600W"}});
  const auto back = run("settings-restore");

  for (const auto& output : {set, back}) {
    EXPECT_EQ(output.exit_status, 69) << output.text;
    EXPECT_THAT(output.text,
                HasSubstr("cupel-gave-up: " + folder.path().string() + " is drwxrwxrwx"));
  }
  EXPECT_EQ(limit("1"), "700.00\n");
  EXPECT_FALSE(fs::exists(at("state/restore.sh")));
}

TEST_F(Settings, ThatWereSetTwiceGoBackToWhatWasBeforeTheFirst) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}}).exit_status, 0);
  ASSERT_EQ(run("settings", {{"power_limit", "500"}, {"persistence", "on"}}).exit_status, 0);
  EXPECT_EQ(limit("0"), "500.00\n");

  run("settings-restore");

  EXPECT_EQ(limit("0"), "700.00\n");
  EXPECT_EQ(read("gpus/0.pm"), "Disabled\n");
}

TEST_F(Settings, OfOneThatWasKilledHalfWayArePutBackByTheNext) {
  write("dies", "");
  const auto killed = run("settings", {{"power_limit", "600"}});
  EXPECT_NE(killed.exit_status, 0);
  EXPECT_EQ(limit("0"), "600.00\n") << "it was killed at the second GPU";
  EXPECT_FALSE(found("settings", killed));

  const auto back = found("settings-restore", run("settings-restore"));

  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(limit("0"), "700.00\n");
}

TEST_F(Settings, ThatArePutBackASecondTimeAreLeftAlone) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}}).exit_status, 0);
  run("settings-restore");
  write("gpus/0.pl", "650.00\n");

  const auto again = run("settings-restore");

  EXPECT_THAT(again.text, HasSubstr("cupel-record: before, by the run"));
  EXPECT_EQ(limit("0"), "650.00\n");
}

TEST_F(Settings, ThatCannotBePutBackStayInTheRecord) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}}).exit_status, 0);
  write("stuck", "");

  const auto output = run("settings-restore");

  const auto back = found("settings-restore", output);
  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 2);
  EXPECT_THAT(output.text, HasSubstr("Insufficient Permissions"));
  EXPECT_THAT(read("state/before"), HasSubstr("gpu.power|GPU-0001|700.00"));
}

TEST_F(Settings, ThatDidNotTakeNameTheirPart) {
  write("stuck", "");

  const auto told = found("settings", run("settings", {{"power_limit", "600"}}));

  ASSERT_TRUE(told);
  EXPECT_EQ(value_of(*told, "settings.failed", "gpu1"), 1);
  EXPECT_THAT(told->facts.at("settings.gpu1"),
              HasSubstr("expected 600.00, is 700.00; Insufficient Permissions"));
}

TEST_F(Settings, AfterARestartOnlyPutBackWhatOutlivesOne) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}, {"ecc", "off"}}).exit_status, 0);
  const auto record = read("state/before");
  const auto boot = record.substr(0, record.find('\n'));
  write("state/before", "cupel-settings|1|another-boot" + record.substr(record.find('\n')));
  write("gpus/0.pl", "650.00\n");  // of whoever came after the restart

  const auto back = found("settings-restore", run("settings-restore"));

  EXPECT_EQ(value_of(*back, "settings.left"), 0) << boot;
  EXPECT_EQ(value_of(*back, "settings.restored"), 2);
  EXPECT_EQ(limit("0"), "650.00\n");
  EXPECT_EQ(read("gpus/0.ecc"), "Enabled\n");
}

TEST_F(Settings, SayThatEccNeedsARestart) {
  const auto told = found("settings", run("settings", {{"ecc", "off"}}));

  ASSERT_TRUE(told);
  EXPECT_EQ(value_of(*told, "settings.restart"), 2);
  EXPECT_EQ(value_of(*told, "settings.failed", "gpu0"), 0);
}

TEST_F(Settings, AreRefusedWhereAGpuIsInUseAndNothingIsTouched) {
  write("busy", "GPU-0001, 4711\n");

  const auto output = run("settings", {{"power_limit", "600"}});

  const auto told = found("settings", output);
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().what, HasSubstr("a GPU is in use: GPU-0001, 4711"));
  EXPECT_FALSE(std::filesystem::exists(at("state/before")));
}

TEST_F(Settings, OutOfTheGpusOwnRangeAreRefusedWithIt) {
  for (const auto& [with, why] : std::initializer_list<std::pair<Parameters, const char*>>{
           {{{"power_limit", "900"}}, "gpu0: power_limit 900 W is not between 200.00 and 700.00 W"},
           {{{"gpu_clocks", "210,2500"}}, "gpu_clocks 210,2500 MHz is above its most, 1980 MHz"}}) {
    const auto told = found("settings", run("settings", with));

    ASSERT_FALSE(told);
    EXPECT_THAT(told.error().what, HasSubstr(why));
  }
  EXPECT_EQ(limit("0"), "700.00\n");
}

TEST_F(Settings, OutOfAnyRangeAreRefusedWhenThePlanIsMade) {
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"power_limit", "9000"},
                                                                  {"power_limit", "much"},
                                                                  {"gpu_clocks", "1980,210"},
                                                                  {"gpu_clocks", "1,2,3"},
                                                                  {"persistence", "1; reboot"},
                                                                  {"app_clocks", "1980"},
                                                                  {"app_clocks", "2619,x"},
                                                                  {"governor", "turbo"},
                                                                  {"irq_affinity", "far"}}) {
    const auto refused = prepared("settings", {{name, value}});

    ASSERT_FALSE(refused) << name << " " << value;
    EXPECT_EQ(refused.error().code, Code::kInvalid);
    EXPECT_THAT(refused.error().what, HasSubstr(name));
  }
  EXPECT_FALSE(prepared("settings")) << "nothing is to be set";
}

TEST_F(Settings, OfApplicationClocksAreSetReadBackAndPutBack) {
  const auto told = found("settings", run("settings", {{"app_clocks", "2619, 1980"}}));
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(value_of(*told, "settings.failed", "gpu1"), 0);
  EXPECT_EQ(read("gpus/1.ac"), "2619, 1980\n");

  const auto back = found("settings-restore", run("settings-restore"));

  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(value_of(*back, "settings.lost"), 0);
  EXPECT_EQ(read("gpus/1.ac"), "1593, 1275\n");
}

/// What drivers 580 to 595 print for them on H100, H200 and L40S.
constexpr const char* kDeprecated =
    "[Requested functionality has been deprecated], [Requested functionality has been "
    "deprecated]\n";

TEST_F(Settings, OfApplicationClocksThatADriverNoLongerHasNameTheOther) {
  write("gpus/1.ac", kDeprecated);

  const auto told = found("settings", run("settings", {{"app_clocks", "2619,1980"}}));

  ASSERT_TRUE(told);
  EXPECT_EQ(value_of(*told, "settings.failed", "gpu0"), 0);
  EXPECT_EQ(value_of(*told, "settings.failed", "gpu1"), 1);
  EXPECT_THAT(told->facts.at("settings.gpu1"), HasSubstr("use gpu_clocks"));
  EXPECT_EQ(read("gpus/1.ac"), kDeprecated);
}

TEST_F(Settings, ThatTheToolTookWithAWarningAndDidNotMakeHaveFailed) {
  write("no-clocks", "");

  const auto told = found("settings", run("settings", {{"app_clocks", "2619,1980"}}));

  ASSERT_TRUE(told);
  EXPECT_THAT(told->facts.at("settings.gpu0"),
              HasSubstr("expected 2619,1980, is 1593,1275; Setting applications clocks is not"));
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

class InterruptSettings : public Settings {
 protected:
  InterruptSettings() {
    const std::string device = "sys/class/infiniband/mlx5_0/device/";
    put(device + "numa_node", "1\n");
    put("sys/devices/system/node/node1/cpulist", "4-7,12-15\n");
    put("sys/devices/system/node/node0/cpulist", "0-3,8-11\n");
    for (const auto* irq : {"33", "34", "35", "36"}) put(device + "msi_irqs/" + irq, "msix\n");
    put("proc/irq/33/smp_affinity_list", "0-15\n");
  }
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path{at(name)}.parent_path());
    write(name, text);
  }
  void link(const std::string& name, const std::string& to) const {
    std::filesystem::create_directories(std::filesystem::path{at(name)}.parent_path());
    std::filesystem::create_symlink(to, at(name));
  }
  std::string irq33() const { return read("proc/irq/33/smp_affinity_list"); }
};

TEST_F(InterruptSettings, GoToTheNodeOfTheirHcaAndBackAndIrqbalanceWithThem) {
  write("irqbalance", "active\n");

  const auto told = found("settings", run("settings", {{"irq_affinity", "local"}}));
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(value_of(*told, "settings.failed", "irq 33"), 0);
  EXPECT_EQ(value_of(*told, "settings.failed", "irqbalance"), 0);
  EXPECT_EQ(irq33(), "4-7,12-15\n");
  EXPECT_EQ(read("irqbalance"), "inactive\n");

  const auto back = found("settings-restore", run("settings-restore"));

  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(value_of(*back, "settings.lost"), 0);
  EXPECT_EQ(irq33(), "0-15\n");
  EXPECT_EQ(read("irqbalance"), "active\n");
}

TEST_F(InterruptSettings, ThatTheKernelKeepsFailWhereTheyAreFarAndNotWhereTheyAreNear) {
  const Refusing far{"0-3\n"}, near{"5,12-13\n"};
  link("proc/irq/34/smp_affinity_list", far.path());
  link("proc/irq/35/smp_affinity_list", near.path());

  const auto told = found("settings", run("settings", {{"irq_affinity", "local"}}));
  const auto back = found("settings-restore", run("settings-restore"));

  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(value_of(*told, "settings.failed", "irq 34"), 1);
  EXPECT_THAT(told->facts.at("settings.irq 34"),
              HasSubstr("irq: expected 4-7,12-15, is 0-3; the kernel keeps it where it is"));
  EXPECT_EQ(value_of(*told, "settings.failed", "irq 35"), 0);
  EXPECT_EQ(value_of(*told, "settings.failed", "irq 36"), std::nullopt);
  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 0) << "they are as they were";
  EXPECT_EQ(irq33(), "0-15\n");
}

/// With a systemd that keeps its units in a folder.
class TimedSettings : public Settings {
 protected:
  TimedSettings() {
    std::filesystem::create_directories(at("units"));
    EXPECT_EQ(::mkfifo(at("rang").c_str(), 0600), 0);
    bell_ = ::open(at("rang").c_str(), O_RDWR | O_CLOEXEC);
  }
  ~TimedSettings() override {
    run_here("systemctl stop cupel-settings.timer");
    ::close(bell_);
  }
  void set_for(long seconds) const {
    const auto set = run_here(settings_script::set({{"power_limit", "600"}}, seconds));
    ASSERT_EQ(set.exit_status, 0) << set.text << set.errors;
    ASSERT_THAT(set.text, HasSubstr("cupel-guard: " + std::to_string(seconds) + "\n"));
    ASSERT_EQ(limit("0"), "600.00\n");
  }
  bool is_put_back() const {
    constexpr int kPatienceMilliseconds = 30'000;
    pollfd bell{bell_, POLLIN, 0};
    return ::poll(&bell, 1, kPatienceMilliseconds) == 1 &&
           !std::filesystem::exists(at("state/before"));
  }

 private:
  int bell_ = -1;
};

TEST_F(TimedSettings, ThatNobodyPutsBackTheNodePutsBackByItself) {
  set_for(1);

  ASSERT_TRUE(is_put_back()) << read("fired");

  EXPECT_EQ(limit("0"), "700.00\n");
  EXPECT_EQ(limit("1"), "700.00\n");
  const auto late = found("settings-restore", run("settings-restore"));
  ASSERT_TRUE(late);
  EXPECT_EQ(value_of(*late, "settings.left"), 0);
  EXPECT_EQ(value_of(*late, "settings.lost"), 1) << "they were gone under the run";
  EXPECT_EQ(late->facts.at("settings.lost"), "all of it was put back before, by the timer");
}

TEST_F(TimedSettings, OutliveARestartOfTheNodeUntilTheyAreDue) {
  set_for(3600);
  run_here("systemctl stop cupel-settings.timer");
  run_here("systemctl boot");
  EXPECT_EQ(limit("0"), "600.00\n") << "it was not due";

  write("state/until", "1 2\n");
  run_here("systemctl boot");

  EXPECT_EQ(limit("0"), "700.00\n");
  EXPECT_FALSE(std::filesystem::exists(at("state/before")));
  EXPECT_FALSE(std::filesystem::exists(at("units/cupel-settings.timer")));
  EXPECT_FALSE(std::filesystem::exists(at("enabled")));
}

TEST_F(TimedSettings, LeaveNoTimerOnceTheRunHasPutThemBack) {
  set_for(3600);

  const auto back = found("settings-restore", run("settings-restore"));

  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_FALSE(std::filesystem::exists(at("timer")));
  EXPECT_FALSE(std::filesystem::exists(at("units/cupel-settings.service")));
  EXPECT_FALSE(std::filesystem::exists(at("state/restore.sh")));
}

TEST_F(TimedSettings, ArePutBackByHandWithTheScriptThatTheNodeKeeps) {
  set_for(3600);

  const auto by_hand = run_script("env -i sh " + at("state/restore.sh"));

  EXPECT_THAT(by_hand.text, HasSubstr("cupel-record: gone"));
  EXPECT_EQ(limit("0"), "700.00\n");
}

TEST_F(Settings, OfEccAreNotBackBeforeTheNodeWasRestarted) {
  ASSERT_EQ(run("settings", {{"ecc", "off"}}).exit_status, 0);
  write("current", "Disabled\n");  // it was restarted, and has burnt without

  const auto early = found("settings-restore", run("settings-restore"));
  write("current", "Enabled\n");  // and once more
  const auto late = found("settings-restore", run("settings-restore"));

  ASSERT_TRUE(early);
  EXPECT_EQ(value_of(*early, "settings.left"), 2);
  EXPECT_THAT(early->facts.at("settings.gpu0"), HasSubstr("needs a restart"));
  ASSERT_TRUE(late);
  EXPECT_EQ(value_of(*late, "settings.left"), 0);
}

TEST_F(Settings, ThatSomebodyElseChangedMeanwhileAreSaidToBeLost) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}}).exit_status, 0);
  write("gpus/1.pl", "500.00\n");

  const auto back = found("settings-restore", run("settings-restore"));

  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(*back, "settings.left"), 0);
  EXPECT_EQ(value_of(*back, "settings.lost"), 1);
  EXPECT_EQ(back->facts.at("settings.lost.gpu1"), "gpu.power: was set to 600.00, and is 500.00");
}

TEST_F(Settings, ThatAreLeftAreToldToWhomeverGivesTheNodeAway) {
  EXPECT_EQ(run_here(undo_of("settings")->left_script()).text, "");
  ASSERT_EQ(run("settings", {{"power_limit", "600"}, {"persistence", "on"}}).exit_status, 0);

  EXPECT_EQ(run_here(undo_of("settings")->left_script()).text, "gpu.persistence\ngpu.power\n");
}

TEST(PinnedTool, IsAskedForByPlaybooksOfThreeTools) {
  for (const auto* tool : {"nvbandwidth", "nccl-tests", "gpu-burn"}) {
    const auto free = prepared(tool);
    const auto pinned = prepared(tool, {{"numa", "1"}});

    ASSERT_TRUE(free && pinned) << tool;
    EXPECT_THAT(free->script, Not(HasSubstr("numa")));
    EXPECT_THAT(pinned->script, HasSubstr(R"("numa":1)"));
    for (const auto* wrong : {"near", "-1", "1,2", "4096", "1; reboot"})
      EXPECT_FALSE(prepared(tool, {{"numa", wrong}})) << wrong;
  }
}

TEST_F(Settings, ProveNothingWhereTheRestoreSaidNothing) {
  EXPECT_FALSE(found("settings-restore", {"", "sh: Killed", 137}));
}

}  // namespace
}  // namespace cupel::burnin
