// Settings on a real shell, with an nvidia-smi that keeps its GPUs' settings in files: set, read
// back, put back; also by whoever comes after one that died half-way.
#include <gmock/gmock.h>

#include "tests/burnin/stages.h"

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
  --query-gpu=ecc.mode.current) echo Enabled ;;
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

class Settings : public ::testing::Test {
 protected:
  Settings() {
    std::filesystem::create_directories(at("gpus"));
    // No timer of the machine that runs the test is touched.
    for (const auto& [name, does] : std::initializer_list<std::pair<const char*, const char*>>{
             {"nvidia-smi", kSmi},
             {"systemd-run", "#!/bin/sh\nexit 1\n"},
             {"systemctl", "#!/bin/sh\nexit 1\n"}}) {
      write(name, does);
      std::filesystem::permissions(at(name), std::filesystem::perms::owner_all);
    }
    for (const auto* gpu : {"0", "1"}) {
      write(std::string{"gpus/"} + gpu + ".pm", "Disabled\n");
      write(std::string{"gpus/"} + gpu + ".pl", "700.00\n");
      write(std::string{"gpus/"} + gpu + ".ecc", "Enabled\n");
    }
  }

  std::string at(const std::string& name) const { return (folder.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{at(name)} << text;
  }
  std::string read(const std::string& name) const {
    const auto text = read_file(at(name), 1u << 20);
    return text ? text.assume_value() : "";
  }
  std::string limit(const char* gpu) const { return read(std::string{"gpus/"} + gpu + ".pl"); }

  Output run(std::string_view name, const Parameters& with = {}) const {
    const auto job = prepared(name, with);
    if (!job) return {job.assume_error().what, "", -1};
    return run_script(job.assume_value().script,
                      "PATH=" + folder.path().string() + ":$PATH\nCUPEL_SETTINGS=" + at("state") +
                          "\nexport PATH CUPEL_SETTINGS\necho $$ > " + at("leader") + "\n");
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
  ASSERT_TRUE(told) << told.assume_error().what;
  EXPECT_EQ(value_of(told.assume_value(), "settings.set"), 6);
  EXPECT_EQ(value_of(told.assume_value(), "settings.failed", "gpu1"), 0);

  const auto back = found("settings-restore", run("settings-restore"));

  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(back.assume_value(), "settings.left"), 0);
  EXPECT_EQ(value_of(back.assume_value(), "settings.restored"), 6);
  EXPECT_EQ(limit("1"), "700.00\n");
  EXPECT_EQ(read("gpus/0.pm"), "Disabled\n");
  EXPECT_FALSE(std::filesystem::exists(at("gpus/0.clocks")));
  EXPECT_FALSE(std::filesystem::exists(at("state/before")));
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

  EXPECT_EQ(value_of(back.assume_value(), "settings.left"), 0);
  EXPECT_EQ(limit("0"), "700.00\n");
}

TEST_F(Settings, ThatArePutBackASecondTimeAreLeftAlone) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}}).exit_status, 0);
  run("settings-restore");
  write("gpus/0.pl", "650.00\n");

  const auto again = run("settings-restore");

  EXPECT_THAT(again.text, HasSubstr("cupel-record: none"));
  EXPECT_EQ(limit("0"), "650.00\n");
}

TEST_F(Settings, ThatCannotBePutBackStayInTheRecord) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}}).exit_status, 0);
  write("stuck", "");

  const auto output = run("settings-restore");

  const auto back = found("settings-restore", output);
  ASSERT_TRUE(back);
  EXPECT_EQ(value_of(back.assume_value(), "settings.left"), 2);
  EXPECT_THAT(output.text, HasSubstr("Insufficient Permissions"));
  EXPECT_THAT(read("state/before"), HasSubstr("gpu.power|GPU-0001|700.00"));
}

TEST_F(Settings, ThatDidNotTakeNameTheirPart) {
  write("stuck", "");

  const auto told = found("settings", run("settings", {{"power_limit", "600"}}));

  ASSERT_TRUE(told);
  EXPECT_EQ(value_of(told.assume_value(), "settings.failed", "gpu1"), 1);
  EXPECT_THAT(told.assume_value().facts.at("settings.gpu1"),
              HasSubstr("wanted 600.00, is 700.00; Insufficient Permissions"));
}

TEST_F(Settings, AfterARestartOnlyPutBackWhatOutlivesOne) {
  ASSERT_EQ(run("settings", {{"power_limit", "600"}, {"ecc", "off"}}).exit_status, 0);
  const auto record = read("state/before");
  const auto boot = record.substr(0, record.find('\n'));
  write("state/before", "cupel-settings|1|another-boot" + record.substr(record.find('\n')));
  write("gpus/0.pl", "650.00\n");  // of whoever came after the restart

  const auto back = found("settings-restore", run("settings-restore"));

  EXPECT_EQ(value_of(back.assume_value(), "settings.left"), 0) << boot;
  EXPECT_EQ(value_of(back.assume_value(), "settings.restored"), 2);
  EXPECT_EQ(limit("0"), "650.00\n");
  EXPECT_EQ(read("gpus/0.ecc"), "Enabled\n");
}

TEST_F(Settings, SayThatEccNeedsARestart) {
  const auto told = found("settings", run("settings", {{"ecc", "off"}}));

  ASSERT_TRUE(told);
  EXPECT_EQ(value_of(told.assume_value(), "settings.restart"), 2);
  EXPECT_EQ(value_of(told.assume_value(), "settings.failed", "gpu0"), 0);
}

TEST_F(Settings, AreRefusedWhereAGpuIsInUseAndNothingIsTouched) {
  write("busy", "GPU-0001, 4711\n");

  const auto output = run("settings", {{"power_limit", "600"}});

  const auto told = found("settings", output);
  ASSERT_FALSE(told);
  EXPECT_THAT(told.assume_error().what, HasSubstr("a GPU is in use: GPU-0001, 4711"));
  EXPECT_FALSE(std::filesystem::exists(at("state/before")));
}

TEST_F(Settings, OutOfTheGpusOwnRangeAreRefusedWithIt) {
  for (const auto& [with, why] : std::initializer_list<std::pair<Parameters, const char*>>{
           {{{"power_limit", "900"}}, "gpu0: power_limit 900 W is not between 200.00 and 700.00 W"},
           {{{"gpu_clocks", "210,2500"}}, "gpu_clocks 210,2500 MHz is above its most, 1980 MHz"}}) {
    const auto told = found("settings", run("settings", with));

    ASSERT_FALSE(told);
    EXPECT_THAT(told.assume_error().what, HasSubstr(why));
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
                                                                  {"governor", "turbo"},
                                                                  {"irq_affinity", "far"}}) {
    const auto refused = prepared("settings", {{name, value}});

    ASSERT_FALSE(refused) << name << " " << value;
    EXPECT_EQ(refused.assume_error().code, Code::kInvalid);
    EXPECT_THAT(refused.assume_error().what, HasSubstr(name));
  }
  EXPECT_FALSE(prepared("settings")) << "nothing is to be set";
}

TEST_F(Settings, ProveNothingWhereTheRestoreSaidNothing) {
  EXPECT_FALSE(found("settings-restore", {"", "sh: Killed", 137}));
}

}  // namespace
}  // namespace cupel::burnin
