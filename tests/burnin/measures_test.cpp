// What each measure is, held against the stages that give it. That what stages parse of captures
// has the row's unit is held wherever a test parses (tests/burnin/stages.h).
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "burnin/measures/measure.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

std::vector<MeasureRow> all_rows() {
  std::vector<MeasureRow> rows;
  for (const auto& table : measure_rows()) rows.insert(rows.end(), table.begin(), table.end());
  return rows;
}

TEST(Measures, OfEveryStageHaveARow) {
  for (const auto& each : stages())
    for (const auto name : each.measures)
      EXPECT_NE(measure_row(name), nullptr) << each.name << " measures " << name;
}

TEST(Measures, AreAllGivenByAStage) {
  std::set<const MeasureRow*> given;
  for (const auto& each : stages())
    for (const auto name : each.measures) given.insert(measure_row(name));
  for (const auto& table : measure_rows())
    for (const auto& row : table) EXPECT_TRUE(given.contains(&row)) << row.name;
}

TEST(Measures, HaveOneNameAKnownUnitAndAMeaning) {
  std::set<std::string_view> names;
  for (const auto& row : all_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(is_known_unit(row.unit)) << row.name << " " << row.unit;
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_FALSE(row.meaning.ends_with('.')) << row.name;
  }
}

TEST(Measures, ThatArePreconditionsAreThoseOfTheTest) {
  std::set<std::string_view> names;
  for (const auto& row : all_rows())
    if (row.precondition) names.insert(row.name);

  EXPECT_THAT(names,
              ::testing::UnorderedElementsAre(
                  "burn.complete", "fabric.undecided", "gpu.idle", "kernel.oom",
                  "kernel_log.complete", "kernel_log.readable", "nccl.undecided", "nvlink.counted",
                  "nvme.burned", "nvme.health_read", "nvme.sanitized", "psu.feed.tested"));
}

TEST(Measures, OfAFamilyAreFoundByTheirWords) {
  EXPECT_EQ(measure_row("collective.all_reduce.ring.busbw")->name, "collective.*.ring.busbw");
  EXPECT_EQ(measure_row("collective.rings.broadcast.busbw")->name, "collective.rings.*.busbw");
  EXPECT_EQ(measure_row("collective.errors")->unit, "errors");
  for (const auto* none : {"collective.all_reduce", "collective.all_reduce.busbw.more", "", "gemm",
                           "gemm.bf16.rate.", "*"})
    EXPECT_EQ(measure_row(none), nullptr) << none;
}

/// A criterion compares only in the measure's own unit, and says in the direction in which more is
/// better.
TEST(Measures, AreComparedByShippedCriteriaInTheirOwnUnitAndDirection) {
  for (const auto& name : inventory::ProfileSource{"/nowhere"}.names())
    for (const auto& criterion : profile(name).criteria) {
      const auto* row = measure_row(criterion.measure);
      ASSERT_NE(row, nullptr) << criterion.measure;
      EXPECT_EQ(criterion.unit, row->unit) << name << " " << criterion.measure;
      const bool both = criterion.at_least && criterion.at_most;
      if (both || row->better == Better::neither) continue;
      EXPECT_EQ(criterion.at_least.has_value(), row->better == Better::more)
          << name << " " << criterion.measure;
    }
}

TEST(Measures, AreThoseOfTheDocuments) {
  const auto page =
      *read_file(std::filesystem::path{SOURCE_DIR} / "docs/know/measures.md", 1u << 20);
  for (const auto& row : all_rows()) {
    const auto better = row.better == Better::more   ? "more"
                        : row.better == Better::less ? "less"
                                                     : "-";
    const auto line =
        fmt::format("| `{}` | {} | {} | {}{} |\n", row.name, row.unit.empty() ? "-" : row.unit,
                    better, row.meaning, row.precondition ? " (precondition)" : "");
    EXPECT_THAT(page, ::testing::HasSubstr(line));
  }
}

TEST(Measures, OfAUnitHaveARangeThatNoMachineLeaves) {
  EXPECT_TRUE(is_plausible(61.5, "C"));
  EXPECT_FALSE(is_plausible(6150, "C"));
  EXPECT_FALSE(is_plausible(-1, "GB/s"));
  EXPECT_FALSE(is_plausible(std::numeric_limits<double>::quiet_NaN(), ""));
  EXPECT_FALSE(is_plausible(std::numeric_limits<double>::infinity(), "a unit of its own"));
  EXPECT_TRUE(is_plausible(1e30, "a unit of its own"));
}

}  // namespace
}  // namespace cupel::burnin
