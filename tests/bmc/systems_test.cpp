// BMCs with several Systems, as those of HPE's Cray EX blades, and with none.
#include "bmc/power.h"
#include "tests/bmc/acting.h"
#include "tests/bmc/reading.h"

namespace cupel::bmc {
namespace {

constexpr std::array kNodes{"Node1", "Node0"};
constexpr const char* kChassisList = "/redfish/v1/Chassis";

std::string system_uri(const std::string& node) { return "/redfish/v1/Systems/" + node; }
std::string chassis_uri(const std::string& name) { return std::string{kChassisList} + "/" + name; }

json::value system_of(const std::string& node) {
  const auto uri = system_uri(node);
  return json::object{
      {"@odata.id", uri},
      {"Manufacturer", "HPE"},
      {"Model", "HPE Cray EX235n"},
      {"SerialNumber", "serial of " + node},
      {"PowerState", "On"},
      {"Boot", {{"BootSourceOverrideEnabled", "Disabled"}, {"BootSourceOverrideTarget", "None"}}},
      {"Actions",
       {{"#ComputerSystem.Reset",
         {{"target", uri + "/Actions/ComputerSystem.Reset"},
          {"ResetType@Redfish.AllowableValues", {"On", "ForceOff"}}}}}}};
}

/// Links lead from no System to a chassis or a manager, as in the captures; the first manager is a
/// mezzanine's.
std::map<std::string, json::value> blade() {
  std::map<std::string, json::value> all;
  const auto managers = std::string{"/redfish/v1/Managers"};
  all["/redfish/v1/Systems"] = list_of({system_uri("Node1"), system_uri("Node0")});
  for (const auto* node : kNodes) {
    all[system_uri(node)] = system_of(node);
    all[chassis_uri(node)] =
        json::object{{"ChassisType", "Blade"}, {"@odata.id", chassis_uri(node)}};
  }
  all[chassis_uri("Mezz0")] = json::object{{"ChassisType", "Card"}};
  all[kChassisList] = list_of({chassis_uri("Node0"), chassis_uri("Node1"), chassis_uri("Mezz0")});
  all[managers] = list_of({managers + "/MCU0", managers + "/BMC"});
  all[managers + "/MCU0"] = json::object{{"ManagerType", "AuxiliaryController"}};
  all[managers + "/BMC"] =
      json::object{{"ManagerType", "EnclosureManager"},
                   {"FirmwareVersion", "nc.1.10.1"},
                   {"Actions",
                    {{"#Manager.Reset",
                      {{"target", managers + "/BMC/Actions/Manager.Reset"},
                       {"ResetType@Redfish.AllowableValues", {"ForceRestart"}}}}}}};
  return all;
}

class SeveralSystems : public ReadingTree {
 protected:
  SeveralSystems() {
    for (auto& [uri, body] : blade()) tree.documents[uri] = body;
    tree.documents.erase(kSystem);
    at(kRoot).erase("Links");
  }
};

TEST_F(SeveralSystems, AreListedWithTheLineToWriteWhereTheInventoryNamesNone) {
  const auto seen = read();

  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, Code::kUnsupported);
  EXPECT_EQ(seen.error().what,
            "this BMC has several Systems (Node0, Node1): write in the inventory which one this "
            "node is, bmc: {system: Node0}");
}

TEST_F(SeveralSystems, AreReadOneForEachNodeWithItsOwnChassis) {
  for (const auto* node : kNodes) {
    tree.requested = node;

    const auto seen = inventory();

    EXPECT_EQ(seen.identity.serial, std::string{"serial of "} + node);
    EXPECT_TRUE(is_unknown(seen.unknown, "chassis Mezz0"));
    EXPECT_FALSE(is_unknown(seen.unknown, "chassis Node0"));
  }
}

TEST_F(SeveralSystems, AreFoundHoweverManyThereAre) {
  std::vector<std::string> uris;
  for (int number = 0; number < 200; ++number) {
    const auto name = "Node" + std::to_string(number);
    uris.push_back(system_uri(name));
    tree.documents[system_uri(name)] = system_of(name);
  }
  const auto second = std::string{kSystems} + "?$skip=120";
  tree.documents[second] = list_of({uris.begin() + 120, uris.end()});
  tree.documents[kSystems] = list_of({uris.begin(), uris.begin() + 120});
  at(kSystems)["Members@odata.nextLink"] = second;

  for (const auto* node : {"Node20", "Node199"}) {
    tree.requested = node;
    const auto seen = inventory();
    EXPECT_EQ(seen.identity.serial, std::string{"serial of "} + node);
    EXPECT_TRUE(is_unknown(seen.unknown, "more systems")) << "a limit is said";
  }
}

TEST_F(SeveralSystems, OfWhichAnotherNodesIsLostHideNothingOfThisOne) {
  tree.requested = "Node0";
  tree.documents.erase(system_uri("Node1"));

  const auto seen = inventory();

  EXPECT_TRUE(is_unknown(seen.unknown, "system Node1"));
  for (const auto& each : seen.partial) EXPECT_NE(each.source, system_uri("Node1"));
  EXPECT_TRUE(is_unknown(seen.unknown, "chassis Mezz0")) << "still several nodes";
}

TEST_F(SeveralSystems, AreNotMergedWhereNoneCanBeTurnedOn) {
  for (const auto* node : kNodes) at(system_uri(node)).erase("Actions");

  const auto seen = read();

  ASSERT_FALSE(seen);
  EXPECT_THAT(seen.error().what, HasSubstr("this BMC has several Systems (Node0, Node1)"));
}

TEST_F(SeveralSystems, OfWhichOneIsABaseboardAreOneMachineThatCannotBeTurnedOn) {
  const std::string board = "/redfish/v1/Systems/HGX_Baseboard_0";
  for (const auto* node : kNodes) at(system_uri(node)).erase("Actions");
  tree.documents[board] = json::object{{"PowerState", "On"}};
  tree.documents[kSystems] = list_of({board, system_uri("Node0")});

  EXPECT_EQ(inventory().identity.serial, "serial of Node0");
}

/// A Quanta: its list of Systems is 404, and its chassis links to the one that there is.
TEST_F(SeveralSystems, OfABmcWithoutAListAreThoseOfItsChassis) {
  tree.documents.erase(kSystems);
  at(chassis_uri("Node0"))["Links"] =
      json::object{{"ComputerSystems", json::array{link_to(system_uri("Node0"))}}};

  const auto seen = inventory();

  EXPECT_EQ(seen.identity.serial, "serial of Node0");
  EXPECT_TRUE(is_unknown(seen.unknown, "the list of systems"));
}

TEST_F(SeveralSystems, ReportChassisBeyondTheLimitAsMissing) {
  tree.documents.erase(kSystems);
  at(chassis_uri("Node0"))["Links"] =
      json::object{{"ComputerSystems", json::array{link_to(system_uri("Node0"))}}};
  std::vector<std::string> chassis{chassis_uri("Node0")};
  for (int number = 100; number < 115; ++number) {
    chassis.push_back(chassis_uri("Shelf" + std::to_string(number)));
    tree.documents[chassis.back()] = json::object{{"ChassisType", "Shelf"}};
  }
  tree.documents["/redfish/v1/Chassis"] = list_of(chassis);
  EXPECT_FALSE(is_unknown(inventory().unknown, "more systems")) << "16 are asked";

  chassis.push_back(chassis_uri("Node1"));
  tree.documents["/redfish/v1/Chassis"] = list_of(chassis);
  const auto seen = inventory();

  EXPECT_EQ(seen.identity.serial, "serial of Node0");
  EXPECT_TRUE(is_unknown(seen.unknown, "more systems"));
  EXPECT_NE(inventory::partial_list(seen.partial, inventory::PartKind::cpu), nullptr);
}

TEST_F(SeveralSystems, AreListedWhereTheNamedOneIsNotAmongThem) {
  tree.requested = "Node7";

  const auto seen = read();

  EXPECT_EQ(seen.error().code, Code::kInvalid);
  EXPECT_THAT(seen.error().what, HasSubstr("no System 'Node7'"));
  EXPECT_THAT(seen.error().what, HasSubstr("it has: Node0, Node1"));
}

TEST_F(SeveralSystems, AreNotMixedUpWhereTheNamedOneCannotBeRead) {
  tree.requested = "Node0";
  tree.errors.emplace(system_uri("Node0"), Error{Code::kFailed, "HTTP 500"});

  const auto seen = inventory();

  EXPECT_EQ(seen.identity.serial, "");
  EXPECT_EQ(seen.power, PowerState::unknown);
}

TEST_F(SeveralSystems, HaveTheBmcForTheirManagerAndNoControllerBesideIt) {
  tree.requested = "Node0";
  EXPECT_EQ(inventory().identity.bmc_version, "nc.1.10.1");

  const std::string managers = "/redfish/v1/Managers";
  at(system_uri("Node0"))["Links"] = {
      {"ManagedBy", json::array{link_to(managers + "/MCU0"), link_to(managers + "/BMC")}}};
  EXPECT_EQ(inventory().identity.bmc_version, "nc.1.10.1");
}

TEST_F(SeveralSystems, ShareAChassisThatIsLinkedToBoth) {
  tree.requested = "Node0";
  at(chassis_uri("Mezz0"))["Links"] = {
      {"ComputerSystems", json::array{link_to(system_uri("Node1"))}}};
  EXPECT_FALSE(is_unknown(inventory().unknown, "chassis Mezz0"));

  at(chassis_uri("Mezz0"))["Links"] = {
      {"ComputerSystems", json::array{link_to(system_uri("Node0")), link_to(system_uri("Node1"))}}};
  EXPECT_TRUE(is_unknown(inventory().unknown, "chassis Mezz0"));
}

class SeveralSystemsOverHttps : public OverHttps {
 protected:
  SeveralSystemsOverHttps() {
    for (const auto& [uri, body] : blade()) server.set(uri, body);
  }
  std::unique_ptr<Bmc> node(const std::string& name, const std::string& system) {
    auto one = access();
    one.system = system;
    one.shared_as = "x1000-n0";
    return redfish::open(transport, name, one, password_from(password), keys);
  }
};

TEST_F(SeveralSystemsOverHttps, ShareOneSessionOnePinAndOneBudget) {
  const auto first = node("x1000-n0", "Node0"), second = node("x1000-n1", "Node1");
  std::vector<Bmc*> both{first.get(), second.get(), first.get(), second.get()};
  const auto ask = [](Bmc* bmc) { return bmc->power.state(Deadline::in(60s)); };

  const auto answers = run(for_each_of<Sourced<PowerState>>(both, 4, ask));
  run(first->log_out());
  run(second->log_out());

  for (const auto& answer : answers) ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_EQ(server.asked().logins, 1);
  EXPECT_EQ(server.asked().open_sessions, 0);
  EXPECT_LE(server.asked().most_in_flight, 2);
  EXPECT_EQ(keys.pins,
            (std::map<std::string, std::string>{{"bmc:x1000-n0", server.fingerprint()}}));
  EXPECT_FALSE(transport.budget("x1000-n1"));
}

TEST_F(SeveralSystemsOverHttps, AreTurnedOffOneByOne) {
  const auto second = node("x1000-n1", "Node1");

  const auto done = run(ensure_off(*second, 0ms, soon(), Pace{.first = 1ms, .longest = 2ms}));
  run(second->log_out());

  ASSERT_TRUE(done) << done.error().what;
  const auto lines = server.asked().lines;
  EXPECT_EQ(
      std::ranges::count(lines, "POST /redfish/v1/Systems/Node1/Actions/ComputerSystem.Reset"), 1);
  EXPECT_THAT(server.asked().resets, ElementsAre("ForceOff"));
}

TEST_F(SeveralSystemsOverHttps, AreLeftAloneWhereTheInventoryNamesNone) {
  const auto bmc = open();

  const auto done = run(ensure_off(*bmc, 0ms, soon()));
  run(bmc->log_out());

  EXPECT_THAT(done.error().what, HasSubstr("this BMC has several Systems (Node0, Node1)"));
  EXPECT_THAT(server.asked().resets, ElementsAre());
}

/// An enclosure's controller, or a switch blade's: chassis and no Systems.
class NoSystems : public Acting {
 protected:
  NoSystems() {
    auto root = test::small_machine("/redfish/v1");
    root.as_object().erase("Systems");
    root.as_object()["Chassis"] = link(kChassisList);
    server.set("/redfish/v1", root);
    server.set(kChassisList, collection({chassis_uri("Enclosure")}));
    server.set(chassis_uri("Enclosure"),
               {{"@odata.id", chassis_uri("Enclosure")},
                {"ChassisType", "Enclosure"},
                {"Model", "Slingshot_1_Switch_Blade"},
                {"SerialNumber", "HB19220057"},
                {"Thermal", link(chassis_uri("Enclosure") + "/Thermal")}});
    server.set(chassis_uri("Enclosure") + "/Thermal",
               {{"Temperatures",
                 json::array{{{"Name", "Inlet"}, {"ReadingCelsius", 21}, {"MemberId", "0"}}}}});
    // The fake answers 404 where nothing was set, but has a System of its own.
    server.misbehave(
        {.method = "GET", .path = "/redfish/v1/Systems", .times = 1000, .status = 404});
    manage({{"Actions",
             {{"#Manager.Reset", {{"target", "/redfish/v1/Managers/1/Actions/Manager.Reset"}}}}}});
  }
};

TEST_F(NoSystems, AreNoReasonNotToReadWhatChassisReport) {
  const auto bmc = open();

  const auto seen = run(bmc->facts.observe(soon()));
  const auto who = run(bmc->facts.identity(soon()));
  const auto measured = run(bmc->sensors.read(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(seen && who && measured);
  EXPECT_EQ(seen->identity.model, "Slingshot_1_Switch_Blade");
  EXPECT_EQ(seen->identity.serial, "HB19220057");
  EXPECT_EQ(seen->power, PowerState::unknown);
  EXPECT_EQ(who->serial, "HB19220057");
  ASSERT_EQ(measured->sensors.size(), 1u);
  EXPECT_EQ(measured->sensors[0].name, "Inlet");
}

TEST_F(NoSystems, CannotBeTurnedOnAndSaysWhatItIs) {
  const auto bmc = open();

  const auto state = run(bmc->power.state(soon()));
  const auto reset = run(bmc->power.reset(ResetType::on, soon()));
  const auto restarted = run(bmc->manager.reset(soon()));
  run(bmc->log_out());

  EXPECT_EQ(state.error().code, Code::kUnsupported);
  EXPECT_THAT(state.error().what, HasSubstr("this BMC has no Systems"));
  EXPECT_EQ(reset.error().code, Code::kUnsupported);
  EXPECT_TRUE(restarted) << restarted.error().what;
}

}  // namespace
}  // namespace cupel::bmc
