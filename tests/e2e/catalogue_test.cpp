// The catalogue of faults: the controller as it is, against every fault that there is.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

class CatalogueTest : public ::testing::Test {
 protected:
  CatalogueTest() {
    std::string made = (std::filesystem::temp_directory_path() / "cupel-faults-XXXXXX").string();
    folder = ::mkdtemp(made.data());
  }
  ~CatalogueTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  Ran rehearse(std::vector<std::string> more) const {
    std::vector<std::string> words{CUPEL_BINARY, "rehearse", "--json", "--folder", folder.string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {}, std::chrono::seconds{2000});
  }

  std::filesystem::path folder;
};

double number_at(const json::value& object, std::string_view path) {
  const auto* value = find(object, path);
  return value != nullptr && value->is_number() ? value->to_number<double>() : -1;
}

/// Some of each kind: machines that do not boot, BMCs that refuse, parts that are missing, slow or
/// wrong, and what a good controller lives with.
const std::vector<std::string>& sample() {
  static const std::vector<std::string> names{
      "bmc-wrong-password", "ipmi-lossy", "boot-loops",    "node-swapped", "gpu-missing",
      "gpu-wrong-results",  "dimm-storm", "nvlink-errors", "disk-slow",    "hca-down",
  };
  return names;
}

/// `waiting`: faults that no stage looks for yet.
void expect_all_found(const Ran& ran, std::size_t at_least,
                      const std::set<std::string>& waiting = {}) {
  const auto lines = json_lines(ran.out);
  ASSERT_GT(lines.size(), at_least) << ran.err;
  for (const auto& line : lines) {
    const auto outcome = text_at(line, "outcome").value_or("");
    const bool waits = outcome == "not looked for yet" &&
                       waiting.contains(std::string{text_at(line, "fault").value_or("")});
    if (waits || outcome == "found" || outcome == "borne") continue;
    if (!outcome.empty()) ADD_FAILURE() << json::serialize(line);
  }
  const auto& score = lines.back();
  EXPECT_EQ(number_at(score, "score/recall"), 1);
  EXPECT_EQ(number_at(score, "score/right_part_share"), 1);
  EXPECT_EQ(number_at(score, "score/precision"), 1);
  EXPECT_EQ(number_at(score, "score/healthy_blamed"), 0) << json::serialize(score) << ran.err;
  EXPECT_EQ(ran.status, 0);
}

TEST_F(CatalogueTest, FindsAndNamesASampleOfItsFaultsAndBlamesNobodyElse) {
  // Slow enough that a rack under AddressSanitizer keeps pace: its controller's deadlines are ours.
  std::vector<std::string> words{"--catalogue", "--speed", "30", "--rack-nodes", "10"};
  for (const auto& name : sample()) words.insert(words.end(), {"--only", name});

  expect_all_found(rehearse(words), sample().size());
}

/// What keeps an OS from an empty disk, and what must not.
TEST_F(CatalogueTest, NamesWhatKeepsAnOsFromASampleOfMachines) {
  const std::vector<std::string> names{"boot-override-ignored", "http-entry-stays",
                                       "os-image-corrupted", "write-interrupted", "bmc-crossed"};
  std::vector<std::string> words{"--catalogue", "--speed", "30", "--rack-nodes", "8"};
  for (const auto& name : names) words.insert(words.end(), {"--only", name});

  expect_all_found(rehearse(words), names.size());
}

/// Eight minutes: scripts/test leaves out what is called Long, scripts/test --all does not.
using LongCatalogueTest = CatalogueTest;

TEST_F(LongCatalogueTest, FindsAndNamesEveryFaultThatStagesLookForAndBlamesNobodyElse) {
  const auto ran = rehearse({"--catalogue"});

  expect_all_found(ran, 120,
                   {"cords-on-one-feed", "gid-wrong", "nvme-no-sanitize", "nvme-sanitize-fails",
                    "nvme-sanitize-locked", "outlet-elsewhere"});
  const auto score = json_lines(ran.out).back();
  EXPECT_GE(number_at(score, "score/looked_for"), 105);
  EXPECT_GE(number_at(score, "score/healthy"), 40);
}

TEST_F(LongCatalogueTest, BlamesNobodyInRacksWithoutAFault) {
  const auto ran = rehearse({"--healthy", "1", "--rack-nodes", "6"});

  const auto lines = json_lines(ran.out);
  ASSERT_EQ(lines.size(), 1u) << ran.err;
  EXPECT_EQ(number_at(lines[0], "score/healthy"), 6);
  EXPECT_EQ(number_at(lines[0], "score/healthy_blamed"), 0);
  EXPECT_EQ(ran.status, 0);
}

TEST_F(LongCatalogueTest, BlamesNobodyInARackWithALongTailAndTiredBmcs) {
  const auto scenario = folder.string() + ".yaml";
  std::ofstream{scenario} << R"(spread: {shape: exponential}
rules:
  - {path: "*/Systems/*", do: status, status: 503, times: 3, headers: {Retry-After: 1}}
  - {path: "*", do: latency, late: 20ms, jitter: 100ms}
)";

  const auto ran = rehearse({"--healthy", "1", "--rack-nodes", "6", "--scenario", scenario});
  std::filesystem::remove(scenario);

  const auto lines = json_lines(ran.out);
  ASSERT_EQ(lines.size(), 1u) << ran.err;
  EXPECT_EQ(number_at(lines[0], "score/healthy"), 6);
  EXPECT_EQ(number_at(lines[0], "score/healthy_blamed"), 0) << ran.err;
}

TEST_F(CatalogueTest, RefusesAScenarioOfRacksThatHasAnError) {
  const auto scenario = folder.string() + ".yaml";
  std::ofstream{scenario} << "spread: {shape: round}\n";

  const auto ran = rehearse({"--healthy", "1", "--rack-nodes", "6", "--scenario", scenario});
  const auto planted = rehearse({"--catalogue", "--scenario", scenario});
  std::filesystem::remove(scenario);

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out + ran.err, HasSubstr("shape must be one of normal, gamma"));
  EXPECT_EQ(planted.status, 2);
}

TEST_F(CatalogueTest, SaysThatItHasNoSuchFault) {
  const auto ran = rehearse({"--catalogue", "--only", "firmware-unchanged", "--only", "gremlins"});

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out + ran.err, HasSubstr("no such fault: 'gremlins'"));
}

}  // namespace
}  // namespace cupel::testing
