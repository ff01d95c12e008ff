// The programs for nodes as they are built for Arm processors, run by qemu's user emulation.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/text.h"
#include "tests/burnin/stages.h"
#include "tests/support/captures.h"
#include "tests/support/real_part.h"

namespace cupel::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kProgram = SOURCE_DIR "/build/node-aarch64/cupel-node";
constexpr const char* kQemu = "/usr/bin/qemu-aarch64-static";
constexpr const char* kLibraries = "/usr/aarch64-linux-gnu";

class Aarch64Node : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(fs::exists(kProgram),
                          "no cupel-node for aarch64: cmake --preset node-aarch64 && "
                          "cmake --build build/node-aarch64");
    CUPEL_NEEDS_REAL_PART(fs::exists(kQemu) && fs::exists(kLibraries),
                          "qemu-user-static or libc6-dev-arm64-cross is not installed");
  }

  burnin::Output run(const std::string& words, const std::string& program = kProgram) const {
    const auto command = std::string{kQemu} + " -L " + kLibraries + " " + program + " " + words;
    return burnin::run_script("timeout 60 " + command + "\n");
  }
};

TEST_F(Aarch64Node, SpeaksTheProtocolOfTheController) {
  const auto version = run("--version");

  EXPECT_EQ(version.exit_status, 0);
  EXPECT_THAT(version.text, HasSubstr("\"protocol\":1}"));
}

TEST_F(Aarch64Node, ReportsFactsThatTheStageReads) {
  const auto arm = burnin::parsed("facts", run("facts"));
  const auto own = burnin::parsed("facts", burnin::run_script(NODE_BINARY " facts\n"));

  ASSERT_TRUE(arm) << arm.error().what;
  ASSERT_TRUE(own) << own.error().what;
  EXPECT_EQ(burnin::value_of(*arm, "memory.total"), burnin::value_of(*own, "memory.total"));
  EXPECT_EQ(burnin::names_of(*arm, inventory::PartKind::nic),
            burnin::names_of(*own, inventory::PartKind::nic));
}

TEST_F(Aarch64Node, KeepsWhatAJobSaysAndHowItEnds) {
  const test::TemporaryFolder base;
  const auto folder = (base.path() / "jobs" / "one").string();

  const auto started =
      run("start job --folder " + folder + " --limit 30 -- sh -c 'echo proven; exit 3'");
  const auto reported = run("tail --wait 20 --folder " + folder);
  const auto ended = run("tail --wait 20 --from 7 --folder " + folder);

  EXPECT_EQ(started.exit_status, 0) << started.text << started.errors;
  EXPECT_THAT(reported.text, HasSubstr("proven\n"));
  EXPECT_THAT(ended.text, HasSubstr("\"exit\":3"));
}

#ifdef WITH_CUPEL_BURN
TEST_F(Aarch64Node, WithoutADriverCupelBurnSaysWhatItNeeds) {
  const auto program = std::string{SOURCE_DIR} + "/build/node-aarch64/burnin/agent/burn/cupel-burn";

  const auto devices = run("devices", program);
  const auto driver = run("libraries", program);

  EXPECT_EQ(devices.exit_status, 2) << devices.text << devices.errors;
  EXPECT_THAT(devices.text, HasSubstr("\"code\":\"no-cuda-device\""));
  EXPECT_THAT(devices.text, HasSubstr("\"complete\":false"));
  EXPECT_THAT(driver.text, HasSubstr("{\"kind\":\"driver\",\"fits\":false"));
}
#endif

}  // namespace
}  // namespace cupel::agent
