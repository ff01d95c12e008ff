// `cupel settings restore` of the built cupel: back to what was before `settings apply`, once.
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

TEST(SettingsRestore, SetsBackWhatApplyHasSetAndThenHasNothingMore) {
  RackSite site{{.nodes = 1, .network = 96}};
  std::filesystem::create_directory(site.file("profiles"));
  std::filesystem::permissions(site.file("profiles"), std::filesystem::perms::owner_all);
  site.write("profiles/mine.yaml",
             "profile: mine\nextends: dgx-h100\nbios:\n"
             "  - {attribute: BootMode, value: Bios, source: this test}\n");
  site.change_inventory("profile: dgx-h100", "profile: mine");

  const auto none = site.run({"settings", "restore", "v01-n01"});
  const auto applied = site.run({"settings", "apply", "v01-n01"});
  const auto staged = site.run({"settings", "plan", "v01-n01"});
  const auto restored = site.run({"settings", "restore", "v01-n01"});
  const auto planned = site.run({"settings", "plan", "v01-n01"});
  const auto again = site.run({"settings", "restore", "v01-n01"});

  EXPECT_THAT(none.out, HasSubstr("nothing to set back"));
  EXPECT_EQ(applied.status, 0) << applied.out << applied.err;
  EXPECT_THAT(staged.out, Not(HasSubstr("to be set"))) << staged.err;
  EXPECT_EQ(restored.status, 0) << restored.out << restored.err;
  EXPECT_THAT(restored.out, HasSubstr("1 settings set back: bios BootMode"));
  EXPECT_THAT(planned.out, HasSubstr("to be set, at the next boot")) << planned.err;
  EXPECT_THAT(again.out, HasSubstr("nothing to set back"));
}

TEST(SettingsRestore, ForgetsWhatWasBeforeWithoutAskingTheMachine) {
  RackSite site{{.nodes = 1, .network = 96}};
  site.rack().stop();

  const auto forgotten = site.run({"settings", "restore", "v01-n01", "--forget"});

  EXPECT_EQ(forgotten.status, 0) << forgotten.out << forgotten.err;
  EXPECT_THAT(forgotten.out, HasSubstr("the machine was not asked"));
}

}  // namespace
}  // namespace cupel::testing
