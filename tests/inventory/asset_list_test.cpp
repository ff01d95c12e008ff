// Lists of assets in the manners of spreadsheets, and what was seen against them.
#include "inventory/asset_list.h"

#include <gmock/gmock.h>

#include "inventory/compare_assets.h"
#include "inventory/identity.h"

namespace cupel::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Asset> parsed(std::string_view text) {
  std::vector<Problem> problems;
  auto assets = parse_assets(text, "assets.csv", problems);
  EXPECT_THAT(problems, IsEmpty()) << to_string(problems);
  return assets;
}

std::string faults_in(std::string_view text) {
  std::vector<Problem> problems;
  parse_assets(text, "assets.csv", problems);
  return to_string(problems);
}

TEST(AssetList, ReadsTheDialectsOfSpreadsheets) {
  const std::string rows[] = {
      "Node,Kind,Serial,Slot\na01-n01,gpu,00123,gpu3\n",
      "\xEF\xBB\xBFSerial Number;Type;Host;Bay\r\n\"00123\";GPU;a01-n01;gpu3\r\n",
      "sep=;\nSerial;Kind;Node;Slot\n=\"00123\";gpu;a01-n01;gpu3\n",
      "Slot\tNotes\tNode\tS/N\tKind\ngpu3\t\"a, \"\"b\"\"\"\ta01-n01\t'00123\tgpu\n\n\t\t\t\t\n",
  };
  for (const auto& text : rows) {
    SCOPED_TRACE(text);
    const auto assets = parsed(text);
    ASSERT_EQ(assets.size(), 1);
    EXPECT_EQ(assets[0].serial, "00123");
    EXPECT_EQ(assets[0].kind, PartKind::gpu);
    EXPECT_EQ(assets[0].node, "a01-n01");
    EXPECT_EQ(assets[0].slot, "gpu3");
  }
}

TEST(AssetList, ReadsUtf16OfBothOrders) {
  const std::string text =
      "Serial,Node\nM\xC3\xBC"
      "1,a01-n01\n";
  std::string little = "\xFF\xFE", big = "\xFE\xFF";
  for (const char32_t code : std::u32string{U"Serial,Node\nM\u00FC1,a01-n01\n"}) {
    little += {static_cast<char>(code & 0xFF), static_cast<char>(code >> 8)};
    big += {static_cast<char>(code >> 8), static_cast<char>(code & 0xFF)};
  }
  for (const auto& each : {text, little, big}) {
    const auto assets = parsed(each);
    ASSERT_EQ(assets.size(), 1);
    EXPECT_EQ(assets[0].serial,
              "M\xC3\xBC"
              "1");
    EXPECT_EQ(assets[0].kind, PartKind::system);
  }
}

TEST(AssetList, TakesASerialNumberForTheSameThatASpreadsheetHasShortened) {
  EXPECT_EQ(serial_key("0001652"), serial_key("1652"));
  EXPECT_EQ(serial_key("abc-12"), serial_key("ABC12"));
  EXPECT_NE(serial_key("0A12"), serial_key("A12"));
  EXPECT_EQ(serial_key("0000"), serial_key("0"));
  EXPECT_NE(serial_key("1652"), serial_key("16520"));
}

TEST(AssetList, NamesEveryRowThatCannotBeUsed) {
  const auto faults =
      faults_in("Serial,Kind\n1.65292E+12,gpu\n,gpu\nX1,gpuu\nX2,gpu\nX2,gpu\nx-2,gpu\nX2,nvme\n");

  for (const auto* fault :
       {"assets.csv:2:1: '1.65292E+12' is no serial number any more", "assets.csv:3:1: no serial",
        "assets.csv:4:1: there is no kind of part 'gpuu'",
        "assets.csv:6:1: serial number X2 stands in line 5, too",
        "assets.csv:7:1: serial number x-2 stands in line 5, too"})
    EXPECT_THAT(faults, HasSubstr(fault));
  EXPECT_THAT(faults, ::testing::Not(HasSubstr(":8:")));
  EXPECT_THAT(faults_in("Node,Kind\na,gpu\n"), HasSubstr("the header has no column Serial"));
  EXPECT_THAT(faults_in("\n\n"), HasSubstr("an empty file is no list of assets"));
}

TEST(AssetList, ReadsAnyLineEndAndQuotedLineEndsAndKeepsItsCountOfLines) {
  const auto unix_text = std::string{
      "\"Serial\nNumber\",Note,Kind,,\nS1,\"two\n\"\"lines\"\"\",gpu,,\nS2,3.5\" bay,gpuu,,\n"};
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    SCOPED_TRACE(end.size());
    std::string text;
    for (const char one : unix_text) text += one == '\n' ? end : std::string{one};
    std::vector<Problem> problems;

    const auto assets = parse_assets(text, "assets.csv", problems);

    ASSERT_EQ(assets.size(), 1);
    EXPECT_EQ(assets[0].serial, "S1");
    EXPECT_EQ(assets[0].where.line, 3);
    EXPECT_THAT(to_string(problems), HasSubstr("assets.csv:5:1: there is no kind of part 'gpuu'"));
  }
}

TEST(AssetList, NamesAQuoteThatIsNotClosedAndReadsTheRowsBehindIt) {
  std::vector<Problem> problems;

  const auto assets = parse_assets("Serial,Kind\n\"S1,gpu\nS2,gpu\n", "assets.csv", problems);

  ASSERT_EQ(assets.size(), 1);
  EXPECT_EQ(assets[0].serial, "S2");
  EXPECT_THAT(to_string(problems), HasSubstr("assets.csv:2:1: a quote is opened here"));
  EXPECT_THAT(faults_in("\"Serial,Kind\nS2,gpu\n"), HasSubstr("a quote is opened here"));
}

TEST(AssetList, DropsBlanksThatDoNotBreakAndColumnsWithoutAName) {
  const auto assets = parsed("Serial,Node,,\n\xC2\xA0S1\xC2\xA0, n1 ,,\n,,,\n");

  ASSERT_EQ(assets.size(), 1);
  EXPECT_EQ(assets[0].serial, "S1");
  EXPECT_EQ(assets[0].node, "n1");
}

TEST(AssetList, RefusesWhatASpreadsheetMakesOfSerialNumbersAndNothingElse) {
  for (const auto* bad : {"1.23E+12", "1,65E+12", "1.23e12", "2E+05", "1652923033635.00",
                          "1652923033635,0", "04-Mar", "Mar-04", "2-may-2026"}) {
    const auto written = std::string{bad};
    EXPECT_THAT(faults_in("Serial\tKind\n" + written + "\tgpu\n"),
                HasSubstr("'" + written + "' is no serial number any more"));
  }
  for (const auto* good : {"12E34", "E12", "1652923033635", "S1.0", "12.345", "7E-1234", "A-Mar",
                           "CN-0123-45", "MAR-1234567", "MAR-1234", "1-2"})
    EXPECT_THAT(faults_in(std::string{"Serial\tKind\n"} + good + "\tgpu\n"), IsEmpty()) << good;
}

TEST(AssetList, IsNotReadToItsEndWhereNearlyAllRowsAreBad) {
  std::string text = "Serial,Kind\n";
  for (int row = 0; row < 5'000; ++row) text += ",gpu\n";
  std::vector<Problem> problems;

  const auto assets = parse_assets(text, "assets.csv", problems);

  EXPECT_THAT(assets, IsEmpty());
  EXPECT_EQ(problems.size(), 1'001);
  EXPECT_THAT(problems.back().what, HasSubstr("1000 rows cannot be used: the rest is not read"));
  EXPECT_EQ(problems.back().where.line, 1'001);
}

Part seen_part(PartKind kind, const std::string& name, const std::string& serial,
               const std::string& model = {}, const std::string& slot = {}) {
  return {.kind = kind, .name = name, .model = model, .serial = serial, .slot = slot};
}

SeenAssets two_machines() {
  using enum PartKind;
  return {{"n1",
           {seen_part(system, "system", "S1"), seen_part(gpu, "gpu0", "G1", "H100", "1b:00.0"),
            seen_part(gpu, "gpu1", "G2", "H100")}},
          {"n2", {seen_part(system, "system", "S2"), seen_part(gpu, "gpu0", "G3", "H200")}}};
}

std::vector<std::string> reported(const std::vector<AssetFinding>& findings) {
  std::vector<std::string> all;
  for (const auto& each : findings)
    all.push_back(each.node + " " + each.serial + " " + std::string{to_string(each.state)});
  return all;
}

TEST(CompareAssets, FindsWhatIsMissingElsewhereMovedWrongAndNotListed) {
  const auto assets = parsed(
      "Node,Kind,Serial,Slot,Model\n"
      "n1,system,S1,,\n"
      "n1,gpu,G1,52:00.0,H100\n"  // in another slot
      "n1,gpu,G9,,H100\n"         // nowhere
      "n2,gpu,G2,,H100\n"         // in n1
      "n2,gpu,G3,,H100\n"         // an H200
      "n3,gpu,G5,,\n");           // its machine was not seen: it is due, not missing

  const auto findings = compare_assets(assets, two_machines());

  EXPECT_THAT(reported(findings), ElementsAre("n1 G1 in another slot", "n1 G9 missing",
                                              "n2 G2 in another machine", "n2 G3 another model"));
  EXPECT_EQ(findings[2].expected, "n2");
  EXPECT_EQ(findings[2].observed, "n1");
}

TEST(CompareAssets, TakesTheWordOfAnySourceForASlotAndAModel) {
  using enum PartKind;
  SeenAssets seen;
  seen["n1"] = {seen_part(gpu, "GPU_SXM_1", "G1", "GH100", "OAM 3"),
                seen_part(gpu, "gpu0", "G1", "NVIDIA H100 80GB HBM3", "0000:1b:00.0")};

  EXPECT_THAT(reported(compare_assets(parsed("Node,Kind,Serial,Slot,Model\n"
                                             "n1,gpu,G1,1b:00.0,H100 80GB\n"),
                                      seen)),
              IsEmpty());
  const auto moved =
      compare_assets(parsed("Node,Kind,Serial,Slot\nn1,gpu,G1,0000:52:00.0\n"), seen);
  ASSERT_THAT(reported(moved), ElementsAre("n1 G1 in another slot"));
  EXPECT_EQ(moved[0].observed, "OAM 3");
}

TEST(CompareAssets, ComparesThePartNumber) {
  auto seen = two_machines();
  for (auto& part : seen["n1"]) part.part_number = "900-21010-0000";
  const auto findings_of = [&](const std::string& number) {
    return compare_assets(
        parsed("Node,Kind,Serial,Part Number\nn1,gpu,G1," + number + "\nn1,gpu,G2,\n"), seen);
  };

  EXPECT_THAT(findings_of("21010-0000"), IsEmpty());
  EXPECT_THAT(findings_of("H100"), IsEmpty());
  const auto other = findings_of("900-21010-0320");
  ASSERT_THAT(reported(other), ElementsAre("n1 G1 another model"));
  EXPECT_EQ(other[0].expected, "900-21010-0320");
  EXPECT_EQ(other[0].observed, "900-21010-0000");
}

TEST(CompareAssets, CallsOnlyThoseExtraOfWhoseKindTheListHasSomeOfThatMachine) {
  EXPECT_THAT(reported(compare_assets(parsed("Node,Kind,Serial\nn1,gpu,G1\n"), two_machines())),
              ElementsAre("n1 G2 not in the list"));
  EXPECT_THAT(reported(compare_assets(parsed("Node,Kind,Serial\nn1,dimm,G1\n"), two_machines())),
              ElementsAre("n1 G1 not read"));
}

TEST(CompareAssets, CallsAPartMissingOnlyWhereItsKindWasRead) {
  using enum PartKind;
  const auto assets = parsed("Node,Kind,Serial\nn1,psu,P1\nn1,gpu,G1\nn1,gpu,G2\nn2,psu,P2\n");
  const SeenAssets unread{{"n1", {seen_part(psu, "psu0", "P1")}},
                          {"n2", {seen_part(psu, "psu0", "P3")}}};
  auto seen = two_machines();
  seen["n2"].push_back(seen_part(psu, "psu1", "P4"));

  EXPECT_THAT(reported(compare_assets(assets, two_machines())),
              ElementsAre("n1 P1 not read", "n2 P2 not read"));
  EXPECT_THAT(reported(compare_assets(assets, seen, unread)),
              ElementsAre("n1 P1 not read", "n2 P2 missing", "n2 P4 not in the list"));
}

TEST(CompareAssets, CallsNothingMissingOfAKindThatCouldNotBeListedInFull) {
  using enum PartKind;
  auto seen = two_machines();
  const SeenAssets unread{{"n1", {Part{.kind = gpu, .name = {}}}}};

  EXPECT_THAT(reported(compare_assets(parsed("Node,Kind,Serial\nn1,gpu,G1\nn1,gpu,G2\nn1,gpu,G9\n"),
                                      seen, unread)),
              ElementsAre("n1 G9 not read"));
}

TEST(CompareAssets, TakesNoMacOfAnInterfaceForTheSerialNumberOfACard) {
  using enum PartKind;
  const auto assets = parsed("Node,Kind,Serial\nn1,hca,MT2301\n");
  const auto mac = seen_part(nic, "ens1f0np0", "a0:88:c2:00:00:01", "mlx5_core", "0000:18:00.0");
  const SeenAssets both{{"n1",
                         {seen_part(hca, "mlx5_0", "MT2301", "MT4129", "0000:18:00.0"),
                          seen_part(hca, "mlx5_1", "MT2301", "MT4129", "0000:18:00.1"), mac,
                          seen_part(nic, "eno1", "a0:88:c2:00:00:02")}}};
  const SeenAssets unprivileged{{"n1", {mac}}};

  EXPECT_THAT(reported(compare_assets(assets, both)), IsEmpty());
  EXPECT_THAT(reported(compare_assets(assets, unprivileged)), ElementsAre("n1 MT2301 not read"));
  const auto by_mac = parsed("Node,Kind,Serial\nn1,hca,MT2301\nn1,nic,a0:88:c2:00:00:03\n");
  EXPECT_THAT(reported(compare_assets(by_mac, both)),
              ElementsAre("n1 a0:88:c2:00:00:03 missing", "n1 a0:88:c2:00:00:02 not in the list"));
}

TEST(CompareAssets, KnowsAMachineInCapitalsAndWithItsDomain) {
  EXPECT_THAT(
      reported(compare_assets(parsed("Node,Kind,Serial\nN1,gpu,G1\nn1.cluster.local,gpu,G2\n"
                                     "N2,gpu,G3\n"),
                              two_machines())),
      IsEmpty());
  const auto arrivals =
      arrivals_of(parsed("Node,Kind,Serial\nX7,gpu,X1\nx7.example,gpu,X2\n"), two_machines());
  ASSERT_EQ(arrivals.size(), 1u);
  EXPECT_EQ(arrivals[0].expected, 2u);
}

TEST(CompareAssets, TakesNoPlaceholderForASerialNumber) {
  auto seen = two_machines();
  seen["n1"][0].serial = seen["n2"][0].serial = "To be filled by O.E.M.";

  EXPECT_THAT(reported(compare_assets(parsed("Node,Kind,Serial\nn1,gpu,G1\nn1,gpu,G2\n"), seen)),
              IsEmpty());
}

TEST(AssetList, IsReadBelowItsTitles) {
  const auto assets = parsed(
      "Delivery for ACME, week 12;;;\n;;;\nall quantities checked\nSerial;Kind;Node\nX1;gpu;n1\n");

  ASSERT_EQ(assets.size(), 1u);
  EXPECT_EQ(assets[0].serial, "X1");
  EXPECT_THAT(faults_in("Delivery for ACME\nn1;gpu\n"),
              HasSubstr("assets.csv:1:1: the header has no column Serial"));
}

TEST(AssetList, IsRefusedWithoutARow) {
  EXPECT_THAT(faults_in("Serial,Kind,Node\n"), HasSubstr("a header and no assets below it"));
  EXPECT_THAT(faults_in("Serial,Kind,Node\n,,\n\n"), HasSubstr("a header and no assets below it"));
}

TEST(AssetList, KnowsWhatPurchasingCallsParts) {
  const auto assets = parsed(
      "Serial,Kind\nX1,Graphics card\nX2,Memory module\nX3,Power Supplies\nX4,Memory Modules\n"
      "X5,Network adapters\n");

  std::vector<PartKind> kinds;
  for (const auto& each : assets) kinds.push_back(each.kind);
  using enum PartKind;
  EXPECT_THAT(kinds, ElementsAre(gpu, dimm, psu, dimm, nic));
}

TEST(AssetList, KnowsTheHeadersOfVendors) {
  for (const auto* text : {"Serial No.;Component Type;Hostname\nX1;GPU H100 SXM5;n1\n",
                           "Seriennummer;Typ;Rechner;Steckplatz;Lieferdatum\nX1;gpu;n1;;\n",
                           "Num\u00E9ro de s\u00E9rie;Type;Serveur\nX1;GPU;n1\n"}) {
    const auto assets = parsed(text);
    ASSERT_EQ(assets.size(), 1u) << text;
    EXPECT_EQ(assets[0].kind, PartKind::gpu) << text;
    EXPECT_EQ(assets[0].node, "n1") << text;
  }
  EXPECT_THAT(faults_in("Serial,Kind\nX1,GPU tray\n"), HasSubstr("no kind of part 'GPU tray'"));
}

TEST(AssetList, TakesNoPartsForMachinesWhereItsColumnsOfKindsAndNodesHaveOtherNames) {
  const auto faults = faults_in("Asset No,Serial,Was,Wo\nA1,M1,system,n1\nA2,X1,gpu,n1\n");

  EXPECT_THAT(faults, HasSubstr("assets.csv:2:1: the header has neither a column Kind nor a column "
                                "Node, and 'Was' has kinds of parts: name them: --columns "
                                "'Kind=Was'"));
  EXPECT_THAT(faults, ::testing::Not(HasSubstr("assets.csv:3:1")));
  EXPECT_EQ(parsed("Serial,Note\nM1,second hand\nM2,\n").size(), 2u);
}

TEST(AssetList, TakesNoPartsForMachinesWhereItsColumnOfKindsHasAnotherName) {
  const auto faults = faults_in("Serial,What,Node\nM1,server,n1\nX1,gpu,N1\nM2,server,n2\n");

  EXPECT_THAT(faults, HasSubstr("assets.csv:3:1: the header has no column Kind"));
  EXPECT_THAT(faults, HasSubstr("line 2 is N1 already"));
  EXPECT_THAT(faults, ::testing::Not(HasSubstr("assets.csv:4:1")));
}

TEST(AssetList, LeavesOutRowsThatCannotBeUsedWhereItIsAskedTo) {
  std::string text = "Serial,Kind\nX1,gpu\n,gpu\nX2,gpuu\nX1,gpu\n";
  for (int row = 0; row < 2'000; ++row) text += ",gpu\n";
  std::vector<Problem> problems;

  const auto list = parse_assets(text + "X3,gpu\n", "assets.csv", {.skip_bad = true}, problems);

  EXPECT_THAT(problems, IsEmpty()) << to_string(problems);
  ASSERT_EQ(list.assets.size(), 2u);
  EXPECT_EQ(list.assets[1].serial, "X3");
  ASSERT_EQ(list.skipped.size(), 3u);
  EXPECT_EQ(list.skipped[0].reason, "no serial number");
  EXPECT_EQ(list.skipped[0].rows, 2'001u);
  EXPECT_THAT(list.skipped[0].lines, ElementsAre(3, 6, 7, 8, 9));
  EXPECT_EQ(list.skipped[1].first, "there is no kind of part 'gpuu'");
  EXPECT_EQ(list.skipped[2].first, "serial number X1 stands in line 2, too");
}

TEST(AssetList, IsRefusedWhereNoRowIsLeftOrItsHeaderIsWrong) {
  const auto faults = [](std::string_view text) {
    std::vector<Problem> problems;
    parse_assets(text, "assets.csv", {.skip_bad = true}, problems);
    return to_string(problems);
  };

  EXPECT_THAT(
      faults("Serial,Kind\n,gpu\n,gpu\n"),
      HasSubstr("assets.csv:2:1: no serial number; no row can be used, 2 of them for this"));
  EXPECT_THAT(faults("Serial,Kind\n"), HasSubstr("a header and no assets below it"));
  EXPECT_THAT(faults("Serial,What,Node\nM1,server,n1\nX1,gpu,n1\n"),
              HasSubstr("the header has no column Kind"));
}

TEST(AssetList, UsesTheGivenColumnNames) {
  const auto [columns, fault] = asset_column_names("Serial=SN-Nr, Node = Standort,part_number=Art");
  ASSERT_EQ(fault, "");
  std::vector<Problem> problems;

  const auto list = parse_assets("Serial;sn-nr;Standort;Art;Kind\nA;X1;n1;900;gpu\n", "assets.csv",
                                 {.columns = columns}, problems);
  parse_assets("Serial;Kind\nX1;gpu\n", "other.csv", {.columns = columns}, problems);

  ASSERT_EQ(list.assets.size(), 1u);
  EXPECT_EQ(list.assets[0].serial, "X1");
  EXPECT_EQ(list.assets[0].node, "n1");
  EXPECT_EQ(list.assets[0].part_number, "900");
  EXPECT_THAT(to_string(problems), HasSubstr("other.csv:1:1: the header has no column 'SN-Nr'"));
  for (const auto* bad : {"Serial", "Serial=", "Serail=x", "Serial=x,SN=y"})
    EXPECT_THAT(asset_column_names(bad).second, HasSubstr("is not COLUMN=NAME")) << bad;
}

TEST(AssetList, RefusesAPlaceholderSerialNumber) {
  for (const auto* serial : {"NA", "n/a", "Default string", "0123456789", "To be filled by O.E.M.",
                             "00000000", "xxxxxxxx", "0x00000000", "System Serial Number"})
    EXPECT_THAT(faults_in(std::string{"Serial,Kind\n"} + serial + ",gpu\n"),
                HasSubstr("is no serial number"))
        << serial;
}

TEST(Arrivals, SayOfWhatWasNotReadThatItWasNot) {
  const auto assets = parsed("Node,Kind,Serial,Due\nn1,gpu,G1,\nn1,psu,P1,2026-12-01\n");

  const auto arrivals = arrivals_of(assets, two_machines());

  ASSERT_EQ(arrivals.size(), 1);
  EXPECT_FALSE(arrivals[0].can_start());
  EXPECT_THAT(arrivals[0].due, ElementsAre("psu P1, not read, due 2026-12-01"));
}

TEST(CompareAssets, FindsTwoMachinesWithOneSerialNumber) {
  auto seen = two_machines();
  seen["n2"][0].serial = "S1";

  EXPECT_THAT(reported(compare_assets(parsed("Node,Serial\nn1,S1\n"), seen)),
              ElementsAre("n1 S1 reported by two machines"));
}

TEST(Arrivals, SayWhatIsHereWhatIsDueAndWhichMachinesCanStart) {
  const auto assets = parsed(
      "Node,Kind,Serial,PO,Due\nn1,system,S1,4711,\nn1,gpu,G1,4711,\nn1,gpu,G2,4711,\n"
      "n2,system,S2,4711,\nn2,gpu,G7,4712,2026-12-01\nn3,system,S3,4712,\n");

  const auto arrivals = arrivals_of(assets, two_machines());

  ASSERT_EQ(arrivals.size(), 3);
  EXPECT_TRUE(arrivals[0].can_start());
  EXPECT_EQ(arrivals[1].here, 1);
  EXPECT_THAT(arrivals[1].due, ElementsAre("gpu G7, due 2026-12-01 (4712)"));
  EXPECT_FALSE(arrivals[1].can_start());
  EXPECT_FALSE(arrivals[2].is_seen);
  EXPECT_FALSE(arrivals[2].can_start());
}

}  // namespace
}  // namespace cupel::inventory
