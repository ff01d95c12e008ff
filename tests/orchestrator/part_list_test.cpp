// Parts of machines as rows, and as the list of assets that they are.
#include "orchestrator/report/part_list.h"

#include <gmock/gmock.h>

#include "inventory/compare_assets.h"

namespace cupel::report {
namespace {

using inventory::Part;
using inventory::PartKind;
using record::SeenParts;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

SeenParts::Report reported(std::string source, engine::RunId run, Part part) {
  return {.part = std::move(part), .source = std::move(source), .run = run};
}

Part gpu_part(const std::string& name, const std::string& serial, const std::string& slot) {
  return {.kind = PartKind::gpu, .name = name, .model = "H100", .serial = serial, .slot = slot};
}

/// What `cupel audit assets` finds of the sheet.
std::vector<inventory::AssetFinding> audited(const PartSheet& sheet,
                                             const inventory::SeenAssets& seen) {
  std::vector<inventory::Problem> problems;
  const auto assets = inventory::parse_assets(sheet.text, "parts.csv", problems);
  EXPECT_THAT(problems, IsEmpty()) << inventory::to_string(problems);
  return inventory::compare_assets(assets, seen);
}

TEST(PartList, HasOnePartOfWhatTwoSourcesReportUnderOneSerialNumber) {
  const engine::WallTime began{std::chrono::seconds{60}};
  auto of_bmc = gpu_part("GPU_SXM_1", "0165", "");
  of_bmc.firmware = "96.00";

  const auto parts = list_parts("n1",
                                std::vector{reported("bmc-facts", 4, of_bmc),
                                            reported("gpu-facts", 7, gpu_part("gpu0", "165", "1b")),
                                            reported("bmc-facts", 4, {PartKind::system, "system"})},
                                {{7, began}});

  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].part.kind, PartKind::system);
  EXPECT_THAT(parts[1].names, ElementsAre("GPU_SXM_1", "gpu0"));
  EXPECT_THAT(parts[1].sources, ElementsAre("bmc-facts", "gpu-facts"));
  EXPECT_EQ(parts[1].part.firmware, "96.00");
  EXPECT_EQ(parts[1].part.slot, "1b");
  EXPECT_EQ(parts[1].run, 7);
  EXPECT_EQ(parts[1].seen, began);
}

TEST(PartList, HasACardOnceWithItsTwoPortsAndTheirInterfaces) {
  const auto port = [](PartKind kind, const std::string& name, const std::string& serial,
                       const std::string& slot) {
    return reported("node-facts", 4, {.kind = kind, .name = name, .serial = serial, .slot = slot});
  };

  const auto parts =
      list_parts("n1",
                 std::vector{port(PartKind::nic, "ens1f0np0", "a0:88:c2:00:00:01", "0000:18:00.0"),
                             port(PartKind::hca, "mlx5_0", "MT2301", "0000:18:00.0"),
                             port(PartKind::hca, "mlx5_1", "MT2301", "0000:18:00.1"),
                             port(PartKind::nic, "ens1f1np1", "a0:88:c2:00:00:02", "0000:18:00.1"),
                             port(PartKind::nic, "eno1", "a0:88:c2:00:00:09", "0000:02:00.0")},
                 {});

  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].part.serial, "MT2301");
  EXPECT_THAT(parts[0].names, ElementsAre("mlx5_0", "mlx5_1", "ens1f0np0", "ens1f1np1"));
  EXPECT_THAT(parts[1].names, ElementsAre("eno1"));
}

TEST(PartList, TakesNoFieldOfANewerReadingFromAnOlderOne) {
  auto older = reported("gpu-facts", 2, gpu_part("gpu5", "G1", "52"));
  older.is_current = false;

  const auto parts = list_parts(
      "n1", std::vector{reported("bmc-facts", 4, gpu_part("GPU_SXM_1", "G1", "")), older}, {});

  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].part.slot, "");
  EXPECT_TRUE(parts[0].is_current);
}

TEST(PartList, IsTakenAsTheListOfAssetsThatItIs) {
  inventory::SeenAssets seen;
  std::vector<ListedPart> all;
  constexpr PartKind kKinds[] = {
      PartKind::gpu, PartKind::cpu,         PartKind::dimm, PartKind::nvme,     PartKind::drive,
      PartKind::psu, PartKind::fan,         PartKind::hca,  PartKind::nic,      PartKind::dpu,
      PartKind::bmc, PartKind::switch_chip, PartKind::pcie, PartKind::firmware, PartKind::system};
  for (const auto kind : kKinds) {
    // Texts that a spreadsheet takes for formulas, and cells that are quoted.
    const Part part{.kind = kind,
                    .name = "x",
                    .model = "=2\", \"PSU\"",
                    .serial = "00" + std::string{to_string(kind)},
                    .part_number = "-900",
                    .slot = "+A1"};
    const std::vector reports{reported("bmc-facts", 1, part)};
    for (auto& each : list_parts("n1", reports, {})) all.push_back(std::move(each));
    seen["n1"].push_back(part);
  }

  const auto sheet = parts_csv(all, false, false);

  EXPECT_EQ(sheet.without_serial, 0u);
  EXPECT_THAT(audited(sheet, seen), IsEmpty());
}

TEST(PartList, LeavesOutWhatAListOfAssetsCannotHave) {
  const std::vector reports{reported("bmc-facts", 1, gpu_part("gpu0", "G1", "")),
                            reported("bmc-facts", 1, gpu_part("gpu1", "NA", "")),
                            reported("bmc-facts", 1, gpu_part("gpu2", "1652.00", "")),
                            reported("bmc-facts", 1, {PartKind::firmware, "BIOS"})};
  auto parts = list_parts("n1", reports, {});
  for (auto& each : list_parts("n2", std::vector{reports.front()}, {}))
    parts.push_back(std::move(each));

  const auto list = parts_csv(parts, true, false);
  const auto all = parts_csv(parts, true, true);

  EXPECT_EQ(list.without_serial, 3u);
  EXPECT_EQ(list.twice, 1u);
  EXPECT_THAT(list.text, HasSubstr("n1,gpu,G1,H100,,,gpu0,,,,bmc-facts,1,,yes,REHEARSAL\r\n"));
  EXPECT_THAT(list.text, Not(HasSubstr("gpu1")));
  for (const auto* name : {"gpu1", "gpu2", "BIOS", "n2,gpu"})
    EXPECT_THAT(all.text, HasSubstr(name));
}

}  // namespace
}  // namespace cupel::report
