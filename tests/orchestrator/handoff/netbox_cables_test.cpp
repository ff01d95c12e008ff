// What goes back to NetBox about cables.
#include <gmock/gmock.h>

#include <algorithm>

#include "orchestrator/dcim/cables.h"
#include "tests/support/netbox.h"

namespace cupel::dcim {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const SeenCable kSeen{.run = 12, .as_planned = true};
const SeenCable kElsewhere{.run = 12, .as_planned = false, .words = "it goes to leaf2/7"};

std::string status_of(const CableChange& change) { return json::serialize(change.fields); }

TEST(NetboxCables, AreConnectedWhereTheyWereSeenAndPlannedWhereTheyWereNot) {
  const auto seen = cable_change("7", "planned", {{"n1", "mlx5_0", kSeen}});
  const auto elsewhere = cable_change("7", "connected", {{"n1", "mlx5_0", kElsewhere}});

  EXPECT_EQ(status_of(seen), R"({"status":"connected"})");
  EXPECT_THAT(seen.words,
              ElementsAre("cable 7 at mlx5_0: planned -> connected (run 12: seen as planned)"));
  EXPECT_EQ(status_of(elsewhere), R"({"status":"planned"})");
  EXPECT_THAT(elsewhere.words, ElementsAre("cable 7 at mlx5_0: connected -> planned (run 12: not "
                                           "as planned: it goes to leaf2/7)"));
}

TEST(NetboxCables, StayAsTheyAreWhereNothingDiffers) {
  for (const auto& change : {cable_change("7", "connected", {{"n1", "mlx5_0", kSeen}}),
                             cable_change("7", "planned", {{"n1", "mlx5_0", kElsewhere}}),
                             cable_change("7", "decommissioning", {{"n1", "mlx5_0", kElsewhere}}),
                             cable_change("7", "planned", {})}) {
    EXPECT_TRUE(change.fields.empty());
    EXPECT_THAT(change.words, IsEmpty());
    EXPECT_THAT(change.warnings, IsEmpty());
  }
}

TEST(NetboxCables, ThatAreBeingDecommissionedAreNamedWhereTheyAreStillInPlace) {
  const auto change = cable_change("7", "decommissioning", {{"n1", "mlx5_0", kSeen}});

  EXPECT_TRUE(change.fields.empty());
  EXPECT_THAT(change.warnings, ElementsAre("cable 7 at mlx5_0 stays decommissioning (run 12: seen "
                                           "as planned)"));
}

TEST(NetboxCables, BetweenTwoNodesGoByTheEndThatIsNotAsPlanned) {
  std::vector<CableEnd> ends{{"n1", "mlx5_0", kSeen}, {"n2", "mlx5_0", kElsewhere}};

  const auto one = cable_change("7", "connected", ends);
  std::ranges::reverse(ends);
  const auto other = cable_change("7", "connected", ends);

  EXPECT_EQ(status_of(one), R"({"status":"planned"})");
  EXPECT_EQ(one.node, "n2");
  EXPECT_EQ(status_of(other), status_of(one));
  EXPECT_EQ(other.words, one.words);
}

struct NetboxCableReading : ::testing::Test {
  void SetUp() override {
    ::setenv(kVariable, "secret", 1);
    fake.status = R"({"netbox-version":"4.2.6"})";
    fake.lists["/api/dcim/interfaces/"] = parse_json(R"([
        {"id":60,"device":{"id":11},"name":"mlx5_0","cable":{"id":70}},
        {"id":61,"device":{"id":11},"name":"mlx5_1","cable":null},
        {"id":62,"device":{"id":11},"name":"ib2","cable":{"id":72}},
        {"id":63,"device":{"id":12},"name":"mlx5_0","cable":{"id":73}}])")
                                              .value()
                                              .as_array();
    fake.lists["/api/dcim/cables/"] = parse_json(R"([
        {"id":70,"status":{"value":"planned"}},{"id":72,"status":{"value":"connected"}},
        {"id":73,"status":{"value":"connected"}}])")
                                          .value()
                                          .as_array();
  }
  void TearDown() override { ::unsetenv(kVariable); }

  Result<std::vector<CableChange>> read(std::vector<DeviceCables> devices,
                                        std::map<std::string, std::string> names = {}) {
    test::ReplayServer server{[this](const test::ReplayRequest& asked) { return fake(asked); }};
    Client client{server.url(), "", {inventory::SecretRef::Kind::env, kVariable}};
    asio::io_context io{1};
    return run_to_end(
        io, read_cable_changes(client, std::move(devices), std::move(names), Deadline::in(60s)));
  }

  static constexpr const char* kVariable = "CUPEL_TEST_NETBOX_CABLES";
  test::FakeNetbox fake{};
};

TEST_F(NetboxCableReading, FindsThemByDeviceAndInterface) {
  const auto changes =
      read({{"11", "n2", {{"mlx5_0", kSeen}, {"mlx5_2", kElsewhere}}}}, {{"mlx5_2", "ib2"}});

  ASSERT_TRUE(changes) << changes.error().what;
  ASSERT_EQ(changes->size(), 2u);
  EXPECT_EQ(changes->at(0).id, "70");
  EXPECT_EQ(status_of(changes->at(0)), R"({"status":"connected"})");
  EXPECT_EQ(changes->at(1).id, "72");
  EXPECT_EQ(status_of(changes->at(1)), R"({"status":"planned"})");
}

TEST_F(NetboxCableReading, NamesPortsWithoutACableInNetbox) {
  const auto changes = read({{"11", "n2", {{"mlx5_1", kSeen}, {"mlx5_9", kSeen}}}});

  ASSERT_TRUE(changes) << changes.error().what;
  ASSERT_EQ(changes->size(), 1u);
  EXPECT_EQ(changes->front().id, "");
  EXPECT_THAT(changes->front().warnings,
              ElementsAre("NetBox has no cable at mlx5_1, mlx5_9: an interface of another name is "
                          "named with --interface mlx5_1=NAME"));
}

TEST_F(NetboxCableReading, AsksForNothingWhereNoCableWasSeen) {
  fake.lists.clear();

  const auto changes = read({});

  ASSERT_TRUE(changes) << changes.error().what;
  EXPECT_THAT(*changes, IsEmpty());
}

TEST_F(NetboxCableReading, RefusesACableThatIsGoneOrHasNoStatus) {
  fake.lists.at("/api/dcim/cables/")[0].as_object().erase("status");
  const auto without = read({{"11", "n2", {{"mlx5_0", kSeen}}}});
  fake.lists.at("/api/dcim/cables/").clear();
  const auto gone = read({{"11", "n2", {{"mlx5_0", kSeen}}}});

  ASSERT_FALSE(without || gone);
  EXPECT_THAT(without.error().what, HasSubstr("cable 70 has no status"));
  EXPECT_THAT(gone.error().what, HasSubstr("cable 70 went while it was read"));
}

}  // namespace
}  // namespace cupel::dcim
