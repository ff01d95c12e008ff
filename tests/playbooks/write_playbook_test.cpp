#include "playbooks/write_playbook.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "inventory/shipped.h"

namespace cupel::playbooks {
namespace {

/// The place in its file is no part of what a step says.
std::string written_text(const PlaybookStep& step) {
  Playbook one;
  one.name = "one";
  one.steps = {step};
  return write_playbook(one);
}

std::vector<std::string> written_text(const Playbook& playbook) {
  std::vector<std::string> all;
  for (const auto& step : playbook.steps) all.push_back(written_text(step));
  return all;
}

TEST(WritePlaybook, GivesBackEveryStepOfEveryShippedPlaybook) {
  int books = 0;
  for (const auto& file : inventory::shipped_files()) {
    if (!file.path.starts_with("playbooks/")) continue;
    SCOPED_TRACE(file.path);
    ++books;
    std::vector<inventory::Problem> problems;
    const auto read = load_playbook(std::filesystem::path{file.path}.stem().string(), problems);
    ASSERT_TRUE(read) << to_string(problems);

    const auto again = parse_playbook(write_playbook(*read), "again", problems);

    ASSERT_TRUE(again) << to_string(problems) << write_playbook(*read);
    ASSERT_EQ(again->steps.size(), read->steps.size());
    for (std::size_t i = 0; i < read->steps.size(); ++i) {
      const auto& one = again->steps[i];
      const auto& other = read->steps[i];
      EXPECT_EQ(one.name, other.name);
      EXPECT_EQ(one.kind, other.kind) << one.name;
      EXPECT_EQ(one.with, other.with) << one.name;
      EXPECT_EQ(one.deadline, other.deadline) << one.name;
      EXPECT_EQ(one.on_failure, other.on_failure) << one.name;
      EXPECT_EQ(one.together, other.together) << one.name;
      EXPECT_EQ(one.stop_after, other.stop_after) << one.name;
      EXPECT_EQ(one.claims, other.claims) << one.name;
    }
    EXPECT_EQ(again->limits, read->limits);
    EXPECT_EQ(again->canary, read->canary);
    EXPECT_EQ(again->priority, read->priority);
    EXPECT_EQ(again->description, read->description);
  }
  EXPECT_GT(books, 5);
}

TEST(WritePlaybook, KeepsConditionsRepeatsAndTextsThatYamlWouldTakeForSomethingElse) {
  const auto* text = R"(playbook: odd
description: "yes: a #text"
steps:
  - step: bmc-facts
  - stage: gpu-facts
    max_attempts: 2
  - stage: gemm
    as: "1"
    when: {profile: {not: [a, b]}, rack: [r1, r2], fact: {bmc.vendor: [NVIDIA]}, measure: {gpu.count: {at_least: 8, at_most: 8}}}
    with: {duration: 90s, types: "bf16,fp16"}
  - stage: disk
    foreach: {part: nvme}
    with: {directory: "/scratch/${each}", size: 1GiB}
)";
  std::vector<inventory::Problem> problems;
  const auto read = parse_playbook(text, "odd.yaml", problems);
  ASSERT_TRUE(read) << to_string(problems);

  const auto again = parse_playbook(write_playbook(*read), "again", problems);

  ASSERT_TRUE(again) << to_string(problems) << write_playbook(*read);
  EXPECT_EQ(written_text(*again), written_text(*read));
  EXPECT_EQ(again->description, "yes: a #text");
  ASSERT_EQ(again->steps.size(), 4);
  EXPECT_EQ(again->steps[1].tries, 2);
  EXPECT_EQ(again->steps[2].name, "gemm@1");
  EXPECT_EQ(again->steps[2].when.size(), read->steps[2].when.size());
  EXPECT_EQ(again->steps[3].each, inventory::PartKind::nvme);
  EXPECT_EQ(again->steps[3].with.at("directory"), "/scratch/${each}");
}

}  // namespace
}  // namespace cupel::playbooks
