// `cupel rehearse`: the controller as it is, against the virtual rack as it is shipped.
#include <signal.h>

#include <fstream>

#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

class RehearseTest : public ::testing::Test {
 protected:
  RehearseTest() {
    std::string made = (std::filesystem::temp_directory_path() / "cupel-rack-XXXXXX").string();
    folder = ::mkdtemp(made.data());
  }
  ~RehearseTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  Ran rehearse(const std::string& playbook, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{CUPEL_BINARY, "rehearse", playbook, "--folder", folder.string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  std::filesystem::path folder;
};

std::map<std::string, std::string> verdicts(const Ran& ran) {
  std::map<std::string, std::string> found;
  const auto lines = json_lines(ran.out);
  if (lines.empty()) return found;
  const auto* summary = lines.back().if_contains("summary");
  if (summary == nullptr) return found;
  const auto* nodes = find(*summary, "nodes");
  if (nodes == nullptr || !nodes->is_array()) return found;
  for (const auto& node : nodes->get_array()) {
    std::string first;
    if (const auto* causes = find(node, "causes"); causes != nullptr && causes->is_array())
      if (!causes->get_array().empty())
        first = text_at(causes->get_array().front(), "part").value_or("");
    const auto verdict = text_at(node, "verdict").value_or("");
    found[text_at(node, "node").value_or("")] = verdict + (first.empty() ? "" : " " + first);
  }
  return found;
}

TEST_F(RehearseTest, PassesSixNodesAndNamesThePartOfTheTwoThatFail) {
  // Slower than the default: a sanitizer's rack must still compute within its stages' limits.
  const auto ran = rehearse("new-rack", {"--json", "--speed", "20"});

  EXPECT_EQ(ran.status, 1) << ran.err;
  const std::map<std::string, std::string> expected{
      {"v01-n01", "pass"}, {"v01-n02", "pass"}, {"v01-n03", "fail gpu5"},
      {"v01-n04", "pass"}, {"v01-n05", "pass"}, {"v01-n06", "fail dimm A7"},
      {"v01-n07", "pass"}, {"v01-n08", "pass"}};
  EXPECT_EQ(verdicts(ran), expected);
}

TEST_F(RehearseTest, SaysEveryErrorOfARackAndStartsNothing) {
  const auto file = folder / "rack.yaml";
  std::ofstream{file} << "rack: v01\nprofile: dgx-h10\nnodes: v01-n[01-02]\n"
                         "bmc: 127.64.1.[1-3]\nssh: 127.64.2.[1-2]\n"
                         "faults: [{node: v01-n09, fault: gpu-mising}]\n";

  const auto ran = rehearse("new-rack", {"--rack", file.string()});

  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("gpu-missing"), HasSubstr("rack.yaml:4:")));
}

TEST_F(RehearseTest, LeavesNoProcessBehind) {
  Child child{{CUPEL_BINARY, "rehearse", "new-rack", "--folder", folder.string()}};
  ASSERT_TRUE(child.wait_for("bmc-facts"));
  child.signal(SIGTERM);

  EXPECT_EQ(child.wait().status, 3);
  EXPECT_THAT(processes_with(folder.string()), ::testing::IsEmpty());
}

}  // namespace
}  // namespace cupel::testing
