// A rack's PDU by Redfish: finding an outlet, and cycling it.
#include "bmc/redfish/pdu.h"

#include "tests/bmc/acting.h"
#include "tests/support/damage.h"

namespace cupel::bmc {
namespace {

constexpr const char* kPdu = "/redfish/v1/PowerEquipment/RackPDUs/1";

std::string at(const std::string& below) { return kPdu + below; }

class RackPdu : public Acting {
 protected:
  void SetUp() override {
    Acting::SetUp();
    auto root = test::small_machine("/redfish/v1").as_object();
    root["PowerEquipment"] = link("/redfish/v1/PowerEquipment");
    server.set("/redfish/v1", root);
    server.set("/redfish/v1/PowerEquipment",
               {{"RackPDUs", link("/redfish/v1/PowerEquipment/RackPDUs")}});
    server.set("/redfish/v1/PowerEquipment/RackPDUs", collection({kPdu}));
    server.set(kPdu, {{"Outlets", link(at("/Outlets"))}, {"OutletGroups", link(at("/Groups"))}});
    auto first = collection({at("/Outlets/A1")}).as_object();
    first["Members@odata.nextLink"] = at("/More");
    server.set(at("/Outlets"), first);
    server.set(at("/More"), collection({at("/Outlets/A2")}));
    server.set(at("/Groups"), collection({at("/Groups/7")}));
    server.set(at("/Outlets/A1"), outlet("A1", 30));
    server.set(at("/Outlets/A2"), outlet("A2", nullptr));
    json::object group{{"Id", "7"}, {"Name", "rack feed 7"}, {"PowerState", "On"}};
    group["PowerCycleDelaySeconds"] = 45;
    group["Actions"] = {{"#OutletGroup.PowerControl",
                         {{"target", at("/Groups/7/Actions/OutletGroup.PowerControl")},
                          {"PowerState@Redfish.AllowableValues", {"On", "Off", "PowerCycle"}}}}};
    server.set(at("/Groups/7"), group);
    server.change([this](auto& options) {
      options.writes = [this](const std::string& method, const std::string& uri,
                              const json::value& body,
                              test::Resources&) -> std::optional<test::Written> {
        if (method != "POST" || !uri.contains("PowerControl")) return std::nullopt;
        cycled.push_back(uri + " " + json::serialize(body));
        return test::Written{};
      };
    });
  }
  /// As the white paper on power distribution shows one: DSP2058, "Switched outlet controls".
  static json::object outlet(const std::string& id, const json::value& delay) {
    return {
        {"Id", id},
        {"Name", "Outlet " + id + ", Branch Circuit A"},
        {"UserLabel", "label " + id},
        {"PowerState", "On"},
        {"PowerCycleDelaySeconds", delay},
        {"Actions",
         {{"#Outlet.PowerControl", {{"target", at("/Outlets/" + id + "/Outlet.PowerControl")}}}}}};
  }
  std::unique_ptr<Pdu> pdu() {
    return redfish::open_pdu(transport, {"a01/p1", server.endpoint(), "admin", {}, trust, {}},
                             password_from(password), keys);
  }
  Result<std::vector<Outlet>> outlets(std::vector<std::string> names) {
    const auto one = pdu();
    auto found = run(one->outlets(std::move(names), soon()));
    run(one->log_out());
    return found;
  }
  Result<void> cycle(const std::string& name) {
    const auto one = pdu();
    auto found = run(one->outlets({name}, soon()));
    auto done = found ? run(one->cycle(found->front(), soon())) : Result<void>{found.error()};
    run(one->log_out());
    return done;
  }

  std::vector<std::string> cycled{};
};

TEST_F(RackPdu, FindsAnOutletByIdOrLabelAndAGroupByName) {
  const auto found = outlets({"A1", "label A2", "rack feed 7"});

  ASSERT_TRUE(found) << found.error().what;
  const auto& all = *found;
  EXPECT_EQ(all[0].source, at("/Outlets/A1"));
  EXPECT_EQ(all[0].power, PowerState::on);
  EXPECT_EQ(all[0].off_for, 30s);
  EXPECT_EQ(all[1].source, at("/Outlets/A2")) << "on the second page";
  EXPECT_EQ(all[1].off_for, std::nullopt);
  EXPECT_EQ(all[2].off_for, 45s);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(RackPdu, CyclesAnOutletAndAGroupOnce) {
  ASSERT_TRUE(cycle("A1"));
  ASSERT_TRUE(cycle("7"));

  EXPECT_THAT(cycled,
              ElementsAre(at("/Outlets/A1/Outlet.PowerControl {\"PowerState\":\"PowerCycle\"}"),
                          at("/Groups/7/Actions/OutletGroup.PowerControl "
                             "{\"PowerState\":\"PowerCycle\"}")));
}

TEST_F(RackPdu, DoesNotCycleWhatMightStayOff) {
  auto only_on_and_off = outlet("A1", 30);
  auto& action = only_on_and_off["Actions"].as_object()["#Outlet.PowerControl"].as_object();
  action["PowerState@Redfish.AllowableValues"] = {"On", "Off"};
  server.set(at("/Outlets/A1"), only_on_and_off);

  const auto no_word = cycle("A1");
  const auto no_delay = cycle("A2");

  ASSERT_FALSE(no_word);
  EXPECT_EQ(no_word.error().code, Code::kUnsupported);
  EXPECT_THAT(no_word.error().what,
              HasSubstr("PDU a01/p1: cycle outlet A1: it does not cycle by itself"));
  EXPECT_FALSE(no_delay);
  EXPECT_THAT(cycled, ::testing::IsEmpty());
}

TEST_F(RackPdu, SaysWhichOutletsThereAre) {
  const auto found = outlets({"B9"});

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kNotFound);
  EXPECT_EQ(found.error().what,
            "PDU a01/p1: outlet B9: there is none of that name; there are A1, A2, 7");
}

/// A shelf feeds the rack of an NVL72, a transfer switch a row: what switches is in their outlets.
TEST_F(RackPdu, FindsOutletsOfWhateverDistributesPower) {
  const std::string equipment = "/redfish/v1/PowerEquipment";
  json::object all;
  for (const auto* kind : {"FloorPDUs", "TransferSwitches", "PowerShelves", "Switchgear"}) {
    const auto unit = equipment + "/" + kind + "/1", id = std::string{kind} + "-A1";
    all[kind] = link(equipment + "/" + kind);
    server.set(equipment + "/" + kind, collection({unit}));
    server.set(unit, {{"Outlets", link(unit + "/Outlets")}});
    server.set(unit + "/Outlets", collection({unit + "/Outlets/" + id}));
    server.set(unit + "/Outlets/" + id, outlet(id, 30));
  }
  all["RackPDUs"] = link(equipment + "/NotThere");
  server.set(equipment, all);

  const auto found =
      outlets({"FloorPDUs-A1", "TransferSwitches-A1", "PowerShelves-A1", "Switchgear-A1"});
  const auto none = outlets({"A1"});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ((*found)[2].source, equipment + "/PowerShelves/1/Outlets/PowerShelves-A1");
  EXPECT_FALSE(none);
}

TEST_F(RackPdu, SaysBelowWhatThereAreNoOutlets) {
  const std::string equipment = "/redfish/v1/PowerEquipment";
  server.set(equipment, {{"PowerShelves", link(equipment + "/PowerShelves")}});
  server.set(equipment + "/PowerShelves", collection({}));

  const auto found = outlets({"A1"});

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("it tells of no outlets below PowerShelves"));
}

/// Chained PDUs count their outlets alike: the first of a name would cut another machine's power.
TEST_F(RackPdu, ANameOfSeveralOutletsIsRefusedUntilItSaysWhich) {
  const std::string pdus = "/redfish/v1/PowerEquipment/RackPDUs", other = pdus + "/2";
  server.set(pdus, collection({kPdu, other}));
  server.set(other, {{"Outlets", link(other + "/Outlets")}});
  server.set(other + "/Outlets",
             collection({other + "/Outlets/A1", other + "/Outlets/B1", other + "/Outlets/B2"}));
  for (const auto* id : {"A1", "B1", "B2"}) {
    auto one = outlet(id, 30);
    if (std::string_view{id} != "A1") one["UserLabel"] = "node 7";
    server.set(other + "/Outlets/" + id, one);
  }

  const auto by_id = outlets({"A1"}), by_label = outlets({"node 7"});
  const auto which = outlets({"1/Outlets/A1", "2/Outlets/A1"});

  for (const auto& refused : {by_id, by_label}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kConflict);
    EXPECT_THAT(refused.error().what, HasSubstr("there are several of that name"));
  }
  EXPECT_THAT(by_id.error().what, HasSubstr(other + "/Outlets/A1"));
  ASSERT_TRUE(which) << which.error().what;
  EXPECT_EQ((*which)[0].source, at("/Outlets/A1"));
  EXPECT_EQ((*which)[1].source, other + "/Outlets/A1");
}

/// The second PDU of a chain is switched by its own URI, also beside one that was taken away and is
/// still listed.
TEST_F(RackPdu, CyclesAnOutletOfAChainedPdu) {
  const std::string pdus = "/redfish/v1/PowerEquipment/RackPDUs", other = pdus + "/2";
  const std::string target = other + "/Outlets/A1/Outlet.PowerControl";
  server.set(pdus, collection({pdus + "/9", kPdu, other}));
  server.set(other, {{"Outlets", link(other + "/Outlets")}});
  server.set(other + "/Outlets", collection({other + "/Outlets/A1"}));
  auto chained = outlet("A1", 30);
  chained["Actions"] = {{"#Outlet.PowerControl", {{"target", target}}}};
  server.set(other + "/Outlets/A1", chained);

  const auto done = cycle("2/Outlets/A1");

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(cycled, ElementsAre(target + " {\"PowerState\":\"PowerCycle\"}"));
}

/// One that cannot be read may have an outlet of the same name.
TEST_F(RackPdu, NamesThePduOfAChainThatCannotBeRead) {
  const std::string pdus = "/redfish/v1/PowerEquipment/RackPDUs", other = pdus + "/2";
  server.set(pdus, collection({kPdu, other}));
  server.misbehave({.method = "GET", .path = other, .times = 9, .status = 500});

  const auto found = outlets({"A1"});

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr(other));
}

TEST_F(RackPdu, HasCycledWhatShowsItThoughTheAnswerWasLost) {
  server.change([this](auto& options) {
    options.writes = [this](const std::string& method, const std::string& uri,
                            const json::value& body,
                            test::Resources& now) -> std::optional<test::Written> {
      if (method != "POST" || !uri.contains("PowerControl")) return std::nullopt;
      cycled.push_back(uri + " " + json::serialize(body));
      auto off = outlet("A1", 30);
      off["PowerState"] = "Off";
      now.write(at("/Outlets/A1"), off);
      return test::Written{};
    };
  });
  server.misbehave({.method = "POST", .path = kPdu, .kind = test::Habit::Kind::act_and_reset});

  const auto done = cycle("A1");

  EXPECT_TRUE(done) << done.error().what;
  EXPECT_EQ(cycled.size(), 1u);
}

TEST_F(RackPdu, SaysThatTheAnswerWasLostWhereTheOutletShowsNothing) {
  server.misbehave({.method = "POST", .path = kPdu, .kind = test::Habit::Kind::reset_connection});

  const auto done = cycle("A1");

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUnreachable);
  EXPECT_THAT(done.error().what, HasSubstr("the PDU reports the outlet on"));
  EXPECT_EQ(count(std::string{"POST "} + kPdu), 1);
}

/// Whatever one of its documents says: an error, or a valid outlet.
TEST_F(RackPdu, WithInvalidAnswersIsRejected) {
  std::mt19937 random{7};
  const std::map<std::string, json::value> shown{
      {"/redfish/v1/PowerEquipment", {{"RackPDUs", link("/redfish/v1/PowerEquipment/RackPDUs")}}},
      {"/redfish/v1/PowerEquipment/RackPDUs", collection({kPdu})},
      {kPdu, {{"Outlets", link(at("/Outlets"))}, {"OutletGroups", link(at("/Groups"))}}},
      {at("/Outlets"), collection({at("/Outlets/A1")})},
      {at("/Outlets/A1"), outlet("A1", 30)}};
  int accepted = 0, refused = 0;
  for (int i = 0; i < 60; ++i) {
    const auto& [uri, document] = *std::next(shown.begin(), i % static_cast<int>(shown.size()));
    const auto nonsense = parse_json(test::damaged(json::serialize(document), random));
    if (!nonsense) continue;
    server.set(uri, *nonsense);

    const auto found = outlets({"A1"});

    server.set(uri, document);
    if (!found) {
      ++refused;
      continue;
    }
    ++accepted;
    const auto& one = found->front();
    if (!one.target.empty()) EXPECT_TRUE(one.target.starts_with("/")) << one.target;
    if (one.off_for) EXPECT_LE(*one.off_for, 3600s);
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(RackPdu, IsNoBmc) {
  server.set("/redfish/v1", test::small_machine("/redfish/v1"));

  const auto found = outlets({"A1"});

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kUnsupported);
  EXPECT_THAT(found.error().what, HasSubstr("has no PowerEquipment"));
}

}  // namespace
}  // namespace cupel::bmc
