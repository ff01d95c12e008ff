// What the catalogue expects is something that stages measure, and its faults show where they are
// measured.
#include "burnin/measures/measure.h"
#include "rehearsal/catalogue.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

/// "fleet: hbm.copy" is about the measure; "audit: missing", "step ssh-wait" are about none.
std::optional<std::string> measure_of(const std::string& check) {
  constexpr std::string_view kFleet = "fleet: ";
  if (check.starts_with(kFleet)) return check.substr(kFleet.size());
  if (check.empty() || check.contains(' ')) return std::nullopt;
  return check;
}

TEST(CatalogueChecks, AreOfMeasuresThatExist) {
  std::vector<inventory::Problem> problems;
  std::size_t measures = 0;

  for (const auto& entry : shipped_catalogue(dgx(), problems)) {
    const auto measure = measure_of(entry.expected.check);
    if (!measure) continue;
    ++measures;
    EXPECT_NE(burnin::measure_row(*measure), nullptr)
        << entry.name << " expects " << entry.expected.check;
  }

  EXPECT_GT(measures, 80u);
}

TEST(CatalogueChecks, AWrongGidShowsByTheStageRoce) {
  const Fault ethernet{.kind = FaultKind::hca_ethernet, .part = "mlx5_8"};
  Bench usual{{ethernet}};
  Bench wrong{{ethernet, {.kind = FaultKind::gid_wrong, .part = "mlx5_8"}}};

  const auto before = found_by(usual, "roce"), after = found_by(wrong, "roce");

  ASSERT_TRUE(before) << before.error().what;
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_EQ(value_of(*before, "roce.gid", "mlx5_8"), 3);
  EXPECT_EQ(value_of(*after, "roce.gid", "mlx5_8"), 5);
}

}  // namespace
}  // namespace cupel::rehearsal
