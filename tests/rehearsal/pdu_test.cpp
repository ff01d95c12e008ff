// The service of a rack PDU that switches outlets, on a loop of the test's own.
#include <fmt/format.h>

#include "rehearsal/pdu/service.h"
#include "rehearsal/rack_of_site.h"
#include "tests/rehearsal/rack_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPdu = "/redfish/v1/PowerEquipment/RackPDUs/1";
constexpr const char* kBasic = "Basic YWRtaW46c2VjcmV0";  // admin:secret

/// The first node's outlets as an inventory may name them.
inventory::Inventory with_outlets(const std::string& first, const std::string& second) {
  auto site = site_of(two_nodes_on_two_feeds());
  site.nodes[0].outlets = {first, second};
  site.nodes[1].outlets = {"A9", "A9"};
  return site;
}

/// Two nodes that are up, on two PDUs.
class PduBench : public RackLoop {
 public:
  explicit PduBench(std::vector<Fault> faults = {})
      : PduBench{site_of(two_nodes_on_two_feeds()), std::move(faults)} {}
  explicit PduBench(const inventory::Inventory& of, std::vector<Fault> faults = {})
      : RackLoop{1000},
        machine{io.get_executor(), clock, dgx(), "v01-n01", 1, BootTimes{}, std::move(faults)},
        other{io.get_executor(), clock, dgx(), "v01-n02", 1, BootTimes{}, {}},
        site{io.get_executor(), clock, of, 1},
        first{io.get_executor(), clock, site, "v01/p1", {"admin", "secret"}},
        second{io.get_executor(), clock, site, "v01/p2", {"admin", "secret"}} {
    site.join({&machine, &other});
    machine.press(Reset::on);
    other.press(Reset::on);
    run_until([this] { return machine.up() && other.up(); });
  }
  ~PduBench() {
    first.stop();
    second.stop();
    site.stop();
    machine.stop();
    other.stop();
    io.restart();
    io.run();
  }

  HttpResponse ask(PduService& pdu, std::string method, std::string target, std::string body = {}) {
    return pdu.handle({std::move(method), std::move(target), {{"authorization", kBasic}}, body});
  }
  json::object read(PduService& pdu, const std::string& target) {
    const auto body = parse_json(ask(pdu, "GET", target).body);
    return body && body->is_object() ? body->as_object() : json::object{};
  }
  std::string power_state(PduService& pdu, const std::string& outlet) {
    return text_at(read(pdu, kPdu + ("/" + outlet)), "PowerState").value_or("");
  }
  /// `outlet`: "Outlets/A1".
  int control(PduService& pdu, const std::string& outlet, std::string_view state) {
    const auto schema = outlet.substr(0, outlet.find('/') - 1);
    return ask(pdu, "POST", fmt::format("{}/{}/Actions/{}.PowerControl", kPdu, outlet, schema),
               fmt::format(R"({{"PowerState": "{}"}})", state))
        .status;
  }
  /// "101010": which of the first machine's supplies have input.
  std::string input() const {
    std::string all;
    for (const auto& psu : machine.hardware().psus)
      all += machine.physics().psu_has_input(psu.name) ? '1' : '0';
    return all;
  }

  Machine machine, other;
  RackSite site;
  PduService first, second;
};

std::vector<std::string> members(const json::object& collection) {
  std::vector<std::string> paths;
  if (const auto* all = collection.if_contains("Members"); all && all->is_array())
    for (const auto& one : all->as_array()) paths.push_back(text_at(one, "@odata.id").value_or(""));
  return paths;
}

std::string linked(const json::object& resource, std::string_view key) {
  return text_at(resource, std::string{key} + "/@odata.id").value_or("");
}

TEST(PduServiceTest, LeadsFromItsRootToEveryOutlet) {
  PduBench bench;
  auto& pdu = bench.first;

  const auto root = bench.read(pdu, "/redfish/v1");
  const auto equipment = bench.read(pdu, linked(root, "PowerEquipment"));
  const auto pdus = members(bench.read(pdu, linked(equipment, "RackPDUs")));
  ASSERT_THAT(pdus, ElementsAre(kPdu));
  const auto self = bench.read(pdu, pdus[0]);
  const auto outlets = members(bench.read(pdu, linked(self, "Outlets")));
  ASSERT_THAT(outlets, ElementsAre(HasSubstr("/Outlets/A1"), HasSubstr("/Outlets/A2")));
  const auto outlet = bench.read(pdu, outlets[0]);

  EXPECT_EQ(linked(root, "Links/Sessions"), "/redfish/v1/SessionService/Sessions");
  EXPECT_EQ(linked(root, "SessionService"), "/redfish/v1/SessionService");
  EXPECT_EQ(text_at(self, "EquipmentType"), "RackPDU");
  EXPECT_EQ(text_at(self, "Name"), "v01/p1");
  EXPECT_THAT(members(bench.read(pdu, linked(self, "OutletGroups"))), IsEmpty());
  EXPECT_EQ(text_at(outlet, "Id"), "A1");
  EXPECT_EQ(text_at(outlet, "PowerState"), "On");
  EXPECT_TRUE(outlet.at("PowerEnabled").as_bool());
  EXPECT_EQ(outlet.at("PowerCycleDelaySeconds").to_number<double>(), 30);
  EXPECT_NEAR(outlet.at("PowerWatts").at("Reading").to_number<double>(),
              bench.machine.physics().node_watts() / 2, 100);
  const auto& action = outlet.at("Actions").at("#Outlet.PowerControl");
  EXPECT_EQ(text_at(action, "target"), outlets[0] + "/Actions/Outlet.PowerControl");
  EXPECT_EQ(json::serialize(action.at("PowerState@Redfish.AllowableValues")),
            R"(["On","Off","PowerCycle"])");
}

TEST(PduServiceTest, AnOutletThatIsCycledComesBackByItself) {
  PduBench bench;
  const auto began = bench.clock.elapsed();

  const int status = bench.control(bench.first, "Outlets/A1", "PowerCycle");
  const auto off = bench.power_state(bench.first, "Outlets/A1"), input = bench.input();
  const auto neighbour = bench.power_state(bench.first, "Outlets/A2");
  ASSERT_TRUE(
      bench.run_until([&] { return bench.power_state(bench.first, "Outlets/A1") == "On"; }));

  EXPECT_EQ(status, 204);
  EXPECT_EQ(off, "Off");
  EXPECT_EQ(input, "010101");
  EXPECT_EQ(neighbour, "On");
  EXPECT_EQ(bench.input(), "111111");
  EXPECT_GE(bench.clock.elapsed() - began, VirtualTime{30});
  EXPECT_TRUE(bench.machine.up()) << "the other feed carried it";
}

TEST(PduServiceTest, AnOutletThatIsOffStaysOffUntilSomebodySwitchesItOn) {
  PduBench bench;

  bench.control(bench.second, "Outlets/A1", "PowerCycle");
  EXPECT_EQ(bench.control(bench.second, "Outlets/A1", "Off"), 204);
  bench.pass(VirtualTime{300});

  EXPECT_EQ(bench.power_state(bench.second, "Outlets/A1"), "Off");
  EXPECT_EQ(bench.input(), "101010");
  EXPECT_EQ(bench.control(bench.second, "Outlets/A1", "On"), 204);
  EXPECT_EQ(bench.input(), "111111");
}

TEST(PduServiceTest, BothFeedsOfAMachineAreItsPower) {
  PduBench bench;

  bench.control(bench.first, "Outlets/A1", "PowerCycle");
  bench.control(bench.second, "Outlets/A1", "PowerCycle");
  const bool dark = !bench.machine.mains();
  bench.pass(VirtualTime{60});

  EXPECT_TRUE(dark);
  EXPECT_TRUE(bench.machine.mains());
  EXPECT_EQ(bench.machine.power(), Power::off) << "nobody has pressed its button";
  EXPECT_TRUE(bench.other.up());
}

TEST(PduServiceTest, AGroupIsSwitchedAsOne) {
  PduBench bench{with_outlets("A1", "feed2")};
  const std::string group = std::string{kPdu} + "/OutletGroups/feed2";

  const auto self = bench.read(bench.second, kPdu);
  EXPECT_THAT(members(bench.read(bench.second, linked(self, "OutletGroups"))), ElementsAre(group));
  EXPECT_THAT(members(bench.read(bench.second, linked(self, "Outlets"))),
              ElementsAre(HasSubstr("/Outlets/A9")));
  const auto text = bench.read(bench.second, group);
  EXPECT_EQ(text_at(text, "Id"), "feed2");
  EXPECT_EQ(text_at(text.at("Actions").at("#OutletGroup.PowerControl"), "target"),
            group + "/Actions/OutletGroup.PowerControl");
  EXPECT_EQ(bench.control(bench.second, "OutletGroups/feed2", "PowerCycle"), 204);
  EXPECT_EQ(bench.input(), "101010");
  EXPECT_TRUE(bench.run_until([&] { return bench.input() == "111111"; }));
  EXPECT_EQ(bench.control(bench.second, "Outlets/feed2", "Off"), 404);
}

TEST(PduServiceTest, EachOutletOfAFeedTakesItsShareOfTheSupplies) {
  PduBench bench{with_outlets("A1+A2+A3", "feed2")};

  bench.control(bench.first, "Outlets/A1", "Off");
  EXPECT_EQ(bench.input(), "011111");
  bench.control(bench.first, "Outlets/A3", "Off");
  EXPECT_EQ(bench.input(), "011101");
  bench.control(bench.second, "OutletGroups/feed2", "Off");
  EXPECT_EQ(bench.input(), "001000");
  EXPECT_TRUE(bench.machine.up());
  bench.control(bench.first, "Outlets/A2", "Off");

  EXPECT_FALSE(bench.machine.mains());
}

TEST(PduServiceTest, CordsOnOneFeedHangOnTheFirstOutletAlone) {
  PduBench bench{std::vector<Fault>{{.kind = FaultKind::cords_on_one_feed}}};

  bench.control(bench.second, "Outlets/A1", "Off");
  EXPECT_EQ(bench.input(), "111111");
  bench.control(bench.first, "Outlets/A1", "PowerCycle");

  EXPECT_FALSE(bench.machine.mains());
  EXPECT_TRUE(bench.run_until([&] { return bench.machine.mains(); }));
}

TEST(PduServiceTest, AnOutletThatFeedsSomethingElseChangesNothing) {
  PduBench second{std::vector<Fault>{{.kind = FaultKind::outlet_elsewhere}}};
  PduBench first{std::vector<Fault>{{.kind = FaultKind::outlet_elsewhere, .number = 1}}};

  second.control(second.second, "Outlets/A1", "Off");
  first.control(first.first, "Outlets/A1", "Off");

  EXPECT_EQ(second.input(), "111111");
  EXPECT_EQ(first.input(), "111111");
  second.control(second.first, "Outlets/A1", "Off");
  EXPECT_EQ(second.input(), "010101");
}

TEST(PduServiceTest, SaysWhatIsWrongWithARequest) {
  PduBench bench;
  const std::string action = std::string{kPdu} + "/Outlets/A1/Actions/Outlet.PowerControl";
  const auto status = [&](const std::string& method, const std::string& path,
                          const std::string& body = {}) {
    return bench.ask(bench.first, method, path, body).status;
  };

  EXPECT_EQ(status("GET", std::string{kPdu} + "/Outlets/A7"), 404);
  EXPECT_EQ(bench.control(bench.first, "Outlets/A7", "Off"), 404);
  EXPECT_EQ(bench.control(bench.first, "Outlets/A1", "Cycle"), 400);
  EXPECT_EQ(status("POST", action, "{}"), 400);
  EXPECT_EQ(status("POST", action, "[1]"), 400);
  EXPECT_EQ(status("POST", action, "{"), 400);
  EXPECT_EQ(status("GET", action), 405);
  EXPECT_EQ(status("PATCH", std::string{kPdu} + "/Outlets/A1", "{}"), 405);
  EXPECT_EQ(status("GET", std::string{kPdu} + "/Outlets?$expand=."), 501);
  EXPECT_EQ(bench.power_state(bench.first, "Outlets/A1"), "On");
  EXPECT_THAT(bench.ask(bench.first, "POST", action, R"({"PowerState": "Cycle"})").body,
              HasSubstr("The value 'Cycle' for the parameter PowerState"));
}

TEST(PduServiceTest, IsForThoseWhoHaveLoggedIn) {
  PduBench bench;
  const auto ask = [&](std::string method, std::string path,
                       std::map<std::string, std::string> headers, std::string body = {}) {
    return bench.first.handle({std::move(method), std::move(path), std::move(headers), body});
  };
  const std::string sessions = "/redfish/v1/SessionService/Sessions";

  EXPECT_EQ(ask("GET", "/redfish/v1", {}).status, 200);
  EXPECT_EQ(ask("GET", kPdu, {}).status, 401);
  EXPECT_EQ(ask("GET", kPdu, {{"authorization", "Basic YWRtaW46d3Jvbmc="}}).status, 401);
  EXPECT_EQ(ask("POST", sessions, {}, R"({"UserName": "admin", "Password": "wrong"})").status, 401);
  EXPECT_EQ(ask("POST", sessions, {}, "{").status, 400);
  auto login = ask("POST", sessions, {}, R"({"UserName": "admin", "Password": "secret"})");
  ASSERT_EQ(login.status, 201);
  const auto token = login.headers.at("X-Auth-Token");
  EXPECT_EQ(ask("GET", kPdu, {{"x-auth-token", token}}).status, 200);
  EXPECT_EQ(ask("DELETE", login.headers.at("Location"), {{"x-auth-token", token}}).status, 204);
  EXPECT_EQ(ask("GET", kPdu, {{"x-auth-token", token}}).status, 401);
}

}  // namespace
}  // namespace cupel::rehearsal
