// What the standard asks of every service, whoever made it: DSP0266 1.15 and DSP0268.
#include "tests/rehearsal/bmc_bench.h"
#include "tests/rehearsal/rack_bench.h"

namespace cupel::rehearsal {
namespace {

/// Everything that a service shows, found by following links.
class Walk {
 public:
  /// `get` gives the body of a URI, or fails the test.
  template <class Get>
  explicit Walk(Get get) {
    std::vector<std::string> next{kRoot};
    std::set<std::string> known{kRoot};
    while (!next.empty()) {
      const auto uri = std::exchange(next.back(), {});
      next.pop_back();
      auto body = parse_json(get(uri));
      EXPECT_TRUE(body) << uri;
      if (!body) continue;
      for (auto& link : links_in(*body))
        if (known.insert(link).second) next.push_back(std::move(link));
      all[uri] = std::move(*body);
    }
  }

  /// Without the fragment, which names a part of a resource (RFC 3986, 3.5), and a last slash.
  static std::string plain(std::string uri) {
    uri = uri.substr(0, uri.find('#'));
    while (uri.ends_with('/')) uri.pop_back();
    return uri;
  }

  std::map<std::string, json::value> all;

 private:
  static std::vector<std::string> links_in(const json::value& value) {
    std::vector<std::string> found;
    const auto add = [&](const json::value& part) {
      for (auto& link : links_in(part)) found.push_back(std::move(link));
    };
    if (const auto* array = value.if_array())
      for (const auto& each : *array) add(each);
    const auto* object = value.if_object();
    if (!object) return found;
    for (const auto& entry : *object) {
      const bool leads = entry.key() == "@odata.id" || entry.key() == "@Redfish.ActionInfo" ||
                         entry.key() == "Uri" || entry.key() == "DataSourceUri" ||
                         entry.key() == "Members@odata.nextLink";
      if (leads && entry.value().is_string())
        found.push_back(plain(std::string{entry.value().as_string()}));
      add(entry.value());
    }
    return found;
  }
};

void expect_good_resource(const std::string& uri, const json::value& body) {
  const auto own = Walk::plain(text_at(body, "@odata.id").value_or(""));
  EXPECT_EQ(own, uri.substr(0, uri.find('?')));
  const auto type = text_at(body, "@odata.type").value_or("");
  EXPECT_TRUE(type.starts_with('#')) << uri << ": " << type;
  EXPECT_TRUE(text_at(body, "Name")) << uri;
  const bool collection = find(body, "Members") != nullptr;
  if (!collection) EXPECT_TRUE(text_at(body, "Id")) << uri;
}

class BmcOf : public ::testing::TestWithParam<std::string> {
 protected:
  std::string get(const std::string& uri) {
    auto response = bmc.ask("GET", uri);
    if (response.status == 401) response = bmc.ask("GET", uri);  // an iLO's whim
    EXPECT_EQ(response.status, 200) << uri;
    return response.body;
  }
  Walk walk() {
    return Walk{[this](const std::string& uri) { return get(uri); }};
  }
  BmcBench bmc{GetParam()};
};

TEST_P(BmcOf, EveryLinkLeadsToAResourceThatIsWhatItSays) {
  bmc.boot();

  const auto seen = walk();

  for (const auto& [uri, body] : seen.all) expect_good_resource(uri, body);
  EXPECT_GT(seen.all.size(), 150);
}

TEST_P(BmcOf, EveryCollectionHasAsManyMembersAsItSays) {
  bmc.boot();

  for (const auto& [uri, body] : walk().all) {
    const auto count = number_at(body, "Members@odata.count");
    // DSP0266, "Members@odata.count": of the whole, on a later page too.
    if (!count || uri.contains('?')) continue;
    std::size_t members = 0;
    for (std::string page = uri; !page.empty();) {
      const auto some = parse_json(get(page));
      members += find(*some, "Members")->as_array().size();
      page = text_at(*some, "Members@odata.nextLink").value_or("");
    }
    EXPECT_EQ(static_cast<double>(members), *count) << uri;
  }
}

TEST_P(BmcOf, TheShortWayToAResourceLeadsToTheSameOne) {
  bmc.boot();
  bmc.pass(VirtualTime{300});  // until it is as warm as it gets

  auto all = resources(bmc.view());
  for (auto& [path, whole] : all) {
    auto same = resources_around(bmc.view(), path)[path];
    whole.erase("DateTime");  // the clock goes on
    same.erase("DateTime");
    EXPECT_EQ(json::serialize(same), json::serialize(whole)) << path;
  }
}

TEST_P(BmcOf, EveryActionSaysWhereItIsAndWhatItTakes) {
  const auto seen = walk();

  const auto& system = seen.all.at(bmc.view().system());
  const auto* reset = find(system, "Actions/#ComputerSystem.Reset");
  ASSERT_NE(reset, nullptr);
  const bool reported = find(*reset, "ResetType@Redfish.AllowableValues") != nullptr ||
                        find(*reset, "@Redfish.ActionInfo") != nullptr;
  EXPECT_TRUE(reported);
  for (const auto& [uri, body] : seen.all) {
    const auto* actions = find(body, "Actions");
    if (!actions) continue;
    for (const auto& action : actions->as_object()) {
      if (action.key() == "Oem") continue;
      const auto target = text_at(action.value(), "target").value_or("");
      // POST is what it takes: anything else is refused, and says so (DSP0266, 7.1).
      auto refused = bmc.ask("DELETE", target);
      if (refused.status == 401) refused = bmc.ask("DELETE", target);
      EXPECT_EQ(refused.status, 405) << target;
      EXPECT_EQ(refused.headers["Allow"], "POST") << target;
    }
  }
}

TEST_P(BmcOf, KnowsNobodyWithoutCredentials) {
  const auto refused = bmc.service.handle({"GET", bmc.view().system(), {}, {}});

  EXPECT_EQ(refused.status, 401);
  EXPECT_TRUE(refused.headers.contains("WWW-Authenticate"));
  EXPECT_EQ(bmc.service.handle({"GET", kRoot, {}, {}}).status, 200);
}

TEST_P(BmcOf, SensorsFollowThePower) {
  const auto reads = [&] {
    const bool legacy = bmc.view().layout().sensors == SensorStyle::legacy;
    const auto chassis = bmc.view().chassis();
    const auto body = parse_json(get(chassis + (legacy ? "/Thermal" : "/Sensors/TEMP_CPU0")));
    if (!legacy) return *find(*body, "Reading");
    return *find(find(*body, "Temperatures")->as_array()[1], "ReadingCelsius");
  };
  EXPECT_EQ(reads(), json::value(nullptr));

  bmc.boot();

  const auto warm = reads();
  ASSERT_TRUE(warm.is_number());
  EXPECT_GT(warm.to_number<double>(), 30);
}

INSTANTIATE_TEST_SUITE_P(Vendor, BmcOf, ::testing::ValuesIn(vendors()), test_name);

class BmcOverHttpsOf : public ::testing::TestWithParam<std::string> {};

TEST_P(BmcOverHttpsOf, ShowsTheSameToLibcurl) {
  auto spec = two_nodes();
  spec.nodes[0].bmc.vendor = GetParam();
  RackBench bench{spec, 1000};
  Browser browser{bench.node(0).bmc.endpoint};
  browser.log_in(bench.node(0));

  const Walk seen{[&](const std::string& uri) {
    auto fetched = browser.ask("GET", uri);
    if (fetched.status == 401) fetched = browser.ask("GET", uri);
    // An iLO cuts a connection that was kept: libcurl's next attempt opens another.
    if (fetched.failure != CURLE_OK) fetched = browser.ask("GET", uri);
    EXPECT_EQ(fetched.status, 200) << uri << ": " << curl_easy_strerror(fetched.failure);
    return fetched.body;
  }};

  for (const auto& [uri, body] : seen.all) expect_good_resource(uri, body);
  EXPECT_GT(seen.all.size(), 150);
}

INSTANTIATE_TEST_SUITE_P(Vendor, BmcOverHttpsOf, ::testing::ValuesIn(vendors()), test_name);

}  // namespace
}  // namespace cupel::rehearsal
