// The stages settings and settings-restore where what they read is not whole: a list of GPUs that
// ends with an error, a record that is too long.
#include "tests/agent/settings_fixture.h"

namespace cupel::agent {
namespace {

namespace fs = std::filesystem;
using burnin::value_of;
using ::testing::HasSubstr;

TEST_F(SettingsStage, OfAllGpusButTheSickOneArePutBack) {
  ASSERT_TRUE(set({{"power_limit", "600"}}));
  write("tools/sick", "");

  const auto back = put_back();

  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(value_of(*back, "settings.left"), 1);
  EXPECT_EQ(limit("0"), "700.00\n");
  EXPECT_EQ(limit("1"), "600.00\n");
  EXPECT_THAT(back->facts.at("settings.GPU-0001"), HasSubstr("No handle for GPU 1: Unknown Error"))
      << "and not the line of a GPU that is well";
  EXPECT_THAT(read(state("before")), HasSubstr("GPU-0001|700.00"));

  fs::remove(at("tools/sick"));
  EXPECT_EQ(value_of(*put_back(), "settings.left"), 0);
  EXPECT_EQ(limit("1"), "700.00\n");
}

TEST_F(SettingsStage, OfARecordThatIsLongerThanCanBeReadAreLeftToAPerson) {
  write(state("before"), "cupel-settings|1|first\n");
  fs::resize_file(at(state("before")), (16u << 20) + 1);

  const auto set = this->set({{"power_limit", "600"}});
  const auto back = put_back();

  ASSERT_FALSE(set || back);
  EXPECT_THAT(set.error().what, HasSubstr("before is longer than 16777216 bytes"));
  EXPECT_THAT(back.error().what, HasSubstr("before is longer than 16777216 bytes"));
  EXPECT_EQ(limit("0"), "700.00\n");
  EXPECT_TRUE(there(state("before")));
}

}  // namespace
}  // namespace cupel::agent
