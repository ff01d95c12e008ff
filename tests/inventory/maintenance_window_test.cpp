// Windows of each week, as they are written, and how much of one is left.
#include "inventory/maintenance_window.h"

#include <gmock/gmock.h>

namespace cupel::inventory {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using ::testing::HasSubstr;

/// 2026-12-05 is a Saturday.
constexpr sys_seconds kSaturday =
    sys_days{std::chrono::year{2026} / std::chrono::December / std::chrono::day{5}};

MaintenanceWindow window(std::string_view text) { return maintenance_window(text).value().value(); }

TEST(MaintenanceWindow, IsOpenFromItsBeginToItsEnd) {
  const auto saturday = window("Sat 02:00 +6h");

  EXPECT_EQ(left_of(saturday, kSaturday + 2h - 1s), 0s);
  EXPECT_EQ(left_of(saturday, kSaturday + 2h), 6h);
  EXPECT_EQ(left_of(saturday, kSaturday + 7h + 30min), 30min);
  EXPECT_EQ(left_of(saturday, kSaturday + 8h), 0s);
  EXPECT_EQ(left_of(saturday, kSaturday + days{7} + 3h), 5h);
}

TEST(MaintenanceWindow, GoesOnOverMidnightAndTheEndOfTheWeek) {
  const auto sunday = window("sun 22:00 +4h");

  EXPECT_EQ(left_of(sunday, kSaturday + days{1} + 22h), 4h);
  EXPECT_EQ(left_of(sunday, kSaturday + days{2} + 1h), 1h);
  EXPECT_EQ(left_of(sunday, kSaturday + days{2} + 2h), 0s);
}

TEST(MaintenanceWindow, IsAlwaysOpenWhereItLastsAWeek) {
  const auto always = window("Mon 00:00 +7d");

  EXPECT_EQ(left_of(always, kSaturday), days{7});
  EXPECT_EQ(left_of(always, kSaturday + days{2}), days{7});
  EXPECT_EQ(left_of(always, kSaturday + days{2} - 1s), days{7});
}

TEST(MaintenanceWindow, OpensAgainWithinAWeek) {
  const auto saturday = window("Sat 02:00 +6h");

  EXPECT_EQ(next_opening(saturday, kSaturday), kSaturday + 2h);
  EXPECT_EQ(next_opening(saturday, kSaturday + 3h), kSaturday + days{7} + 2h);
}

TEST(MaintenanceWindow, AnyTimeIsNoWindow) {
  EXPECT_FALSE(maintenance_window("any").value());
  EXPECT_FALSE(maintenance_window("").value());
}

TEST(MaintenanceWindow, RefusesWhatIsNoneAndNamesAnExample) {
  for (const auto* text :
       {"Sat", "Sat 02:00", "Sat 02:00 6h", "Sat 2:00 +6h", "Sat 24:00 +1h", "Sat 02:60 +1h",
        "Day 02:00 +6h", "Sat 02:00 +0s", "Sat 02:00 +8d", "Sat 02:00 +6", "Sat 02:00 +6h more"}) {
    const auto read = maintenance_window(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::kInvalid);
    EXPECT_THAT(read.error().what, HasSubstr("such as \"Sat 02:00 +6h\"")) << text;
  }
}

}  // namespace
}  // namespace cupel::inventory
