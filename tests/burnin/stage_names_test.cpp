// What a stage declares is known by its row: no stage is known by its name outside burnin/.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "burnin/undo.h"
#include "inventory/profile.h"

namespace cupel::burnin {
namespace {

namespace fs = std::filesystem;

/// Names that mean something else too ("disk" is a boot target, "facts" a key): only their
/// comparisons are looked for.
constexpr auto kGeneralWords = std::to_array<std::string_view>(
    {"cpu", "disk", "facts", "memory", "nvme", "pcie", "psu", "settings", "storage", "watch"});

/// The stage that the literal names which begins with the quote at `at`: "disk", "disk@again".
const Stage* stage_in_quotes(std::string_view line, std::size_t at) {
  const auto text = line.substr(at + 1);
  const auto literal = text.substr(0, text.find('"'));
  if (literal.size() == text.size()) return nullptr;
  const auto suffix = literal.substr(std::min(literal.find('@'), literal.size()));
  const bool plain = std::ranges::all_of(suffix.substr(std::min<std::size_t>(1, suffix.size())),
                                         [](char c) { return c >= 'a' && c <= 'z'; });
  return plain ? stage(literal.substr(0, literal.size() - suffix.size())) : nullptr;
}

/// Whether what ends with `before` compares what follows.
bool compares(std::string_view before) {
  while (before.ends_with(' ')) before.remove_suffix(1);
  for (const std::string_view each : {"==", "!=", "stage(", "stage_of(", "starts_with("})
    if (before.ends_with(each)) return true;
  return false;
}

/// Without regular expressions: in a build for tests they take half a minute for so many lines.
bool names_a_stage(std::string_view line) {
  for (auto at = line.find('"'); at != line.npos; at = line.find('"', at + 1)) {
    const auto* named = stage_in_quotes(line, at);
    if (named == nullptr) continue;
    const bool general = std::ranges::find(kGeneralWords, named->name) != kGeneralWords.end();
    if (!general || compares(line.substr(0, at))) return true;
  }
  return false;
}

TEST(StageNames, AreWrittenOutsideOfBurninByPlaybooksProfilesAndTheRehearsalAlone) {
  int read = 0;
  for (const auto* room : {"base", "inventory", "orchestrator", "playbooks"})
    for (const auto& entry : fs::recursive_directory_iterator{fs::path{SOURCE_DIR} / room}) {
      const auto extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".h") continue;
      ++read;
      std::ifstream file{entry.path()};
      for (std::string line; std::getline(file, line);)
        EXPECT_FALSE(names_a_stage(std::string_view{line}.substr(0, line.find("//"))))
            << entry.path() << ": " << line;
    }
  EXPECT_GT(read, 300);
}

TEST(StageNames, AreFoundWhereTheyAreCompared) {
  EXPECT_TRUE(names_a_stage(R"(if (name == "gpu-burn") return;)"));
  EXPECT_TRUE(names_a_stage(R"(const auto name = "gpu-burn@again";)"));
  EXPECT_TRUE(names_a_stage(R"(if (name != "x" && stage_of( "disk@late") == other))"));
  EXPECT_FALSE(names_a_stage(R"(row["disk"] = "disk"; say("gpu-burn went on");)"));
}

TEST(StageNames, OfWhatUndoesAStageAreThoseOfStages) {
  int undone = 0;
  for (const auto& each : stages()) {
    if (each.undo == nullptr) continue;
    ++undone;
    ASSERT_NE(stage(each.undo->stage), nullptr) << each.name;
    EXPECT_EQ(undone_by(each.undo->stage), each.undo);
    EXPECT_EQ(undo_of(std::string{each.name} + "@again"), each.undo);
    const auto named =
        std::ranges::find(each.parameters, each.undo->time_limit, &ParameterRow::name);
    ASSERT_NE(named, each.parameters.end()) << each.undo->time_limit;
    const Parameters spoken{{std::string{named->name}, std::string{named->fallback}}};
    const auto by_default = each.undo->by_itself_after({});
    const auto as_written = each.undo->by_itself_after(spoken);
    ASSERT_TRUE(by_default && as_written) << each.name;
    EXPECT_EQ(*by_default, *as_written) << each.name;
  }
  EXPECT_EQ(undone, 1);
}

TEST(StageNames, OfTheBmcsLogBehindAStepAreItsOwnAndTheSteps) {
  EXPECT_EQ(bmc_log_name("disk@scratch"), "sel@disk@scratch");
  EXPECT_EQ(bmc_log_name("sel@late"), "sel@late");
  EXPECT_TRUE(is_bmc_log("sel@disk"));
  EXPECT_FALSE(is_bmc_log("disk"));
}

/// Of a stage all whose values are as `with` says, and else its defaults.
Result<Job> prepared(const Stage& stage, const inventory::Profile& profile, Parameters with = {}) {
  return stage.prepare(profile, with);
}

TEST(StageParameters, HaveDefaultsThatTheStageItselfTakes) {
  inventory::Profile profile;
  auto& gpus = profile.parts.emplace_back();
  gpus.kind = inventory::PartKind::gpu;
  gpus.count = 8;
  for (const auto& each : stages()) {
    Parameters written;
    bool complete = true;
    for (const auto& row : each.parameters) {
      complete = complete && !row.fallback.empty() && !row.fallback.starts_with("as ");
      written[std::string{row.name}] = row.fallback;
    }
    if (!complete) continue;
    const auto silent = prepared(each, profile), spoken = prepared(each, profile, written);
    ASSERT_TRUE(silent) << each.name;
    ASSERT_TRUE(spoken) << each.name << ": " << spoken.error().what;
    EXPECT_EQ(silent->script, spoken->script) << each.name;
    EXPECT_EQ(silent->limit, spoken->limit) << each.name;
  }
}

TEST(StageParameters, AreBoundedByTheirRows) {
  inventory::Profile profile;
  for (const auto& each : stages())
    for (const auto& row : each.parameters) {
      if (row.kind != ParameterRow::Kind::duration) continue;
      ASSERT_GT(row.most, row.least) << each.name << " " << row.name;
      const auto beyond = std::to_string(static_cast<long>(row.most) + 1) + "s";
      Parameters with{{std::string{row.name}, beyond}};
      const auto refused = prepared(each, profile, with);
      EXPECT_FALSE(refused) << each.name << " " << row.name << " " << beyond;
    }
}

}  // namespace
}  // namespace cupel::burnin
