#include "rehearsal/rules.h"

#include "rehearsal/scenario.h"
#include "tests/rehearsal/rack_bench.h"
#include "tests/support/virtual_bmc.h"

namespace cupel::rehearsal {
namespace {
using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(Rules, AreTakenInTheirOrderAndLatenciesBesides) {
  RuleSet rules{"1/n1"};
  rules.add({.path = "*", .times = 0, .late = milliseconds{5}});
  rules.add({.method = "GET", .path = "/a/*", .does = Does::status, .status = 500});
  rules.add({.path = "/a/*", .does = Does::drop, .skip = 1});

  const auto first = rules.meet("GET", "/a/b");
  const auto second = rules.meet("GET", "/a/b");
  const auto third = rules.meet("GET", "/a/b");

  ASSERT_NE(first.rule, nullptr);
  EXPECT_EQ(first.rule->status, 500);
  EXPECT_EQ(first.late, milliseconds{5});
  EXPECT_EQ(second.rule, nullptr) << "the third rule lets one pass";
  ASSERT_NE(third.rule, nullptr);
  EXPECT_EQ(third.rule->does, Does::drop);
  EXPECT_EQ(rules.used(), 5u);
}

TEST(Rules, DrawTheSameJitterForTheSameSeed) {
  const auto draws = [](const std::string& seed) {
    RuleSet rules{seed};
    rules.add({.times = 0, .late = milliseconds{100}, .jitter = milliseconds{900}});
    std::vector<milliseconds> all;
    for (int i = 0; i < 20; ++i) all.push_back(rules.meet("GET", "/").late);
    return all;
  };

  const auto one = draws("1/n1");

  EXPECT_EQ(one, draws("1/n1"));
  EXPECT_NE(one, draws("1/n2"));
  EXPECT_GE(std::ranges::min(one), milliseconds{100});
  EXPECT_LE(std::ranges::max(one), milliseconds{1000});
  EXPECT_GT(std::ranges::max(one) - std::ranges::min(one), milliseconds{300});
}

TEST(Rules, ChangeAResourceWhereverItIsShown) {
  RuleSet rules{"1/n1"};
  rules.add({.odata_id = "/redfish/v1/Chassis/1",
             .does = Does::merge,
             .times = 0,
             .merge = {{"Model", "X"}}});
  auto expanded = *parse_json(R"({"@odata.id": "/redfish/v1/Chassis", "Members": [
      {"@odata.id": "/redfish/v1/Chassis/1/", "Model": "A"},
      {"@odata.id": "/redfish/v1/Chassis/2", "Model": "B"}],
      "Link": {"@odata.id": "/redfish/v1/Chassis/1"}})");

  EXPECT_TRUE(rules.change_inside("GET", "/redfish/v1/Chassis", expanded));

  EXPECT_EQ(text_at(expanded.at("Members").at(0), "Model"), "X");
  EXPECT_EQ(text_at(expanded.at("Members").at(1), "Model"), "B");
  EXPECT_EQ(expanded.at("Link").as_object().size(), 1u) << "a link is not the resource";
  EXPECT_NE(rules.meet("GET", "/redfish/v1/Chassis/1").rule, nullptr);
}

TEST(Rules, AreBoundedAndMakeRoomWhenTheyAreUsedUp) {
  RuleSet rules{"1/n1"};
  for (std::size_t i = 0; i < RuleSet::kMost; ++i) EXPECT_TRUE(rules.add({.path = "/x"}));

  EXPECT_FALSE(rules.add({.path = "/y"}));
  (void)rules.meet("GET", "/x");

  EXPECT_TRUE(rules.add({.path = "/y"}));
}

TEST(RulesOnTheWire, SwallowBreakOffAndReplace) {
  test::VirtualBmc bmc{"dgx"};
  Browser browser{bmc.endpoint()};
  bmc.misbehave({.path = "/redfish/v1", .does = Does::truncate, .bytes = 10});
  const auto broken = browser.ask("GET", "/redfish/v1");
  bmc.misbehave({.path = "/redfish/v1", .does = Does::replace, .body = "[]"});
  const auto other = browser.ask("GET", "/redfish/v1");
  bmc.misbehave({.path = "/redfish/v1", .does = Does::black_hole});
  const auto heard = [&] {
    return bmc.on([](auto&, BmcService& service) { return service.requests(); });
  };
  const auto before = heard();

  Fetched silent;
  for (browser.patience_ms = 300; heard() == before && browser.patience_ms < 60'000;
       browser.patience_ms *= 4)
    silent = browser.ask("GET", "/redfish/v1");

  EXPECT_EQ(broken.failure, CURLE_PARTIAL_FILE);
  EXPECT_EQ(broken.body.size(), 10u);
  EXPECT_EQ(other.status, 200);
  EXPECT_EQ(other.body, "[]");
  EXPECT_EQ(silent.failure, CURLE_OPERATION_TIMEDOUT);
  EXPECT_EQ(silent.status, 0);
  browser.patience_ms = 60'000;
  EXPECT_EQ(browser.ask("GET", "/redfish/v1").status, 200) << "only that request was swallowed";
}

TEST(RulesOnTheWire, CanCarryOutWhatTheyDeny) {
  test::VirtualBmc bmc{"dgx"};
  Browser browser{bmc.endpoint()};
  bmc.misbehave({.method = "POST",
                 .path = "*/SessionService/Sessions",
                 .does = Does::status,
                 .status = 500,
                 .effect = true});

  const auto denied = browser.ask(
      "POST", "/redfish/v1/SessionService/Sessions",
      json::serialize(json::object{{"UserName", bmc.user()}, {"Password", bmc.password()}}));

  EXPECT_EQ(denied.status, 500);
  EXPECT_EQ(bmc.on([](auto&, BmcService& service) { return service.open_sessions(); }), 1u);
}

TEST(RulesOfARack, CanBeGivenWhileItStands) {
  RackBench bench;
  Browser browser{bench.node(1).bmc.endpoint};

  EXPECT_TRUE(bench.rack->misbehave("v01-n02",
                                    {.path = "/redfish/v1", .does = Does::status, .status = 418}));
  EXPECT_FALSE(bench.rack->misbehave("v01-n99", {}));

  EXPECT_EQ(browser.ask("GET", "/redfish/v1").status, 418);
  EXPECT_EQ(browser.ask("GET", "/redfish/v1").status, 200);
}

RackSpec three_nodes() {
  RackSpec rack{.name = "v01", .profile = "dgx-h100"};
  for (const auto* name : {"v01-n01", "v01-n02", "v01-n03"})
    rack.nodes.push_back({.name = name, .bmc_address = {}, .ssh_address = {}});
  rack.profiles.emplace("dgx-h100", dgx());
  return rack;
}

TEST(Scenario, GivesRulesFaultsTimesSpeedAndSeed) {
  auto rack = three_nodes();
  std::vector<inventory::Problem> problems;

  const auto good = parse_scenario(R"(description: as an example
speed: 1440
seed: 7
spread: {shape: student-t}
boot: {post: 10m}
bmcs: {vendor: dell, but: [{nodes: v01-n03, vendor: hpe}]}
faults: [{node: v01-n02, fault: boot-hangs}]
rules:
  - {nodes: "v01-n[01-02]", method: GET, path: "*/Systems/*", do: merge, times: 3, skip: 1,
     merge: {PowerState: null, Count: 3, Text: "3", Flag: true, List: [a, 1.5]}}
  - {odata_id: /redfish/v1/Chassis/1, do: status, status: 503, effect: true, late: 200ms,
     jitter: 2s, headers: {Retry-After: 9}, body: {a: 1}}
)",
                                   "s.yaml", rack, problems);

  ASSERT_TRUE(good) << to_string(problems);
  EXPECT_EQ(rack.speed, 1440);
  EXPECT_EQ(rack.seed, 7u);
  EXPECT_EQ(rack.spread, SpreadShape::student_t);
  EXPECT_EQ(rack.boot.post, VirtualTime{600});
  EXPECT_EQ(rack.nodes[0].bmc.vendor, "dell");
  EXPECT_EQ(rack.nodes[2].bmc.vendor, "hpe");
  EXPECT_EQ(rack.nodes[1].faults.size(), 1u);
  const Rule status{.odata_id = "/redfish/v1/Chassis/1",
                    .does = Does::status,
                    .times = 0,
                    .status = 503,
                    .body = R"({"a":1})",
                    .headers = {{"Retry-After", "9"}},
                    .effect = true,
                    .late = milliseconds{200},
                    .jitter = milliseconds{2000}};
  EXPECT_EQ(rack.nodes[2].rules, std::vector{status});
  ASSERT_EQ(rack.nodes[0].rules.size(), 2u);
  EXPECT_EQ(json::serialize(rack.nodes[0].rules[0].merge),
            R"({"PowerState":null,"Count":3,"Text":"3","Flag":true,"List":["a",1.5E0]})");
  EXPECT_EQ(rack.nodes[0].rules[0].skip, 1);
}

TEST(Scenario, SaysAllErrorsAtOnceWithTheirPlace) {
  auto rack = three_nodes();
  std::vector<inventory::Problem> problems;

  const auto good = parse_scenario(R"(sped: 3
speed: 0
seed: -1
rules:
  - {path: /x, do: explode}
  - {do: drop}
  - {path: x, do: status}
  - {path: /x, odata_id: /x, do: merge, merge: [1]}
  - {nodes: v01-n09, path: /x, do: drop}
  - {path: /x, do: latency, late: 2days, jiter: 3s}
  - {path: /x, method: get, do: truncate, bytes: -1, status: 3}
)",
                                   "s.yaml", rack, problems);

  EXPECT_FALSE(good);
  const auto text = to_string(problems);
  for (const auto line :
       {"s.yaml:1:1: unknown key 'sped' in scenario (did you mean 'speed'?)",
        "s.yaml:2:8: speed must be 0.1 to 100000", "s.yaml:3:7: seed must be",
        "s.yaml:5:20: no rule does 'explode'",
        "s.yaml:6:5: rule needs path or odata_id, one of them",
        "s.yaml:7:12: path must begin with / or *", "s.yaml:7:5: rule status needs status",
        "s.yaml:8:5: rule needs path or odata_id, one of them", "s.yaml:8:48: merge must be a map",
        "s.yaml:9:13: there is no node 'v01-n09'",
        "s.yaml:10:35: late must be a duration such as 200ms",
        "s.yaml:10:42: unknown key 'jiter' in rule (did you mean 'jitter'?)",
        "s.yaml:11:24: method must be one such as GET",
        "s.yaml:11:50: bytes must be a whole number", "unknown key 'status' in rule"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Scenario, ListsTheShapesWhereOneIsUnknown) {
  auto rack = three_nodes();
  std::vector<inventory::Problem> problems;

  const auto good = parse_scenario("spread: {shape: round}\n", "s.yaml", rack, problems);

  EXPECT_FALSE(good);
  EXPECT_EQ(rack.spread, SpreadShape::normal);
  EXPECT_THAT(to_string(problems),
              HasSubstr("shape must be one of normal, gamma, exponential, laplace, student-t, "
                        "bimodal, uniform"));
}

TEST(Scenario, HasNoHeaderOfTwoLines) {
  auto rack = three_nodes();
  std::vector<inventory::Problem> problems;

  const auto good = parse_scenario(R"(description: a second header in the first
rules:
  - {path: /x, do: status, status: 200, headers: {A: "b\r\nC: d"}}
)",
                                   "s.yaml", rack, problems);

  EXPECT_FALSE(good);
  EXPECT_EQ(to_string(problems), "s.yaml:3:54: a text with the control character U+000D\n");
}

}  // namespace
}  // namespace cupel::rehearsal
