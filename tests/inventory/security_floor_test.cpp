// The floor's file with all its errors, and a machine's versions against it.
#include <gmock/gmock.h>

#include "inventory/audit.h"
#include "inventory/read_security_floor.h"

namespace cupel::inventory {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SecurityFloor floor_of(const std::string& rows) {
  std::vector<Problem> problems;
  auto floor = parse_floor("floor: ours\nrows:\n" + rows, "f.yaml", problems);
  EXPECT_EQ(to_string(problems), "");
  return std::move(floor).value_or(SecurityFloor{});
}

std::string problems_of(const std::string& text) {
  std::vector<Problem> problems;
  EXPECT_FALSE(parse_floor(text, "f.yaml", problems));
  return to_string(problems);
}

Part part(PartKind kind, const std::string& name, const std::string& firmware,
          const std::string& model = "") {
  Part part;
  part.kind = kind;
  part.name = name;
  part.firmware = firmware;
  part.model = model;
  return part;
}

FloorLook judged(std::vector<Part> by_node, std::vector<Part> by_bmc = {},
                 std::vector<FloorRow> rows = shipped_floor().rows,
                 std::vector<PartialList> partial = {}) {
  return judge_floor({.rows = std::move(rows)},
                     {.by_bmc = by_bmc, .by_node = by_node, .partial_by_node = partial});
}

FloorLook with_driver(const std::string& version) {
  return judged({part(PartKind::firmware, "driver", version)});
}

FloorLook with_hca(const std::string& version, const std::string& model = "MT4129") {
  return judged({part(PartKind::hca, "mlx5_0", version, model)});
}

TEST(SecurityFloorFile, TheShippedOneIsReadAndWrittenBackAlike) {
  const auto& shipped = shipped_floor();
  std::vector<Problem> problems;

  const auto again = parse_floor(to_yaml(shipped), "again.yaml", problems);

  EXPECT_GT(shipped.rows.size(), 15u);
  EXPECT_EQ(to_string(problems), "");
  ASSERT_TRUE(again);
  EXPECT_EQ(to_yaml(*again), to_yaml(shipped));
}

TEST(SecurityFloorFile, NamesAllThatIsWrongWithItsPlace) {
  const auto all = problems_of(R"(floor: ours
rows:
  - {component: driverr, at_least: 1.2, advisory: A, date: "2026-01-01"}
  - {component: driver, branch: "535", at_least: 570.1.2, advisory: A, date: "2026-01-01"}
  - {component: driver, at_least: 535.1, advisory: A, date: "May"}
  - {component: driver, at_least: 535.2, advisory: A, date: "2026-01-01", sauce: x}
  - {component: bmc, at_least: 7.10, advisory: A, date: "2026-01-01"}
  - {component: cuda, at_least: 13.1, date: "2026-01-01"}
)");

  EXPECT_THAT(
      all, AllOf(HasSubstr("f.yaml:3:17: component 'driverr' is none of driver,"),
                 HasSubstr("(did you mean 'driver'?)"),
                 HasSubstr("f.yaml:4:50: at_least 570.1.2 is not of branch 535"),
                 HasSubstr("f.yaml:5:61: date is no day such as 2026-05-19"),
                 HasSubstr("f.yaml:6:5: branch 535 of driver is there twice: first at f.yaml:4:5"),
                 HasSubstr("sauce"), HasSubstr("f.yaml:7:5: bmc needs models"),
                 HasSubstr("f.yaml:8:5: row needs advisory")));
}

TEST(SecurityFloorFile, WithoutRowsIsAnErrorAndNotAFloorThatAllPass) {
  EXPECT_THAT(problems_of("floor: ours\nrows: []\n"), HasSubstr("the floor has no rows"));
  EXPECT_THAT(problems_of("floor: ours\n"), HasSubstr("the floor has no rows"));
}

TEST(SecurityFloor, HoldsADriverAgainstTheRowOfItsBranch) {
  const auto below = with_driver("535.54.03"), at = with_driver("535.309.01"),
             above = with_driver("580.200.1");

  EXPECT_THAT(below.below, ElementsAre(BelowFloor{"driver", "driver", "535.54.03", "535.309.01",
                                                  "NVIDIA 5821", "2026-05-19"}));
  EXPECT_THAT(at.below, IsEmpty());
  EXPECT_THAT(above.below, IsEmpty());
  EXPECT_THAT(at.read, ElementsAre("driver"));
}

TEST(SecurityFloor, ABranchWithoutAFixIsBelowTheNextLaterRow) {
  const auto between = with_driver("550.90.07"), later = with_driver("610.10.01");

  ASSERT_EQ(between.below.size(), 1u);
  EXPECT_EQ(between.below.front().at_least, "570.211.01");
  EXPECT_THAT(later.below, IsEmpty());
  EXPECT_THAT(later.read, ElementsAre("driver"));
}

TEST(SecurityFloor, HoldsAConnectxAgainstItsTrainWhateverItsChip) {
  EXPECT_EQ(with_hca("28.39.2048").below.at(0).at_least, "28.39.8002");
  EXPECT_EQ(with_hca("28.41.1000").below.at(0).at_least, "28.43.8002");
  EXPECT_THAT(with_hca("28.46.3008").below, IsEmpty());
  EXPECT_THAT(with_hca("20.43.8002", "MT4123").below, IsEmpty());
}

TEST(SecurityFloor, TheTrainsOfConnectx4AreOfThatCardAlone) {
  EXPECT_THAT(with_hca("12.28.4702", "MT4115").below, IsEmpty());
  EXPECT_EQ(with_hca("12.28.4512", "MT4115").below.at(0).at_least, "12.28.4702");
  EXPECT_EQ(with_hca("28.32.2004").below.at(0).at_least, "28.35.8002");
}

TEST(SecurityFloor, WhatWasNotReportedOrCannotBeOrderedIsNotRead) {
  EXPECT_EQ(judged({}), FloorLook{.policy = "warn"});
  EXPECT_THAT(with_driver("").read, IsEmpty());
  EXPECT_THAT(with_driver("N/A").read, IsEmpty());
  EXPECT_THAT(with_hca("FW-28").read, IsEmpty());
  EXPECT_THAT(judged({part(PartKind::hca, "mlx5_0", "28.46.3008", "MT4129"),
                      part(PartKind::hca, "mlx5_1", "", "MT4129")})
                  .read,
              IsEmpty());
}

TEST(SecurityFloor, AListThatIsNotWholeProvesNothingOfTheOthers) {
  const auto look = judged({part(PartKind::hca, "mlx5_0", "28.46.3008", "MT4129")}, {},
                           shipped_floor().rows, {{PartKind::hca, "x", "HTTP 503", true}});

  EXPECT_THAT(look.read, IsEmpty());
  EXPECT_THAT(look.below, IsEmpty());
}

TEST(SecurityFloor, ABmcIsHeldAgainstRowsOfItsOwnModel) {
  const auto rows = floor_of(
                        "  - {component: bmc, at_least: 7.10.50.00, models: [\"*iDRAC9*\"], "
                        "advisory: DSA-1, date: \"2026-01-01\"}\n")
                        .rows;
  const auto idrac =
      judged({}, {part(PartKind::bmc, "bmc", "7.00.00.171", "Dell iDRAC9 Enterprise")}, rows);
  const auto ilo = judged({}, {part(PartKind::bmc, "bmc", "1.53", "iLO 6")}, rows);

  ASSERT_EQ(idrac.below.size(), 1u);
  EXPECT_THAT(idrac.read, ElementsAre("bmc"));
  EXPECT_THAT(ilo.below, IsEmpty());
  EXPECT_THAT(ilo.read, IsEmpty());
}

TEST(SecurityFloor, ABiosIsHeldAgainstRowsOfTheMachinesModel) {
  const auto rows = floor_of(
                        "  - {component: bios, at_least: 2.4.1, models: [\"*R760*\"], "
                        "advisory: DSA-2, date: \"2026-01-01\"}\n")
                        .rows;
  const auto bios = part(PartKind::firmware, "bios", "2.1.5");
  const auto system = [](const char* model) { return part(PartKind::system, "system", "", model); };

  const auto by_node = judged({bios, system("PowerEdge R760")}, {}, rows);
  const auto by_bmc = judged({bios}, {system("PowerEdge R760")}, rows);
  const auto other = judged({bios, system("PowerEdge R660")}, {}, rows);

  EXPECT_EQ(by_node.below.at(0).at_least, "2.4.1");
  EXPECT_THAT(by_node.read, ElementsAre("bios"));
  EXPECT_EQ(by_bmc.below, by_node.below);
  EXPECT_THAT(other.below, IsEmpty());
  EXPECT_THAT(other.read, IsEmpty());
}

TEST(SecurityFloor, OfTwoRowsOfABranchTheLaterVersionCountsInAnyOrder) {
  const FloorRow early{
      .component = "connectx", .branch = "43", .at_least = "43.1000", .models = {"MT*"}},
      late{.component = "connectx", .branch = "43", .at_least = "43.8002", .models = {"MT4129"}};
  const std::vector<Part> card{part(PartKind::hca, "mlx5_0", "28.43.2000", "MT4129")};

  EXPECT_EQ(judged(card, {}, {early, late}).below.at(0).at_least, "28.43.8002");
  EXPECT_EQ(judged(card, {}, {late, early}).below.at(0).at_least, "28.43.8002");
}

TEST(SecurityFloorFile, RefusesAConnectxRowWithTheChipsNumber) {
  EXPECT_THAT(problems_of("floor: ours\nrows:\n  - {component: connectx, at_least: 28.46.3008, "
                          "advisory: A, date: \"2026-01-01\"}\n"),
              HasSubstr("at_least 28.46.3008 is not two numbers such as 43.8002"));
}

TEST(SecurityFloor, SaysPartsOfOneVersionOnce) {
  const auto look = judged({part(PartKind::firmware, "driver", "535.54.03"),
                            part(PartKind::hca, "mlx5_0", "28.39.2048", "MT4129"),
                            part(PartKind::hca, "mlx5_1", "28.39.2048", "MT4129")});

  EXPECT_EQ(to_words(look),
            "driver 535.54.03, at least 535.309.01 (NVIDIA 5821, 2026-05-19); connectx 28.39.2048 "
            "of mlx5_[0-1], at least 28.39.8002 (NVIDIA 5699, 2026-06-30)");
  EXPECT_EQ(to_words(with_driver("610.1.1")), "");
}

}  // namespace
}  // namespace cupel::inventory
