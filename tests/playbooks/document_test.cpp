// docs/know/playbooks.md and docs/know/stages.md are true: their examples are playbooks, and they
// leave nothing out.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "base/text.h"
#include "burnin/stage.h"
#include "inventory/load_profile.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/shipped.h"
#include "playbooks/format.h"
#include "playbooks/plan.h"
#include "tests/playbooks/read.h"

namespace cupel::playbooks {
namespace {
using ::testing::HasSubstr;

const std::string& document() {
  static const auto text = [] {
    std::ostringstream all;
    all << std::ifstream{SOURCE_DIR "/docs/know/playbooks.md"}.rdbuf();
    return all.str();
  }();
  return text;
}

/// The text of each ```yaml block.
std::vector<std::string> examples() {
  std::vector<std::string> found;
  bool inside = false;
  for (const auto line : lines(document())) {
    if (line.starts_with("```")) {
      inside = line == "```yaml";
      if (inside) found.emplace_back();
    } else if (inside) {
      found.back() += std::string{line} + "\n";
    }
  }
  return found;
}

/// "bring-up.yaml" of "# bring-up.yaml", else what the playbook is called.
std::string file_of(const std::string& example) {
  const auto first = lines(example).front();
  if (first.starts_with("# ")) return std::string{first.substr(2)};
  return std::string{words(first).at(1)} + ".yaml";
}

/// One machine of a shipped profile.
inventory::Inventory one_machine(const std::string& profile,
                                 std::vector<inventory::Problem>& problems) {
  inventory::Inventory inventory;
  inventory::Node node;
  node.name = "n1";
  node.profile = profile;
  node.rack = "a01";
  inventory.nodes.push_back(std::move(node));
  inventory.profiles.emplace(profile,
                             inventory::ProfileSource{"/nowhere"}.load(profile, problems).value());
  return inventory;
}

TEST(Document, ShowsPlaybooksThatCanBePlanned) {
  const Folder folder;
  std::vector<std::string> files;
  for (const auto& example : examples()) files.push_back(folder.write(file_of(example), example));
  ASSERT_GE(files.size(), 7);

  for (const auto& file : files) {
    std::vector<inventory::Problem> problems;
    const auto inventory = one_machine("dgx-h100", problems);
    const auto playbook = load_playbook(file, problems);
    ASSERT_TRUE(playbook) << to_string(problems);
    const auto plan = make_plan(*playbook, inventory, {&inventory.nodes[0]}, problems);
    EXPECT_TRUE(plan) << to_string(problems);
  }
}

TEST(Document, NamesEveryStepStageParameterAndKey) {
  const auto named = [](std::string_view name) { return HasSubstr("`" + std::string{name} + "`"); };
  for (const auto& row : step_kinds()) {
    EXPECT_THAT(document(), named(row.name));
    for (const auto& fact : row.facts) EXPECT_THAT(document(), named(fact));
    for (const auto& parameter : row.parameters)
      EXPECT_THAT(document(), HasSubstr(std::string{parameter.name} + ":"));
  }
  for (const auto* shape : {&playbook_shape(), &step_shape(), &include_shape()})
    for (const auto& key : shape->keys)
      EXPECT_THAT(document(), HasSubstr(std::string{key.name} + ":"));
}

/// The row of docs/know/stages.md that begins with its name.
std::string row_of(std::string_view stage) {
  std::ifstream file{SOURCE_DIR "/docs/know/stages.md"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(fmt::format("| `{}` |", stage))) return line;
  return {};
}

TEST(Document, TellsWhatEachStageTakesAndIsReckonedToDraw) {
  for (const auto& stage : burnin::stages()) {
    const auto row = row_of(stage.name);
    EXPECT_THAT(row,
                HasSubstr(fmt::format("| {} / {} |", stage.load.share, stage.load.without_gpus)))
        << stage.name;
    for (const auto& parameter : stage.parameters)
      EXPECT_THAT(row, HasSubstr(fmt::format("`{}`", parameter.name))) << stage.name;
  }
}

/// The stages of the shipped playbooks that a text names by `cupel run NAME`.
std::set<std::string> stages_run_by(std::string_view text) {
  constexpr std::string_view kRun = "`cupel run ";
  std::set<std::string> stages;
  for (auto at = text.find(kRun); at != text.npos; at = text.find(kRun, at + 1)) {
    const auto rest = text.substr(at + kRun.size());
    const auto file = fmt::format("playbooks/{}.yaml", rest.substr(0, rest.find_first_of(" `")));
    const auto* shipped = inventory::shipped_file(file);
    EXPECT_NE(shipped, nullptr) << file;
    if (shipped == nullptr) continue;
    const auto playbook = read(shipped->text);
    EXPECT_TRUE(playbook.playbook) << playbook.reported();
    if (!playbook.playbook) continue;
    for (const auto& step : playbook.playbook->steps) stages.emplace(burnin::base_name(step.name));
  }
  return stages;
}

TEST(HealthCheck, NamesPlaybooksThatMeasureWhatItLeavesOut) {
  std::ostringstream page;
  page << std::ifstream{SOURCE_DIR "/docs/do/health-check.md"}.rdbuf();
  const auto text = page.str();
  const auto row = text.find("| GPU bandwidth, NCCL, IB bandwidth |");
  ASSERT_NE(row, text.npos);

  const auto stages = stages_run_by(text.substr(row, text.find('\n', row) - row));

  for (const auto* stage : {"nvbandwidth", "nccl-tests", "fabric-pairs", "fabric-nccl"})
    EXPECT_TRUE(stages.contains(stage)) << stage;
}

}  // namespace
}  // namespace cupel::playbooks
