// docs/know/profiles.md is true: its example is a profile, and it names every measure of every
// stage.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <sstream>

#include "base/text.h"
#include "burnin/stage.h"
#include "inventory/load_profile.h"
#include "tests/playbooks/read.h"

namespace cupel::playbooks {
namespace {
using ::testing::HasSubstr;

std::string profile_document() {
  std::ostringstream all;
  all << std::ifstream{SOURCE_DIR "/docs/know/profiles.md"}.rdbuf();
  return all.str();
}

TEST(ProfileDocument, ShowsAProfileThatIsSound) {
  const auto text = profile_document();
  const auto begin = text.find("```yaml\n") + 8;
  std::vector<inventory::Problem> problems;

  const auto profile =
      inventory::parse_profile(text.substr(begin, text.find("```", begin) - begin), "profiles.md",
                               inventory::ProfileSource{"/nowhere"}, problems);

  EXPECT_TRUE(profile && problems.empty()) << to_string(problems);
}

TEST(ProfileDocument, NamesEveryMeasureOfEveryStage) {
  const auto text = profile_document();
  for (const auto& stage : burnin::stages())
    EXPECT_THAT(text, HasSubstr(fmt::format("| `{}` | `{}` |\n", stage.name,
                                            fmt::join(stage.measures, "`, `"))));
}

}  // namespace
}  // namespace cupel::playbooks
