// The completion scripts in a real bash, fish and zsh.
#include "base/text.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

class CompletionTest : public ::testing::Test {
 protected:
  /// What bash offers behind these words; the last of them is being typed.
  std::vector<std::string> offered(const std::vector<std::string>& words) const {
    std::string array = "cupel";
    for (const auto& word : words) array += " '" + word + "'";
    const auto ran =
        run({"bash", "-c",
             "cd '" + site.file("") + "' && export CUPEL_STATE='" + site.file("state") +
                 "' && cupel() { '" CUPEL_BINARY
                 "' \"$@\"; } && source <(cupel completion bash) && COMP_WORDS=(" +
                 array + ") && COMP_CWORD=" + std::to_string(words.size()) +
                 " && _cupel && printf '%s\\n' \"${COMPREPLY[@]}\""});
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::vector<std::string> all;
    for (const auto line : cupel::lines(ran.out)) all.emplace_back(line);
    return all;
  }

  /// What fish offers behind these words; the last of them is being typed.
  std::vector<std::string> offered_by_fish(const std::string& words) const {
    const auto ran = run({"fish", "--no-config", "-c",
                          "cd '" + site.file("") +
                              "'; function cupel; '" CUPEL_BINARY
                              "' $argv; end; cupel completion fish | source; complete -C 'cupel " +
                              words + "'"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::vector<std::string> all;
    for (const auto line : cupel::lines(ran.out))
      all.emplace_back(line.substr(0, line.find('\t')));  // without fish's own words on it
    return all;
  }

  RackSite site{{.network = 88, .ports = "bmc: 0, ssh: 0"}};
};

TEST_F(CompletionTest, OffersTheInventorysNodesWhereANodeIsMeant) {
  EXPECT_THAT(offered({"exec", "v01"}), UnorderedElementsAre("v01-n01", "v01-n02"));
  EXPECT_THAT(offered({"show", "v01"}), UnorderedElementsAre("v01-n01", "v01-n02"));
  EXPECT_THAT(offered({"run", "new-rack", "-n", "v01"}),
              UnorderedElementsAre("v01-n01", "v01-n02"));
  EXPECT_THAT(offered({"bmc", "v01-n02"}), UnorderedElementsAre("v01-n02"));
  EXPECT_THAT(offered({"bmc", "sensors", "v01-n02"}), UnorderedElementsAre("v01-n02"));
}

TEST_F(CompletionTest, OffersPlaybooksRacksAndWhatAnActionTakes) {
  EXPECT_THAT(offered({"run", ""}), IsSupersetOf({"new-rack", "audit"}));
  EXPECT_THAT(offered({"rehearse", "--rack", "h100"}), Contains("h100-8"));
  EXPECT_THAT(offered({"bmc", "v01-n01", "power", "o"}), UnorderedElementsAre("on", "off"));
  EXPECT_THAT(offered({"bmc", "v01-n01", "po"}), Contains("power"));
}

TEST_F(CompletionTest, OffersTheSameInFish) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/bin/fish"),
                        "fish is missing: apt-get install fish");

  EXPECT_THAT(offered_by_fish("exec v01"), UnorderedElementsAre("v01-n01", "v01-n02"));
  EXPECT_THAT(offered_by_fish("run new-rack -n v01"), UnorderedElementsAre("v01-n01", "v01-n02"));
  EXPECT_THAT(offered_by_fish("rehearse --rack h100"), Contains("h100-8"));
  EXPECT_THAT(offered_by_fish("bmc v01-n01 po"), Contains("power"));
  EXPECT_THAT(offered_by_fish("bmc sensors v01"), UnorderedElementsAre("v01-n01", "v01-n02"));
}

TEST_F(CompletionTest, IsAScriptThatZshLoads) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/bin/zsh"),
                        "zsh is missing: apt-get install zsh");

  const auto ran = run({"zsh", "-f", "-c",
                        "autoload -U compinit; compinit -D -u; source <('" CUPEL_BINARY
                        "' completion zsh) && print -r -- $_comps[cupel] ${+functions[_cupel]}"});

  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("_bash_complete"), HasSubstr("_cupel"))) << ran.err;
}

TEST_F(CompletionTest, OffersTheRunsThatThereAre) {
  site.write("facts.yaml", "playbook: facts\nsteps:\n  - step: bmc-facts\n");
  ASSERT_EQ(site.run({"run", "facts.yaml", "--no-console"}).status, 0);

  EXPECT_THAT(offered({"report", "1"}), UnorderedElementsAre("1"));
  EXPECT_THAT(offered({"retry", "1", "v01"}), UnorderedElementsAre("v01-n01", "v01-n02"));
}

}  // namespace
}  // namespace cupel::testing
