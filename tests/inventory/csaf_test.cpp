// Advisories as vendors write them: the habits of several, in documents of our own by the text of
// CSAF 2.0.
#include "inventory/csaf.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "base/text.h"
#include "inventory/version_words.h"
#include "tests/support/damage.h"

namespace cupel::inventory {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string document(const std::string& tree, const std::string& vulnerabilities,
                     const std::string& more = "") {
  return fmt::format(
      R"({{"document": {{"csaf_version": "2.0", "title": "Bulletin", "publisher": {{"name": "V"}},
      "tracking": {{"id": "77", "current_release_date": "2026-05-21T00:00:00.000Z", "status": "final"{}}}}},
      "product_tree": {}, "vulnerabilities": [{}]}})",
      more, tree, vulnerabilities);
}

Advisory parsed(const std::string& text) {
  auto advisory = parse_csaf(text);
  EXPECT_TRUE(advisory) << advisory.error().what;
  return advisory ? *std::move(advisory) : Advisory{};
}

/// Categories by place: the product where the version belongs, and the version in words.
std::string leaf(const std::string& name, const std::string& words, const std::string& id) {
  return fmt::format(
      R"({{"category": "product_version", "name": "{}", "product": {{"name": "{}", "product_id": "{}"}}}})",
      name, words, id);
}

std::string branch(const std::string& category, const std::string& name, const std::string& below) {
  return fmt::format(R"({{"category": "{}", "name": "{}", "branches": [{}]}})", category, name,
                     below);
}

std::string vendor(const std::string& below) {
  return R"({"branches": [)" + branch("vendor", "Maker", below) + "]}";
}

TEST(Csaf, ReadsVersionsInWordsBelowAProductThatStandsForTheVersion) {
  const auto tree = vendor(branch("architecture", "Linux(R595)",
                                  leaf("Tesla", "All driver versions prior to 595.71.05", "a") +
                                      "," + leaf("Tesla", "595.71.05", "b")) +
                           "," +
                           branch("architecture", "Windows(R595)",
                                  leaf("Tesla", "All driver versions prior to 596.36", "c") + "," +
                                      leaf("Tesla", "596.36", "d")));

  const auto advisory = parsed(document(
      tree,
      R"({"cve": "CVE-2026-1", "product_status": {"fixed": ["b", "d"], "known_affected": ["a", "c"]}})"));
  const auto import = floor_rows(advisory, {});

  EXPECT_EQ(advisory.id, "77");
  EXPECT_EQ(advisory.date, "2026-05-21");
  EXPECT_THAT(advisory.fixed, ElementsAre(FixedVersion{"Linux(R595) Tesla", "595.71.05"},
                                          FixedVersion{"Windows(R595) Tesla", "596.36"}));
  ASSERT_EQ(import.rows.size(), 1u);
  EXPECT_EQ(import.rows[0].component, "driver");
  EXPECT_EQ(import.rows[0].branch, "595");
  EXPECT_EQ(import.rows[0].at_least, "595.71.05");
  EXPECT_EQ(import.rows[0].advisory, "V 77");
  EXPECT_THAT(import.left_out, ElementsAre("Windows(R595) Tesla 596.36"));
}

TEST(Csaf, TakesTheLaterOfTwoVulnerabilitiesInAnyOrder) {
  const auto tree = vendor(branch(
      "product_name", "NVIDIA Container Toolkit",
      R"({"category": "product_version_range", "name": "<1.17.8", "product": {"name": "x", "product_id": "a"}},
         {"category": "product_version_range", "name": "vers:generic/>=1.0|<1.19.1", "product": {"name": "x", "product_id": "b"}})"));
  const std::string one = R"({"product_status": {"known_affected": ["a"]}})",
                    other = R"({"product_status": {"known_affected": ["b"]}})";

  for (const auto& both : {one + "," + other, other + "," + one})
    EXPECT_THAT(parsed(document(tree, both)).fixed,
                ElementsAre(FixedVersion{"NVIDIA Container Toolkit", "1.19.1"}));
}

TEST(Csaf, AVersionThatIsItselfAffectedIsNoFix) {
  const auto tree =
      vendor(branch("product_name", "DCGM",
                    leaf("DCGM", "0.0  to 4.8.2", "a") + "," + leaf("DCGM", "4.8.2", "b") + "," +
                        leaf("Other", "All versions up to and including 1.19.0", "c")));

  const auto advisory = parsed(
      document(tree, R"({"product_status": {"fixed": ["b"], "known_affected": ["a", "c"]}})"));

  EXPECT_THAT(advisory.fixed, IsEmpty());
  EXPECT_THAT(advisory.without_fix, ElementsAre("DCGM DCGM 4.8.2", "DCGM Other 1.19.0"));
}

TEST(Csaf, ReadsTheVersionOfAVendorFixOfTheProductsThatItNames) {
  const auto tree = vendor(branch(
      "product_name", "BMC",
      R"({"category": "product_version_range", "name": "vers:all/*", "product": {"name": "BMC", "product_id": "a"}})"));

  const auto fixed =
      parsed(document(tree, R"({"product_status": {"known_affected": ["a"]}, "remediations": [
      {"category": "workaround", "details": "Use 9.9.9 or later", "product_ids": ["a"]},
      {"category": "vendor_fix", "details": "Update to V2.9.2 or later version", "product_ids": ["a"]}]})"));

  EXPECT_THAT(fixed.fixed, ElementsAre(FixedVersion{"BMC", "2.9.2"}));
}

TEST(Csaf, FollowsRelationshipsToTheVersionOfTheComponent) {
  const std::string tree = R"({"full_product_names": [
      {"name": "runc 1.2.8", "product_id": "runc"}, {"name": "Linux", "product_id": "os"}],
      "relationships": [{"category": "default_component_of", "product_reference": "runc",
        "relates_to_product_reference": "os",
        "full_product_name": {"name": "runc of Linux", "product_id": "os:runc"}}]})";

  const auto advisory =
      parsed(document(tree, R"({"product_status": {"fixed": ["os:runc", "nothing", 7]}})"));

  EXPECT_THAT(advisory.fixed, ElementsAre(FixedVersion{"runc Linux", "1.2.8"}));
}

TEST(Csaf, RefusesWhatIsNoReleasedDocumentAndSaysAllReasons) {
  const auto none =
      parse_csaf(R"({"document": {"csaf_version": "2.1", "tracking": {"status": "draft"}}})");
  const auto list = parse_csaf("[1]");
  const auto cut = parse_csaf(R"({"document": )");

  ASSERT_FALSE(none || list || cut);
  EXPECT_THAT(none.error().what,
              AllOf(HasSubstr("document/csaf_version is not 2.0"),
                    HasSubstr("document/tracking/id is missing"),
                    HasSubstr("document/publisher/name is missing"),
                    HasSubstr("current_release_date is no date"), HasSubstr("it is a draft"),
                    HasSubstr("it has no vulnerabilities")));
  EXPECT_EQ(list.error().code, Code::kInvalid);
  EXPECT_EQ(cut.error().code, Code::kMalformed);
}

TEST(Csaf, RefusesMoreVersionsThanCanBeComparedInSeconds) {
  constexpr int kProducts = 70, kEach = 30;
  std::string leaves, ids;
  for (int product = 0; product < kProducts; ++product) {
    std::string range = "vers:x/";
    for (int i = 0; i < kEach; ++i)
      range += fmt::format("{}=1.{}", i == 0 ? "" : "|", 1000 + product * kEach + i);
    leaves += fmt::format(
        R"({}{{"category": "product_version_range", "name": "{}", "product": {{"name": "x", "product_id": "{}"}}}})",
        product == 0 ? "" : ",", range, product);
    ids += fmt::format(R"({}"{}")", product == 0 ? "" : ",", product);
  }
  const auto status = [](const std::string& fixed, const std::string& affected) {
    return fmt::format(R"({{"product_status": {{"fixed": [{}], "known_affected": [{}]}}}})", fixed,
                       affected);
  };
  const auto tree = vendor(branch("product_name", "P", leaves));

  const auto refused = parse_csaf(document(tree, status(ids, ids)));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_THAT(refused.error().what,
              HasSubstr("its fixed and affected versions make 4410000 pairs: at most 4000000"));
  EXPECT_THAT(parsed(document(tree, status(R"("0", "0", "0")", ""))).fixed,
              ::testing::SizeIs(kEach))
      << "a product that a list repeats counts once";
}

TEST(Csaf, ValuesOfOtherTypesAreAsAbsentAndControlCharactersGo) {
  const auto advisory = parsed(document(
      R"({"branches": [7, {"category": 3, "branches": "x"}, {"category": "product_name", "name": "run\u001bc",
          "product": {"name": "runc 1.2.8", "product_id": "a"}}]})",
      R"(null, {"product_status": []}, {"product_status": {"fixed": ["a"]}, "remediations": {}})"));

  EXPECT_THAT(advisory.fixed, ElementsAre(FixedVersion{"runc", "1.2.8"}));
}

TEST(Csaf, IsReadOrRefusedHoweverItWasDamaged) {
  const auto good =
      document(vendor(branch("architecture", "Linux(R595)", leaf("Tesla", "595.71.05", "a"))),
               R"({"product_status": {"fixed": ["a"]}})");
  std::mt19937 random{20261130};
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto advisory = parse_csaf(test::damaged(good, random));
    refused += advisory ? 0 : 1;
    if (!advisory) EXPECT_NE(advisory.error().what, "");
    for (const auto& each : advisory ? advisory->fixed : std::vector<FixedVersion>{}) {
      EXPECT_EQ(printable(each.product), each.product);
      EXPECT_LE(each.product.size(), 256u);
      EXPECT_TRUE(each.version.contains('.')) << each.version;
    }
  }
  EXPECT_GT(refused, 500) << "the damage does not reach what matters";
}

TEST(FloorRows, OfAChosenComponentAreThoseOfTheProductsThatFit) {
  const Advisory advisory{.id = "1",
                          .date = "2026-01-01",
                          .publisher = "Dell",
                          .fixed = {{"iDRAC9", "7.10.50.00"}, {"iDRAC8", "2.86.86.86"}}};

  const auto import =
      floor_rows(advisory, {.component = "bmc", .product = "*idrac9*", .models = {"*iDRAC9*"}});

  ASSERT_EQ(import.rows.size(), 1u);
  EXPECT_EQ(import.rows[0].component, "bmc");
  EXPECT_THAT(import.rows[0].models, ElementsAre("*iDRAC9*"));
  EXPECT_THAT(import.left_out, ElementsAre("iDRAC8 2.86.86.86"));
}

TEST(FloorRows, ALaterVersionRaisesTheFloorAndAnEarlierOneDoesNot) {
  const SecurityFloor floor{"ours",
                            {{.component = "driver", .branch = "595", .at_least = "595.58.03"},
                             {.component = "driver", .branch = "580", .at_least = "580.159.03"}}};

  const auto merge =
      merged(floor, {.rows = {{.component = "driver", .branch = "595", .at_least = "595.71.05"},
                              {.component = "driver", .branch = "580", .at_least = "580.65.06"},
                              {.component = "cuda", .branch = "13", .at_least = "13.1"}}});

  EXPECT_THAT(merge.changes,
              ElementsAre("driver 595: at least 595.71.05, was 595.58.03",
                          "driver 580: stays at 580.159.03, the advisory has 580.65.06",
                          "cuda 13: at least 13.1, new"));
  ASSERT_EQ(merge.floor.rows.size(), 3u);
  EXPECT_EQ(merge.floor.rows[0].component, "cuda");
  EXPECT_EQ(merge.floor.rows[1].at_least, "595.71.05");
}

TEST(FloorRows, GoToTheBranchThatTheFloorHas) {
  const SecurityFloor floor{"ours",
                            {{.component = "runc", .branch = "1.2", .at_least = "1.2.8"},
                             {.component = "runc", .branch = "1.3", .at_least = "1.3.6"}}};

  const auto merge =
      merged(floor, {.rows = {{.component = "runc", .branch = "1", .at_least = "1.2.9"}}});

  EXPECT_THAT(merge.changes, ElementsAre("runc 1.2: at least 1.2.9, was 1.2.8"));
  EXPECT_EQ(merge.floor.rows.size(), 2u);
}

TEST(FloorRows, EachFixedVersionGoesToItsBranchAndWhatGoesToNoneIsLeftOut) {
  const auto tree =
      vendor(branch("product_name", "runc",
                    leaf("1.2.9", "runc 1.2.9", "a") + "," + leaf("1.3.7", "runc 1.3.7", "b") +
                        "," + leaf("1.4.4", "runc 1.4.4", "c")));
  const auto import = floor_rows(
      parsed(document(tree, R"({"product_status": {"fixed": ["a", "c", "b", "a"]}})")), {});
  const SecurityFloor two{"ours",
                          {{.component = "runc", .branch = "1.2", .at_least = "1.2.8"},
                           {.component = "runc", .branch = "1.3", .at_least = "1.3.6"}}};

  EXPECT_THAT(merged(two, import).changes,
              ElementsAre("runc 1.2: at least 1.2.9, was 1.2.8",
                          "runc 1.3: at least 1.3.7, was 1.3.6", "runc 1: at least 1.4.4, new"));
  EXPECT_THAT(merged({}, import).left_out, ElementsAre("runc 1.2.9", "runc 1.3.7"));
}

TEST(FloorRows, ARowWhoseVersionIsAffectedWithoutAFixGoesWhereALaterOneTakesOver) {
  const SecurityFloor floor{"ours",
                            {{.component = "driver", .branch = "590", .at_least = "590.48.01"},
                             {.component = "driver", .branch = "595", .at_least = "595.71.05"}}};
  const FloorImport import{
      .unfixed = {{.component = "driver", .branch = "590", .at_least = "590.48.01"},
                  {.component = "driver", .branch = "595", .at_least = "595.80.01"}}};

  const auto merge = merged(floor, import);

  EXPECT_THAT(merge.changes,
              ElementsAre("driver 590: 590.48.01 is affected and has no fix: the row goes, and the "
                          "next later one counts",
                          "driver 595: 595.80.01 is affected and has no fix: the row stays, since "
                          "there is no later one"));
  ASSERT_EQ(merge.floor.rows.size(), 1u);
  EXPECT_EQ(merge.floor.rows[0].branch, "595");
}

TEST(FloorRows, OfConnectxAreWithoutTheChipsNumber) {
  const Advisory advisory{.fixed = {{"ConnectX-7", "28.46.3008"}, {"ConnectX-7", "1.2.3.4"}}};

  const auto import = floor_rows(advisory, {});

  ASSERT_EQ(import.rows.size(), 1u);
  EXPECT_EQ(import.rows[0].at_least, "46.3008");
  EXPECT_EQ(import.rows[0].branch, "46");
  EXPECT_THAT(import.left_out, ElementsAre("ConnectX-7 1.2.3.4"));
}

TEST(VersionWords, AreRangesAndSentences) {
  using enum VersionBound::Kind;
  const std::vector<std::pair<const char*, VersionBounds>> all{
      {"<V2.9.2", {{below, "2.9.2"}}},
      {"< V8.18.13", {{below, "8.18.13"}}},
      {"vers:intdot/>=4.0|<4.2.0", {{from, "4.0"}, {below, "4.2.0"}}},
      {"vers:intdot/<=4.2.0", {{up_to, "4.2.0"}}},
      {"vers:intdot/!=1.3|<1.4", {{below, "1.4"}}},
      {"!=1.3", {}},
      {"vers:all/*", {}},
      {"vers:", {}},
      {"46.3008 or newer", {{from, "46.3008"}}},
      {"24.10.50 or newer,", {{from, "24.10.50"}}},
      {"CUDA Toolkit 13.1", {{exact, "13.1"}}},
      {"595.71.05(vGPU 20.1)", {{exact, "595.71.05"}}},
      {"0.0  to 4.5.2", {{up_to, "4.5.2"}}},
      {"1.7.21 and older versions", {{up_to, "1.7.21"}}},
      {"All versions up to and including 1.19.0", {{up_to, "1.19.0"}}},
      {"All supported versions", {}},
      {"ConnectX-4", {}},
      {"1.", {}},
      {"", {}}};
  for (const auto& [text, bounds] : all) EXPECT_EQ(version_bounds(text), bounds) << text;
  EXPECT_EQ(version_to_update_to("From 1.2 on, update to v1.4.3 or later."), "1.4.3");
  EXPECT_EQ(version_to_update_to("Update to 1.4.3"), "");
}

}  // namespace
}  // namespace cupel::inventory
