// Criteria of profiles: what is inherited, replaced, counted and left out.
#include "inventory/read_criteria.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "inventory/load_profile.h"

namespace cupel::inventory {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A folder of profiles that go before the shipped ones.
class Criteria : public ::testing::Test {
 protected:
  Criteria() {
    std::string made = (std::filesystem::temp_directory_path() / "cupel-profiles-XXXXXX").string();
    folder = ::mkdtemp(made.data());
  }
  ~Criteria() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  void put(const std::string& name, const std::string& text) const {
    std::ofstream{folder / (name + ".yaml")} << "profile: " << name
                                             << "\npower: {idle: 1, loaded: 2}\n"
                                             << text;
  }

  /// Each criterion in a line: stage, measure, parts, limits.
  std::vector<std::string> reported(const std::string& name) {
    problems.clear();
    const auto profile = ProfileSource{folder}.load(name, problems);
    std::vector<std::string> lines;
    if (!profile) return lines;
    for (const auto& each : profile->criteria) {
      auto line = fmt::format("{} {} {}", each.stage, each.measure, fmt::join(each.parts, ","));
      if (each.at_least) line += fmt::format(" >={}", *each.at_least);
      if (each.at_most) line += fmt::format(" <={}", *each.at_most);
      lines.push_back(line);
    }
    return lines;
  }

  std::filesystem::path folder;
  std::vector<Problem> problems;
};

TEST_F(Criteria, OfAllGpusNameAsManyAsTheLastProfileHas) {
  put("eight", R"(parts: {gpu: {count: 8}}
criteria:
  gemm:
    - {measure: gpu.idle, parts: "gpu[all]", at_least: 1, source: ours}
    - {measure: burn.gpus, at_least: count of gpu, at_most: count of gpu, unit: GPUs, source: ours}
)");
  put("two", "extends: eight\nparts: {gpu: {count: 2}}\n");

  EXPECT_THAT(reported("two"),
              ElementsAre("gemm gpu.idle gpu0,gpu1 >=1", "gemm burn.gpus  >=2 <=2"));
  EXPECT_EQ(to_string(problems), "");
}

TEST_F(Criteria, ThatNoValueMeetsAreAnErrorWithTheirLine) {
  put("crossed", R"(parts: {gpu: {count: 8}}
criteria:
  gemm:
    - {measure: gpu.power, at_least: 700, at_most: 690.5, unit: W, source: ours}
    - {measure: gpu.idle, at_least: 1, at_most: 1, source: ours}
)");

  reported("crossed");

  EXPECT_THAT(
      to_string(problems),
      HasSubstr("crossed.yaml:6:38: criterion 'gpu.power' asks for at least 700 and at most "
                "690.5: no value is both"));
  EXPECT_THAT(to_string(problems), ::testing::Not(HasSubstr("gpu.idle")));
}

TEST_F(Criteria, ThatACountMakesContradictoryAreAnErrorWithTheirLine) {
  put("counted", R"(parts: {gpu: {count: 8}}
criteria:
  hbm:
    - {measure: burn.gpus, at_least: count of gpu, at_most: 7, unit: GPUs, source: ours}
)");

  reported("counted");

  EXPECT_THAT(to_string(problems), HasSubstr("counted.yaml:6:7: criterion 'burn.gpus' asks for at "
                                             "least 8 and at most 7: no value is both"));
}

TEST_F(Criteria, OfPartsThatTheProfileHasNoneOfGo) {
  put("none", R"(parts: {hca: {count: 0}}
criteria:
  node-facts:
    - {measure: ib.port.rate, parts: "mlx5_[all]", at_least: 400, source: ours}
    - {measure: memory.total, at_least: 10, source: ours}
)");

  EXPECT_THAT(reported("none"), ElementsAre("node-facts memory.total  >=10"));
  EXPECT_EQ(to_string(problems), "");
}

TEST_F(Criteria, RefuseAPartWithoutACount) {
  put("uncounted", R"(criteria:
  gemm:
    - {measure: gpu.idle, parts: "gpu[all]", at_least: 1, source: ours}
    - {measure: burn.gpus, at_least: count of gpu, source: ours}
    - {measure: gpu.hang, parts: "tpu[all]", at_most: 0, source: ours}
    - {measure: gpu.xid, at_most: count of luck, source: ours}
)");

  reported("uncounted");

  const auto text = to_string(problems);
  for (const auto* message :
       {"criterion 'gpu.idle' is of gpu[all]", "criterion 'burn.gpus' counts gpu",
        "criterion 'gpu.hang' is of tpu[all]", "'count of luck' counts no kind"})
    EXPECT_THAT(text, HasSubstr(message));
}

TEST_F(Criteria, ReplaceInheritedOnesOfTheSameKindOfPartsInTheirPlace) {
  put("base", R"(criteria:
  facts:
    - {measure: pcie.narrow, parts: "gpu[0-7]", at_most: 0, source: ours}
    - {measure: pcie.narrow, parts: "mlx5_[0-11]", at_most: 0, source: ours}
    - {measure: pcie.narrow, parts: "nvme*", at_most: 0, source: ours}
    - {measure: edac.uncorrected, parts: "dimm *", at_most: 0, source: ours}
    - {measure: edac.uncorrected, at_most: 0, source: ours}
)");
  put("other", R"(extends: base
criteria:
  facts:
    - {measure: edac.uncorrected, at_most: 5, source: ours}
    - {measure: pcie.narrow, parts: "mlx5_*", at_most: 1, source: ours}
    - {measure: pcie.narrow, parts: "gpu[0-1]", at_most: 2, source: ours}
)");

  EXPECT_THAT(reported("other"),
              ElementsAre("facts pcie.narrow gpu0,gpu1 <=2", "facts pcie.narrow mlx5_* <=1",
                          "facts pcie.narrow nvme* <=0", "facts edac.uncorrected dimm * <=0",
                          "facts edac.uncorrected  <=5"));
}

TEST_F(Criteria, ThatAProfileIsWithoutAreNotInherited) {
  put("base", R"(criteria:
  psu:
    - {measure: psu.redundant, at_least: 1, source: ours}
    - {measure: sensor.leak, parts: "leak*", at_most: 0, source: ours}
  cpu:
    - {measure: cpu.failures, parts: "cpu*", at_most: 0, source: ours}
    - {measure: cpu.machine_checks, at_most: 0, source: ours}
)");
  put("tray", "extends: base\nwithout: [psu/psu.redundant, cpu/cpu.machine_checks]\n");
  put("typo", "extends: base\nwithout: [psu/psu.redundand]\n");

  EXPECT_THAT(reported("tray"),
              ElementsAre("psu sensor.leak leak* <=0", "cpu cpu.failures cpu* <=0"));
  EXPECT_EQ(to_string(problems), "");
  reported("typo");
  EXPECT_THAT(to_string(problems),
              HasSubstr("it inherits no criterion 'psu/psu.redundand' (did you mean "
                        "'psu/psu.redundant'?)"));
}

}  // namespace
}  // namespace cupel::inventory
