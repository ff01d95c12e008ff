// Settings on the controller's side: what is refused when the plan is made, what cupel-node is
// asked for, and what the shell script of earlier versions reported. The node's side is
// tests/agent/settings_test.cpp.
#include "burnin/settings/settings.h"

#include <gmock/gmock.h>

#include "burnin/undo.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Settings, OutOfAnyRangeAreRefusedWhenThePlanIsMade) {
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

TEST(Settings, AreAskedForInTheWordsOfTheNode) {
  const auto job = prepared("settings", {{"power_limit", "600W"},
                                         {"gpu_clocks", "1410"},
                                         {"numa_balancing", "off"},
                                         {"at_most", "2h"}});

  ASSERT_TRUE(job);
  for (const auto* asked :
       {R"({"name":"power_limit","value":"600"})", R"({"name":"gpu_clocks","value":"1410,1410"})",
        R"({"name":"numa_balancing","value":"0"})", R"("at_most":7200)"})
    EXPECT_THAT(job->script, HasSubstr(asked));
}

/// A run whose controller was upgraded reads what the earlier version's jobs print.
TEST(Settings, OfAnEarlierVersionsScriptAreReadAsBefore) {
  const auto found = parsed("settings",
                            "cupel-guard: 3600, unless it is restarted\n"
                            "cupel-setting|gpu.power|gpu0|700.00|600.00|600.00|\n"
                            "cupel-setting|gpu.power|gpu1|700.00|600.00|700.00|No permission\n"
                            "cupel-setting|gpu.ecc|gpu0|Enabled|Disabled|Disabled|needs a restart\n"
                            "cupel-setting|irq|irq 35|0-15|4-7|5|is inside; the kernel keeps it\n");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "settings.set"), 4);
  EXPECT_EQ(value_of(*found, "settings.restart"), 1);
  EXPECT_EQ(value_of(*found, "settings.failed", "gpu0"), 0);
  EXPECT_EQ(value_of(*found, "settings.failed", "gpu1"), 1);
  EXPECT_EQ(value_of(*found, "settings.failed", "irq 35"), 0);
  EXPECT_EQ(found->facts.at("settings.gpu1"),
            "gpu.power: expected 600.00, is 700.00; No permission");
  ASSERT_EQ(found->unknown.size(), 1u);
  EXPECT_EQ(found->unknown[0].why, "no timer could be laid on its disk");
}

TEST(Settings, OfAnEarlierVersionsScriptThatGaveUpOrEndedHalfWayProveNothing) {
  constexpr const char* kOne = "cupel-setting|gpu.power|gpu0|700.00|600.00|600.00|\n";

  EXPECT_FALSE(parsed("settings", "cupel-gave-up: a GPU is in use\n", 69));
  EXPECT_FALSE(parsed("settings", kOne, 137));
  EXPECT_FALSE(parsed("settings", "cupel-setting|gpu.power|gpu0|700.00\n"));
  EXPECT_TRUE(parsed("settings", kOne));
}

TEST(SettingsRestore, OfAnEarlierVersionsScriptIsReadAsBefore) {
  const auto found =
      parsed("settings-restore",
             "cupel-held|gpu.power|gpu0|600.00|500.00\ncupel-held|governor|governor|a|a\n"
             "cupel-restored|gpu.power|gpu0|700.00|700.00|\n"
             "cupel-restored|gpu.ecc|gpu0|Enabled|Enabled|needs a restart\n"
             "cupel-record: kept\n");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "settings.left"), 1);
  EXPECT_EQ(value_of(*found, "settings.restored"), 1);
  EXPECT_EQ(value_of(*found, "settings.lost"), 1);
  EXPECT_EQ(found->facts.at("settings.lost.gpu0"), "gpu.power: was set to 600.00, and is 500.00");
  EXPECT_EQ(found->facts.at("settings.record"), "kept");
}

TEST(SettingsRestore, ProvesNothingWhereTheNodeDidNotReportTheRecord) {
  EXPECT_FALSE(parsed("settings-restore", {"", "sh: Killed", 137}));
  EXPECT_FALSE(parsed("settings-restore",
                      R"({"kind":"stage","stage":"settings-restore","protocol":1})"
                      "\n{\"kind\":\"done\",\"status\":0}\n"));
}

/// What the hand-off asks a node, by the shell that its login has.
TEST(Settings, ThatAreLeftAreListedForWhomeverGivesTheNodeAway) {
  const test::TemporaryFolder folder;
  const auto listed = [&] {
    return run_script(undo_of("settings")->left_script(),
                      "CUPEL_SETTINGS=" + folder.path().string() + "\n");
  };
  EXPECT_EQ(listed().text, "");
  std::ofstream{folder.path() / "before"}
      << "cupel-settings|1|boot\ngpu.power|GPU-1|700.00\ngpu.power|GPU-2|700.00\n"
         "gpu.persistence|GPU-1|Disabled\n";

  EXPECT_EQ(listed().text, "gpu.persistence\ngpu.power\n");

  std::filesystem::remove(folder.path() / "before");
  std::filesystem::create_directory(folder.path() / "before");
  EXPECT_NE(listed().exit_status, 0) << "a record that cannot be read is no empty one";
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

}  // namespace
}  // namespace cupel::burnin
