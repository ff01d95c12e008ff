#include "bmc/redfish/survey.h"

#include <map>

#include "bmc/redfish/inventory.h"
#include "bmc/redfish/uri.h"
#include "tests/bmc/fixture.h"

namespace cupel::bmc::redfish {
namespace {

/// Documents by URI; anything else is an error of the kind that a test wants.
class FakeFetch final : public Fetch {
 public:
  Task<Result<json::value>> get(std::string uri, Deadline) override {
    asked.push_back(uri);
    const auto found = documents.find(uri);
    if (found == documents.end()) co_return Error{missing, "a01-n01: GET " + uri + ": HTTP 404: x"};
    co_return found->second;
  }
  std::map<std::string, json::value> documents;
  std::vector<std::string> asked;
  Code missing = Code::kNotFound;
};

json::value page_of(std::vector<std::string> members, std::string next = {}) {
  json::array list;
  for (const auto& uri : members) list.push_back(json::object{{"@odata.id", uri}});
  json::object page{{"Members", std::move(list)}};
  if (!next.empty()) page["Members@odata.nextLink"] = next;
  return page;
}

bool is_lost(const Document& one) { return one.body.is_null(); }

class SurveyOf : public ::testing::Test {
 protected:
  std::vector<std::string> links(std::string uri) {
    return run_to_end(io, survey.links(std::move(uri), "things"));
  }
  asio::io_context io;
  FakeFetch fetch;
  Observed seen;
  Survey survey{fetch, Deadline::in(60s), seen};
};

TEST_F(SurveyOf, PagesFollowsTheirNextLinks) {
  fetch.documents["/redfish/v1/C"] = page_of({"/redfish/v1/C/1"}, "/redfish/v1/C?$skip=1");
  fetch.documents["/redfish/v1/C?$skip=1"] = page_of({"/redfish/v1/C/2"});

  EXPECT_THAT(links("/redfish/v1/C"), ElementsAre("/redfish/v1/C/1", "/redfish/v1/C/2"));
}

TEST_F(SurveyOf, NamesAMemberThatItCannotReadWithoutItsControlCharacters) {
  std::ignore = run_to_end(io, survey.read_all({"/redfish/v1/C/\x1b[2J"}, "things"));

  ASSERT_EQ(seen.unknown.size(), 1u);
  EXPECT_THAT(seen.unknown[0].fact + seen.unknown[0].source, Not(HasSubstr("\x1b")));
}

TEST_F(SurveyOf, PagesThatGoInCirclesEnds) {
  fetch.documents["/redfish/v1/C"] = page_of({"/redfish/v1/C/1"}, "/redfish/v1/C?$skip=1");
  fetch.documents["/redfish/v1/C?$skip=1"] = page_of({"/redfish/v1/C/2"}, "/redfish/v1/C");

  EXPECT_THAT(links("/redfish/v1/C"), ElementsAre("/redfish/v1/C/1", "/redfish/v1/C/2"));
  EXPECT_EQ(fetch.asked.size(), 2u);
}

TEST_F(SurveyOf, PagesThatRepeatTheirMembersEnds) {
  fetch.documents["/redfish/v1/C"] = page_of({"/redfish/v1/C/1"}, "/redfish/v1/C?$skip=1");
  fetch.documents["/redfish/v1/C?$skip=1"] = page_of({"/redfish/v1/C/1/"}, "/redfish/v1/C?$skip=2");

  EXPECT_THAT(links("/redfish/v1/C"), ElementsAre("/redfish/v1/C/1"));
  EXPECT_EQ(fetch.asked.size(), 2u);
}

TEST_F(SurveyOf, MembersOffTheBmcIsNotAsked) {
  fetch.documents["/redfish/v1/C"] =
      page_of({"https://elsewhere.example/x", "/etc/passwd", "/redfish/v1/../x"});

  const auto members = run_to_end(io, survey.members("/redfish/v1/C", "thing"));

  EXPECT_TRUE(std::ranges::all_of(members, is_lost));
  EXPECT_THAT(fetch.asked, ElementsAre("/redfish/v1/C"));
  EXPECT_EQ(seen.unknown.size(), 3u);
}

TEST_F(SurveyOf, AMemberThatIsNotThereCostsThatOneAndKeepsItsPlace) {
  fetch.documents["/redfish/v1/C"] = page_of({"/redfish/v1/C/1", "/redfish/v1/C/2"});
  fetch.documents["/redfish/v1/C/2"] = json::object{{"Id", "2"}};

  const auto members = run_to_end(io, survey.members("/redfish/v1/C", "thing"));

  ASSERT_EQ(members.size(), 2u);
  EXPECT_TRUE(is_lost(members[0]));
  EXPECT_EQ(members[1].uri, "/redfish/v1/C/2");
  EXPECT_EQ(seen.unknown,
            (std::vector<inventory::Unknown>{{"thing 1", "/redfish/v1/C/1", "HTTP 404: x"}}));
}

TEST_F(SurveyOf, ABmcThatStoppedAnsweringIsNotAskedForEver) {
  fetch.missing = Code::kTimeout;
  std::vector<std::string> many;
  for (int i = 0; i < 50; ++i) many.push_back("/redfish/v1/C/" + std::to_string(i));
  fetch.documents["/redfish/v1/C"] = page_of(many);

  const auto members = run_to_end(io, survey.members("/redfish/v1/C", "thing"));

  EXPECT_TRUE(std::ranges::all_of(members, is_lost));
  EXPECT_LE(fetch.asked.size(), 5u);
  EXPECT_EQ(seen.unknown.size(), 50u);
}

TEST_F(SurveyOf, ACollectionThatListsNoMembersIsNoted) {
  // GB200: PostCode; a list that became a number; a page that counts more than it shows.
  fetch.documents["/redfish/v1/A"] = json::object{{"Members", nullptr}};
  fetch.documents["/redfish/v1/B"] = json::object{{"Members", 3}};
  auto page = page_of({"/redfish/v1/C/1"});
  page.as_object()["Members@odata.count"] = 5;
  fetch.documents["/redfish/v1/C"] = page;

  for (const auto* uri : {"/redfish/v1/A", "/redfish/v1/B", "/redfish/v1/C"}) links(uri);

  EXPECT_EQ(seen.unknown, (std::vector<inventory::Unknown>{
                              {"things", "/redfish/v1/A", "Members is null"},
                              {"things", "/redfish/v1/B", "lists no Members"},
                              {"things", "/redfish/v1/C", "fewer members than it counts"}}));
}

class Expanding : public SurveyOf {
 protected:
  Expanding() {
    const json::value root{
        {"ProtocolFeaturesSupported",
         {{"ExpandQuery", {{"NoLinks", true}, {"Levels", true}, {"MaxLevels", 1}}}}}};
    const json::value dell{{"Manufacturer", "Dell Inc."}};
    survey.follow(rules_for({.system = &dell}), root);
  }
  static constexpr const char* kQuestion = "/redfish/v1/C?$expand=.($levels=1)";
};

TEST_F(Expanding, ReadsAWholeCollectionInOneRequest) {
  const json::value one{{"@odata.id", "/redfish/v1/C/1"}, {"Id", "1"}, {"Name", "one"}};
  const json::value two{{"@odata.id", "/redfish/v1/C/2"}, {"Id", "2"}, {"Name", "two"}};
  fetch.documents[kQuestion] = json::object{{"Members", json::array{one, two}}};

  const auto members = run_to_end(io, survey.members("/redfish/v1/C", "thing"));

  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[1].body, two);
  EXPECT_THAT(fetch.asked, ElementsAre(kQuestion));
}

// AMI and others: members within an expanded list lack what they have alone.
TEST_F(Expanding, ReadsSinglyWhatCameWithoutItsRequiredProperties) {
  const json::value whole{{"@odata.id", "/redfish/v1/C/1"}, {"Id", "1"}, {"Name", "one"}};
  const json::value bare{{"@odata.id", "/redfish/v1/C/2"}, {"Id", "2"}};
  fetch.documents[kQuestion] = json::object{{"Members", json::array{whole, bare}}};
  fetch.documents["/redfish/v1/C/2"] = json::object{{"Id", "2"}, {"Name", "two"}, {"Model", "X"}};

  const auto members = run_to_end(io, survey.members("/redfish/v1/C", "thing"));

  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(reported(members[1].body, "Model"), "X");
  EXPECT_THAT(fetch.asked, ElementsAre(kQuestion, "/redfish/v1/C/2"));
}

TEST_F(Expanding, IsNotTriedAgainWhereItWasPromisedInVain) {
  fetch.documents["/redfish/v1/C"] = page_of({"/redfish/v1/C/1"});
  fetch.documents["/redfish/v1/C/1"] = json::object{{"Id", "1"}};

  for (int i = 0; i < 2; ++i) run_to_end(io, survey.members("/redfish/v1/C", "thing"));

  EXPECT_EQ(std::ranges::count(fetch.asked, kQuestion), 1);
  EXPECT_TRUE(seen.unknown.empty());
}

TEST_F(SurveyOf, VendorsThatAreNotTrustedWithItAreNotAskedToExpand) {
  const json::value root{{"Vendor", "AMI"},
                         {"ProtocolFeaturesSupported", {{"ExpandQuery", {{"NoLinks", true}}}}}};
  survey.follow(rules_for({.root = &root}), root);
  fetch.documents["/redfish/v1/C"] = page_of({});

  run_to_end(io, survey.members("/redfish/v1/C", "thing"));

  EXPECT_THAT(fetch.asked, ElementsAre("/redfish/v1/C"));
}

TEST(Sourced, IsNothingForTheManyWaysToSayNothing) {
  const json::value body{{"a", "N/A"},   {"b", " "}, {"c", "00000000000000"},
                         {"d", nullptr}, {"e", 5},   {"f", " MT2328XZ185R   "}};

  EXPECT_EQ(reported(body, "a") + reported(body, "b") + reported(body, "c") + reported(body, "d") +
                reported(body, "e") + reported(body, "absent"),
            "");
  EXPECT_EQ(reported(body, "f"), "MT2328XZ185R");
}

TEST(NaturalOrder, CountsNumbers) {
  std::vector<std::string> names{"GPU10", "GPU2", "GPU1", "GPU"};

  std::ranges::sort(names, natural_less);

  EXPECT_THAT(names, ElementsAre("GPU", "GPU1", "GPU2", "GPU10"));
}

TEST(Uri, StaysOnTheBmc) {
  EXPECT_TRUE(is_on_the_bmc("/redfish/v1/Systems/1"));
  EXPECT_TRUE(is_on_the_bmc("/Redfish/v1"));
  EXPECT_FALSE(is_on_the_bmc("https://elsewhere.example/redfish/v1"));
  EXPECT_FALSE(is_on_the_bmc("//elsewhere.example/redfish/v1"));
  EXPECT_FALSE(is_on_the_bmc("/redfish/../etc"));
  EXPECT_FALSE(is_on_the_bmc(""));
}

TEST(Uri, IsWrittenAsRfc3986Wants) {
  EXPECT_EQ(*url_path("/redfish/v1/Disk Bay#/0"), "/redfish/v1/Disk%20Bay");
  EXPECT_EQ(*url_path("/redfish/v1\r\nHost: x"), "/redfish/v1%0D%0AHost:%20x");
  EXPECT_EQ(url_path("redfish").error().code, Code::kInvalid);
}

Result<Machine> machine_with(FakeFetch& fetch, std::vector<std::string> systems) {
  asio::io_context io;
  Observed seen;
  Survey survey{fetch, Deadline::in(60s), seen};
  fetch.documents["/redfish/v1"] = json::object{{"Vendor", "AMI"}};
  fetch.documents["/redfish/v1/Systems"] = page_of(std::move(systems));
  return run_to_end(io, find_machine(survey));
}

json::value resettable(std::string target) {
  return {{"PowerState", "On"}, {"Actions", {{"#ComputerSystem.Reset", {{"target", target}}}}}};
}

TEST(FindingTheMachine, PassesOverCapabilitiesAndBaseboards) {
  FakeFetch fetch;
  fetch.documents["/redfish/v1/Systems/Capabilities"] = json::object{{"Name", "Capabilities"}};
  fetch.documents["/redfish/v1/Systems/HGX_Baseboard_0"] = json::object{{"PowerState", "On"}};
  fetch.documents["/redfish/v1/Systems/Self"] = resettable("/redfish/v1/Systems/Self/Actions/X");

  const auto machine =
      machine_with(fetch, {"/redfish/v1/Systems/Capabilities",
                           "/redfish/v1/Systems/HGX_Baseboard_0", "/redfish/v1/Systems/Self"});

  ASSERT_TRUE(machine) << machine.error().what;
  EXPECT_EQ(machine->system.uri, "/redfish/v1/Systems/Self");
  ASSERT_EQ(machine->baseboards.size(), 1u);
  EXPECT_EQ(machine->baseboards[0].uri, "/redfish/v1/Systems/HGX_Baseboard_0");
}

TEST(FindingTheMachine, DoesNotGuessBetweenTwo) {
  FakeFetch fetch;
  fetch.documents["/redfish/v1/Systems/1"] = resettable("/redfish/v1/Systems/1/Actions/X");
  fetch.documents["/redfish/v1/Systems/2"] = resettable("/redfish/v1/Systems/2/Actions/X");

  const auto machine = machine_with(fetch, {"/redfish/v1/Systems/1", "/redfish/v1/Systems/2"});

  EXPECT_EQ(machine.error().code, Code::kUnsupported);
}

TEST(Vendors, AreRecognizedByTheMachinesMakerBeforeTheBmcs) {
  const json::value root{{"Vendor", "AMI"}, {"Oem", {{"Ami", {}}}}};
  const json::value dgx{{"Manufacturer", "NVIDIA"}};

  EXPECT_EQ(rules_for({.root = &root, .system = &dgx}).vendor, "NVIDIA");
  EXPECT_EQ(rules_for({.root = &root}).vendor, "AMI");
}

TEST(Vendors, AreRecognizedByOemKeysWhereTheRootHasNoVendor) {
  const json::value root{{"Oem", {{"Supermicro", {}}}}};

  EXPECT_EQ(rules_for({.root = &root}).vendor, "Supermicro");
  EXPECT_EQ(rules_for({}).vendor, "");
}

TEST_F(SurveyOf, ReportsPagesBeyondTheLimitAsMissing) {
  const auto uri = [](int page) {
    return "/redfish/v1/C" + (page == 0 ? "" : "?$skip=" + std::to_string(page));
  };
  for (int page = 0; page < 500; ++page)
    fetch.documents[uri(page)] =
        page_of({"/redfish/v1/C/" + std::to_string(page)}, page < 499 ? uri(page + 1) : "");

  EXPECT_EQ(links("/redfish/v1/C").size(), 400u);
  ASSERT_EQ(seen.unknown.size(), 1u);
  EXPECT_EQ(seen.unknown[0].why, "more than 400 pages: the rest is not read");
}

}  // namespace
}  // namespace cupel::bmc::redfish
