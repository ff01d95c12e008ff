// What DMTF asks of every service: DSP0266 1.15 (protocol) and DSP0268 (properties), walked over
// everything that every vendor's BMC shows. What real ones break, and so do ours, is named here.
#include <set>

#include "tests/rehearsal/bmc_bench.h"
#include "tests/rehearsal/redfish_rules.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A rule that this vendor's machines break: where, which one, and how many places.
struct Deviation {
  std::string_view vendor, what;
  std::size_t places;
  std::string_view why;
};
constexpr std::array<Deviation, 2> kDeviations{{
    {"dell", "no such type: #DellJobCollection", 1, "its queue is no JobService: its own type"},
    {"dell", "no such type: #DellJob.", 1, "the same"},
}};

class RulesOf : public ::testing::TestWithParam<std::string> {
 protected:
  HttpResponse get(const std::string& uri, std::map<std::string, std::string> headers = {}) {
    auto response = bmc.ask("GET", uri, {}, headers);
    if (response.status == 401) response = bmc.ask("GET", uri, {}, headers);  // an iLO's whim
    return response;
  }
  /// An update that goes on, so that there is a task.
  void update() {
    const auto& behavior = bmc.service.state().update_behavior;
    const std::string image = "virtual firmware\nHostBIOS_0 2.0\n";
    const json::object order{{"ImageURI", "https://r.example/HostBIOS_0_2.0.bin"},
                             {"TransferProtocol", "HTTPS"}};
    const auto taken = behavior.simple.empty()
                           ? bmc.ask("POST", std::string{behavior.push}, image)
                           : bmc.ask("POST", std::string{behavior.simple}, json::serialize(order));
    ASSERT_LT(taken.status, 300) << taken.body;
  }
  /// Diagnostic data, where the BMC collects any: a task and an entry.
  void collect_dumps() {
    for (const auto& row : dumps_of(bmc.view())) {
      json::object order{{"DiagnosticDataType", row.type}};
      if (!row.oem_types.empty()) order["OEMDiagnosticDataType"] = row.oem_types.front();
      const auto target = log_services_of(row) + "/Dump/Actions/LogService.CollectDiagnosticData";
      const auto taken = bmc.ask("POST", target, json::serialize(order));
      ASSERT_EQ(taken.status, 202) << taken.body;
      bmc.pass(row.takes);
    }
  }
  /// One of each kind: the same code answers for the others.
  ResourceTree of_each_kind() {
    ResourceTree some;
    std::set<std::string> known;
    for (auto& [path, whole] : resources(bmc.view()))
      if (known.insert(text_at(json::value(whole), "@odata.type").value_or("")).second)
        some[path] = std::move(whole);
    return some;
  }
  BmcBench bmc{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Vendor, RulesOf, ::testing::ValuesIn(vendors()), test_name);

TEST_P(RulesOf, EveryResourceKeepsItsSchema) {
  bmc.boot();
  collect_dumps();
  update();
  bmc.ask("POST", "/redfish/v1/EventService/Subscriptions",
          R"({"Destination":"https://10.0.0.1/x","Protocol":"Redfish"})");
  std::map<std::string_view, std::size_t> allowed;

  std::vector<std::string> complaints;
  for (const auto& [path, whole] : resources(bmc.view()))
    for (auto& complaint : complaints_about(path, whole)) {
      const auto deviation = std::ranges::find_if(kDeviations, [&](const Deviation& one) {
        return one.vendor == GetParam() && complaint.contains(one.what);
      });
      if (deviation == kDeviations.end())
        complaints.push_back(std::move(complaint));
      else
        ++allowed[deviation->what];
    }

  EXPECT_THAT(complaints, IsEmpty());
  for (const auto& one : kDeviations)
    if (one.vendor == GetParam()) EXPECT_GE(allowed[one.what], one.places) << one.why;
}

TEST_P(RulesOf, EveryAnswerSaysWhatMayBeDoneAndWhereItsSchemaIs) {
  for (const auto& [path, whole] : of_each_kind()) {
    const auto response = get(path);
    ASSERT_EQ(response.status, 200) << path;

    // An iDRAC takes images where its inventory is (HttpPushUri).
    const bool pushes = path == bmc.service.state().update_behavior.push;
    const auto complaints = complaints_about_methods(path, whole, response.headers.at("Allow"));
    EXPECT_EQ(complaints.size(), pushes ? 1 : 0) << ::testing::PrintToString(complaints);
    EXPECT_THAT(response.headers.at("Link"), HasSubstr("rel=describedby"));
    EXPECT_EQ(response.headers.at("OData-Version"), "4.0");
    EXPECT_EQ(response.headers.at("Cache-Control"), "no-cache");
  }
}

TEST_P(RulesOf, WhatAllowDoesNotGrantIsRefused) {
  for (const auto& [path, whole] : of_each_kind()) {
    const auto allow = get(path).headers["Allow"];
    for (const auto* method : {"PATCH", "DELETE"}) {
      if (allow.contains(method)) continue;
      auto refused = bmc.ask(method, path, "{}");
      if (refused.status == 401) refused = bmc.ask(method, path, "{}");
      EXPECT_EQ(refused.status, 405) << method << " " << path;
    }
  }
}

TEST_P(RulesOf, TheODataDocumentsAreThereForEverybody) {
  const auto metadata = bmc.service.handle({"GET", "/redfish/v1/$metadata", {}, {}});
  const auto odata = bmc.service.handle({"GET", "/redfish/v1/odata", {}, {}});
  const auto version = bmc.service.handle({"GET", "/redfish", {}, {}});

  EXPECT_EQ(metadata.headers.at("Content-Type"), "application/xml");
  EXPECT_THAT(metadata.body, HasSubstr("Namespace=\"ServiceRoot.v1_13_0\""));
  EXPECT_THAT(metadata.body, HasSubstr("Extends=\"ServiceRoot.v1_13_0.ServiceContainer\""));
  EXPECT_EQ(*parse_json(version.body), (json::object{{"v1", "/redfish/v1/"}}));
  const auto document = parse_json(odata.body);
  EXPECT_EQ(text_at(*document, "@odata.context"), "/redfish/v1/$metadata");
  const auto& all = find(*document, "value")->as_array();
  EXPECT_GT(all.size(), 8);
  for (const auto& one : all) {
    const auto uri = text_at(one, "url").value_or("");
    EXPECT_EQ(get(uri).status, 200) << uri;
  }
}

TEST_P(RulesOf, AnotherVersionOfODataIsRefused) {
  EXPECT_EQ(get("/redfish/v1", {{"odata-version", "4.0"}}).status, 200);
  EXPECT_EQ(get("/redfish/v1", {{"odata-version", "4.8"}}).status, 412);
}

TEST_P(RulesOf, APostToTheMembersIsOneToTheCollection) {
  const auto body = R"({"UserName":"admin","Password":"Open-sesame-1234"})";

  EXPECT_EQ(
      bmc.service.handle({"POST", "/redfish/v1/SessionService/Sessions/Members", {}, body}).status,
      201);
}

TEST_P(RulesOf, APatchLeavesODatasPropertiesOutAndTakesArraysElementByElement) {
  const auto path = bmc.view().manager() + "/NetworkProtocol";
  const auto patch = [&](const std::string& body) {
    // One more than may be refused by an XCC's whim or an iLO's.
    auto response = bmc.ask("PATCH", path, body);
    for (int i = 0; i < 2 && (response.status == 412 || response.status == 401); ++i)
      response = bmc.ask("PATCH", path, body);
    return response;
  };

  EXPECT_LT(patch(R"({"@odata.id":"/x","NTP":{"NTPServers":["a","b","c"]}})").status, 300);
  EXPECT_LT(patch(R"({"NTP":{"NTPServers":[{},null,"d"]}})").status, 300);
  EXPECT_EQ(patch(R"({"@odata.id":"/x"})").status, 400);

  EXPECT_EQ(get(path).status, 200);
  EXPECT_EQ(bmc.service.state().ntp_servers, (std::vector<std::string>{"a", "d"}));
}

TEST(RulesTest, FindWhatIsWrong) {
  const auto wrong = [](std::string_view text) {
    return complaints_about("/x", *parse_json(text));
  };

  EXPECT_THAT(wrong(R"({"@odata.type":"#Role.v1_3_0.Role","Id":"a","Name":"b","RoleId":"a"})"),
              IsEmpty());
  EXPECT_THAT(wrong(R"({"Id":"a"})"), ::testing::ElementsAre(HasSubstr("no @odata.type")));
  EXPECT_THAT(wrong(R"({"@odata.type":"#Role.v9_9_9.Role","Id":"a","Name":"b","RoleId":"a"})"),
              ::testing::ElementsAre(HasSubstr("no such version")));
  EXPECT_THAT(wrong(R"({"@odata.type":"#Role.v1_3_0.Role","Id":"a","RoleId":"a","Frob":1})"),
              ::testing::ElementsAre(HasSubstr("lacks Name"), HasSubstr("no such property")));
  EXPECT_THAT(wrong(R"({"@odata.type":"#Role.v1_3_0.Role","Id":1,"Name":null,"RoleId":"a"})"),
              ::testing::ElementsAre(HasSubstr("Id: is no string"), HasSubstr("must not be null")));
  EXPECT_THAT(
      wrong(
          R"({"@odata.type":"#Memory.v1_8_0.Memory","Id":"1","Name":"b","MemoryDeviceType":"DDR5"})"),
      ::testing::Contains(HasSubstr("'DDR5' came later")));
  EXPECT_THAT(wrong(R"({"@odata.type":"#Memory.v1_11_0.Memory","Id":"1","Name":"b",
                        "MemoryType":"Cheese"})"),
              ::testing::ElementsAre(HasSubstr("'Cheese' is none of its words")));
}

}  // namespace
}  // namespace cupel::rehearsal
