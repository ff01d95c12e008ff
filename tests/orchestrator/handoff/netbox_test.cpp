// An inventory out of NetBox and Nautobot, and results that go back.
#include "tests/support/netbox.h"

#include <gmock/gmock.h>

#include <random>

#include "inventory/load.h"
#include "orchestrator/dcim/changes.h"
#include "orchestrator/dcim/inventory_text.h"
#include "tests/support/damage.h"

namespace cupel::dcim {
namespace {

using namespace std::chrono_literals;
using test::FakeNetbox;
using test::ReplayServer;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kVariable = "CUPEL_TEST_NETBOX_TOKEN";

struct NetboxTest : ::testing::Test {
  void SetUp() override { ::setenv(kVariable, "secret", 1); }
  void TearDown() override { ::unsetenv(kVariable); }

  struct Read {
    Server server{};
    std::vector<Device> devices{};
    std::map<std::string, int> racks{};
  };
  Result<Read> read(FakeNetbox answers, ListLimits most = {}) {
    fake = std::move(answers);
    ReplayServer server{[this](const test::ReplayRequest& request) {
      auto answer = fake(request);
      afterwards(request);
      return answer;
    }};
    Client client{server.url(), "", {inventory::SecretRef::Kind::env, kVariable}, most};
    asio::io_context io{1};
    auto all = run_to_end(io, read_all(client));
    asked = server.lines();
    return all;
  }
  static Task<Result<Read>> read_all(Client& client) {
    Read all;
    const auto deadline = Deadline::in(60s);
    CO_TRY(all.server, co_await client.status(deadline));
    CO_TRY(all.devices, co_await read_devices(client, all.server, {{"site", "oslo 1"}}, deadline));
    CO_TRY(all.racks, co_await read_racks(client, all.devices, deadline));
    co_return all;
  }

  FakeNetbox fake{};
  std::function<void(const test::ReplayRequest&)> afterwards = [](const auto&) {};
  std::vector<std::string> asked{};
};

constexpr const char* kNodes = R"(racks:
  - {name: "a01", units: 52}
nodes:
  - {name: "a01-n01", profile: "dgx-h100", rack: "a01", unit: 1, bmc: {address: "10.0.1.11", mac: "aa:bb:cc:00:11:01"}, ssh: {address: "10.0.2.11"}}
  - {name: "a01-n02", profile: "dgx-h100", rack: "a01", unit: 9, serial: "SN-2", bmc: {address: "10.0.1.12", mac: "aa:bb:cc:00:11:02"}, ssh: {address: "10.0.2.12"}}
  - {name: "a01-n03", profile: "dgx-h100", rack: "a01", bmc: {address: "10.0.1.13"}, ssh: {address: "fd00::13"}}
)";

TEST_F(NetboxTest, DevicesOfTwoVersionsBecomeTheSameNodes) {
  for (const auto& answers : {test::netbox_3_7(), test::netbox_4_2()}) {
    const auto all = read(answers);

    ASSERT_TRUE(all) << all.error().what;
    const auto made =
        inventory_text(all->devices, all->racks, {.profiles = {{"dgx-h100", "dgx-h100"}}});
    EXPECT_THAT(made.faults, IsEmpty());
    EXPECT_EQ(made.text, kNodes) << all->server.version;
    const auto loaded = inventory::parse_inventory(
        "site: oslo-1\ndefaults: {bmc: {user: a, password: \"env:P\"}}\n" + made.text, "site.yaml",
        "/srv");
    EXPECT_EQ(to_string(loaded.problems), "");
    EXPECT_THAT(asked, Contains("GET /api/dcim/devices/?site=oslo%201&limit=200&offset=2"));
  }
}

TEST_F(NetboxTest, ADeviceOfNautobotBecomesANode) {
  const auto all = read(test::nautobot_2_3());

  ASSERT_TRUE(all) << all.error().what;
  EXPECT_EQ(all->server.product, Product::nautobot);
  EXPECT_EQ(all->server.version, "2.3.12");
  const auto made = inventory_text(all->devices, all->racks, {.profiles = {{"dgx h100", "mine"}}});
  EXPECT_THAT(made.faults, IsEmpty());
  EXPECT_THAT(made.text, HasSubstr("{name: \"a01-n01\", profile: \"mine\", rack: \"a01\", unit: 1, "
                                   "serial: \"SN-1\", bmc: {address: \"10.0.1.11\", mac: "
                                   "\"aa:bb:cc:00:11:01\"}, ssh: {address: \"10.0.2.11\"}}"));
}

TEST_F(NetboxTest, NamesAllThatIsMissingAtOnce) {
  auto answers = test::netbox_4_2();
  auto& devices = answers.lists.at("/api/dcim/devices/");
  devices[0].as_object()["primary_ip"] = nullptr;
  devices[2].as_object()["oob_ip"] = nullptr;
  devices[2].as_object()["name"] = "bad name";

  const auto all = read(answers);
  ASSERT_TRUE(all) << all.error().what;
  const auto made = inventory_text(all->devices, all->racks, {});

  EXPECT_THAT(made.faults, ElementsAre("device 'a01-n02' has no primary IP address",
                                       AllOf(HasSubstr("'bad name'"), HasSubstr("letters")),
                                       HasSubstr("'bad name' has no out-of-band IP address"),
                                       HasSubstr("3 devices of type 'dgx-h100' have no profile")));
}

TEST_F(NetboxTest, TwoManagementInterfacesWithAddressesAreNoBmc) {
  auto answers = test::netbox_4_2();
  answers.lists.at("/api/dcim/interfaces/")
      .push_back(parse_json(R"({"id":43,"device":{"id":10},"name":"dpu","mgmt_only":true,
        "mac_address":"AA:BB:CC:00:11:0F"})")
                     .value());
  answers.lists.at("/api/ipam/ip-addresses/")
      .push_back(parse_json(R"({"id":53,"address":"10.0.1.99/24","assigned_object_type":
        "dcim.interface","assigned_object_id":43,"assigned_object":{"id":43,"device":{"id":10}}})")
                     .value());

  const auto all = read(answers);

  ASSERT_TRUE(all) << all.error().what;
  EXPECT_EQ(all->devices.front().name, "a01-n01");
  EXPECT_EQ(all->devices.front().bmc, "");
}

TEST_F(NetboxTest, OnlyItsOwnServerIsAskedWhateverNextSays) {
  ASSERT_TRUE(read(test::netbox_4_2()));

  // The fake's `next` names 192.0.2.1; every page came from the server that was named.
  EXPECT_GT(asked.size(), 6u);
}

TEST_F(NetboxTest, AListThatGrowsOrShrinksWhileItIsReadIsNotTakenForWhole) {
  for (const bool grows : {true, false}) {
    bool done = false;
    afterwards = [&](const test::ReplayRequest& request) {
      if (!request.path.starts_with("/api/dcim/devices/") || std::exchange(done, true)) return;
      auto& devices = fake.lists.at("/api/dcim/devices/");
      auto more = devices[0];
      more.as_object()["id"] = 9;
      if (grows)
        devices.insert(devices.begin(), more);
      else
        devices.erase(devices.begin());  // the third is the second now, and on no page to come
    };

    const auto all = read(test::netbox_4_2());

    EXPECT_TRUE(done);
    ASSERT_FALSE(all) << all->devices.size() << " devices";
    EXPECT_EQ(all.error().code, Code::kBusy);
    EXPECT_THAT(all.error().what, HasSubstr("/api/dcim/devices/ changed while it was read"));
  }
}

TEST_F(NetboxTest, AListWithMoreItemsOrBytesThanThereMayBeIsAnError) {
  for (const auto most : {ListLimits{.items = 2}, ListLimits{.bytes = 500}}) {
    const auto all = read(test::netbox_4_2(), most);

    ASSERT_FALSE(all);
    EXPECT_EQ(all.error().code, Code::kMalformed);
    EXPECT_THAT(all.error().what, HasSubstr("name fewer with --filter"));
  }
}

TEST_F(NetboxTest, SaysWhatTheServerSays) {
  ::setenv(kVariable, "wrong", 1);
  const auto refused = read(test::netbox_4_2());
  ::setenv(kVariable, "secret", 1);
  auto other = test::netbox_4_2();
  other.status = R"({"version":"1"})";
  const auto unknown = read(other);

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, Not(HasSubstr("wrong")));
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().what, HasSubstr("neither a NetBox nor a Nautobot version"));
}

TEST_F(NetboxTest, ATokenOfTheSecondVersionIsABearer) {
  ::setenv(kVariable, "nbt_x.y", 1);
  auto answers = test::netbox_4_2();
  answers.authorization = "Bearer nbt_x.y";

  EXPECT_TRUE(read(answers));
}

TEST(NetboxDevice, IsReadOrRefusedHoweverItWasDamaged) {
  std::mt19937 random{20261130};
  const auto text = json::serialize(test::netbox_4_2().lists.at("/api/dcim/devices/")[0]);
  for (int round = 0; round < 20'000; ++round) {
    const auto parsed = parse_json(cupel::test::damaged(text, random));
    if (!parsed || !parsed->is_object()) continue;
    const auto device = parse_device(parsed->as_object());
    if (!device) continue;
    EXPECT_FALSE(device->name.empty());
    EXPECT_FALSE(device->id.empty());
    EXPECT_GE(device->unit, 0);
  }
}

TEST(NetboxText, HasNamesThatCannotLeaveTheirQuotes) {
  const std::vector<Device> devices{{.id = "1",
                                     .name = "n1",
                                     .type = "x",
                                     .profile = "a\"}, bmc: {user: root",
                                     .serial = "a\nb: c",
                                     .address = "10.0.0.1",
                                     .bmc = "10.0.0.2"}};

  const auto made = inventory_text(devices, {}, {});

  EXPECT_THAT(made.text, HasSubstr(R"(profile: "a\"}, bmc: {user: root")"));
  EXPECT_THAT(made.text, HasSubstr(R"(serial: "a\nb: c")"));
}

TEST(NetboxText, ChangedLinesAreThoseOfOneTextAlone) {
  EXPECT_THAT(changed_lines("a\nb\n", "b\nc\n"), ElementsAre("- a", "+ c"));
  EXPECT_THAT(changed_lines("a\n", "a\n"), IsEmpty());
}

Device known(const std::string& status, const std::string& serial) {
  return {.id = "10", .name = "n1", .serial = serial, .status = status};
}

TEST(NetboxChanges, AVerdictSetsTheStatusAndAddsOneEntry) {
  const NodeResult pass{.run = 12, .state = "pass", .serial = "SN-1"};
  const NodeResult fail{.run = 13, .state = "fail", .cause = "gpu3: `slow`"};

  const auto passed = change_of(known("staged", ""), pass, {}, false);
  const auto failed = change_of(known("active", "SN-1"), fail, {}, false);
  const auto again = change_of(known("active", "SN-1"), pass, {}, true);

  EXPECT_EQ(json::serialize(passed.fields), R"({"status":"active","serial":"SN-1"})");
  EXPECT_EQ(passed.journal.at("kind"), "success");
  EXPECT_EQ(passed.journal.at("comments"), "Cupel run 12: pass");
  EXPECT_EQ(passed.journal.at("assigned_object_id"), 10);
  EXPECT_EQ(json::serialize(failed.fields), R"({"status":"failed"})");
  EXPECT_EQ(failed.journal.at("comments"), "Cupel run 13: fail: `gpu3: 'slow'`");
  EXPECT_TRUE(again.fields.empty() && again.journal.empty());
}

TEST(NetboxChanges, WhatIsInconclusiveOrTakenOutKeepsItsStatus) {
  const auto unsure =
      change_of(known("staged", ""), {.run = 12, .state = "inconclusive"}, {}, false);
  const auto gone =
      change_of(known("decommissioning", ""), {.run = 12, .state = "pass"}, {}, false);
  const auto unknown = change_of(known("staged", ""), {}, {}, false);

  EXPECT_TRUE(unsure.fields.empty());
  EXPECT_EQ(unsure.journal.at("kind"), "warning");
  EXPECT_TRUE(gone.fields.empty());
  EXPECT_THAT(gone.warnings, ElementsAre(HasSubstr("it is being taken out")));
  EXPECT_TRUE(unknown.fields.empty() && unknown.journal.empty());
}

TEST(NetboxChanges, ASerialNumberThatDiffersIsOnlyReplacedWhenAsked) {
  const NodeResult result{.run = 12, .state = "pass", .serial = "SN-9"};

  const auto kept = change_of(known("active", "SN-1"), result, {}, true);
  const auto written = change_of(known("active", "SN-1"), result, {.serials = true}, true);

  EXPECT_TRUE(kept.fields.empty());
  EXPECT_THAT(kept.warnings, ElementsAre(HasSubstr("--serials")));
  EXPECT_EQ(written.fields.at("serial"), "SN-9");
}

}  // namespace
}  // namespace cupel::dcim
