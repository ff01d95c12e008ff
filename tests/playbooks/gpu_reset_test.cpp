// Resets of GPUs in playbooks: once in a run, and in the shipped ones where a parameter asks for
// it.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/playbooks/read.h"

namespace cupel::playbooks {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

std::vector<std::string> steps_of(const std::string& book, const Arguments& arguments) {
  std::vector<inventory::Problem> problems;
  const auto playbook = load_playbook(book, problems, arguments);
  EXPECT_TRUE(playbook) << to_string(problems);
  std::vector<std::string> names;
  if (playbook)
    for (const auto& step : playbook->steps) names.push_back(step.name);
  return names;
}

TEST(GpuResetSteps, AreRefusedASecondTime) {
  const auto twice = read(
      "playbook: p\nsteps:\n  - stage: gpu-reset\n  - {stage: gpu-reset, as: late}\n"
      "  - step: verdict\n");

  EXPECT_THAT(twice.reported(), HasSubstr("book.yaml:4:"));
  EXPECT_THAT(twice.reported(), HasSubstr("'gpu-reset@late' is a second reset of GPUs"));
}

TEST(GpuResetSteps, StandInTheShippedPlaybooksOnlyWhereAParameterAsksForThem) {
  for (const auto* book : {"new-rack", "burn-in-72h"}) {
    const auto usual = steps_of(book, {});
    const auto asked = steps_of(book, {{"gpu_reset", "yes"}, {"flaky", "contained"}});

    EXPECT_EQ(std::ranges::count(usual, "gpu-reset"), 0) << book;
    EXPECT_EQ(asked.size(), usual.size() + 4) << book;
    EXPECT_THAT(asked,
                IsSupersetOf({"gpu-reset", "power-cycle@reset", "ssh-wait@reset", "gemm@reset"}))
        << book;
  }
}

}  // namespace
}  // namespace cupel::playbooks
