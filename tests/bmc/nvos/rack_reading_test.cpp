// What the parts of a rack say of themselves, a round of questions each.
#include "bmc/rack/reading.h"
#include "tests/bmc/nvos/fake_switch.h"
#include "tests/support/captures.h"

namespace cupel::bmc {
namespace {

class RackReading : public NvosSwitch {
 protected:
  RackReading() {
    on("GET platform/chassis-location",
       R"({"chassis-sn": "1800000000001", "slot-number": "11", "tray-index": "0",
           "topology-id": "GB200 NVL72"})");
    on("GET platform", R"({"product-name": "N5110_LD", "serial-number": "MT0000X00001"})");
    on("GET cluster", R"({"state": "enabled", "nmxc-conn": {"state": "up"}})");
    on("GET cluster/apps/nmx-controller",
       R"({"status": "ok", "addition-info": "CONTROL_PLANE_STATE_CONFIGURED"})");
    on("GET system/image", R"({"current": "partition1", "partition1": "nvos-25.02.2344"})");
    on("GET system/health", R"({"status": "OK", "issues": {}})");
    on("GET platform/environment/leakage", R"({"LEAKAGE-1": {"state": "ok"}})");
    on("GET sdn/partition", R"({"32766": {"num-gpus": "72", "health": "healthy"}})");
  }
  rack::Door door() {
    return {transport_, keys_,
            [this](const inventory::SecretRef&) { return password_from(password_); }};
  }
  inventory::RackDevice device(std::string name, inventory::Endpoint endpoint) const {
    return {.name = std::move(name), .endpoint = std::move(endpoint), .user = "admin"};
  }
};

TEST_F(RackReading, OfASwitchHasItsPlaceItsControllerAndThePartitions) {
  const inventory::SwitchTray tray{.name = "a01/switch1",
                                   .nvos = {device("a01/switch1/nvos", server_.endpoint())}};

  const auto reading = run(rack::read_switch(door(), tray, soon()));

  ASSERT_TRUE(reading) << reading.error().what;
  EXPECT_EQ(reading->place.slot, 11);
  EXPECT_EQ(reading->place.topology, "GB200 NVL72");
  EXPECT_EQ(reading->platform.serial, "MT0000X00001");
  EXPECT_EQ(reading->images.running(), "nvos-25.02.2344");
  EXPECT_EQ(reading->partitions.at(0).gpus, 72);
  EXPECT_THAT(nvos::not_controlling(reading->cluster, reading->controller), ::testing::IsEmpty());
  EXPECT_TRUE(reading->unknown.empty());
}

TEST_F(RackReading, OfASwitchGoesOnOverWhatItDoesNotAnswer) {
  on("GET system/health", {{500, "{}"}});
  const inventory::SwitchTray tray{.name = "a01/switch1",
                                   .nvos = {device("a01/switch1/nvos", server_.endpoint())}};

  const auto reading = run(rack::read_switch(door(), tray, soon()));

  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->health.status, "") << "not known to be well";
  ASSERT_EQ(reading->unknown.size(), 1);
  EXPECT_EQ(reading->unknown[0].fact, "health");
}

TEST_F(RackReading, OfASwitchNotesWhatItAnswersWithoutSayingIt) {
  on("GET system/health", "{}");
  on("GET platform/chassis-location", R"({"slot-number": "N/A"})");
  const inventory::SwitchTray tray{.name = "a01/switch1",
                                   .nvos = {device("a01/switch1/nvos", server_.endpoint())}};

  const auto reading = run(rack::read_switch(door(), tray, soon()));

  ASSERT_TRUE(reading);
  ASSERT_EQ(reading->unknown.size(), 2);
  EXPECT_EQ(reading->unknown[0].fact, "its slot");
  EXPECT_EQ(reading->unknown[1].fact, "health");
}

TEST_F(RackReading, OfASwitchTakesTheOtherPortWhereTheFirstIsDead) {
  // Nobody listens on the discard port of loopback.
  const inventory::SwitchTray tray{.name = "a01/switch1",
                                   .nvos = {device("a01/switch1/nvos", {"127.0.0.1", 9}),
                                            device("a01/switch1/nvos2", server_.endpoint())}};

  const auto reading = run(rack::read_switch(door(), tray, soon()));

  ASSERT_TRUE(reading) << reading.error().what;
  EXPECT_EQ(reading->port, "a01/switch1/nvos2");
}

TEST_F(RackReading, OfASwitchDoesNotTryARefusedPasswordOnTheOtherPort) {
  right_ = "another";
  const inventory::SwitchTray tray{.name = "a01/switch1",
                                   .nvos = {device("a01/switch1/nvos", server_.endpoint()),
                                            device("a01/switch1/nvos2", {"127.0.0.1", 9})}};

  const auto reading = run(rack::read_switch(door(), tray, soon()));

  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().code, Code::kRefused);
}

TEST_F(RackReading, OfACapturedTrayHasItsIdentityAndTheLeakThatContradicts) {
  CUPEL_NEED_CAPTURE(tree, "nvidia_gb200");
  test::HttpsServer bmc{{.tree = tree}};
  const std::string password = "open sesame";
  const rack::Door door{transport_, keys_, [&password](const inventory::SecretRef&) {
                          return password_from(password);
                        }};

  const auto reading =
      run(rack::read_tray(door, device("a01/compute1", bmc.endpoint()), Deadline::in(300s)));

  ASSERT_TRUE(reading) << reading.error().what;
  EXPECT_EQ(reading->identity.serial, "1333024020524");
  EXPECT_THAT(reading->identity.bmc_macs, ElementsAre("3c:6d:66:0e:db:dc"));
  EXPECT_EQ(reading->leaks.size(), 4);
  EXPECT_EQ(std::ranges::count(reading->leaks, "Critical (contradiction: sensor OK, roll-up OK)",
                               &Sensor::state),
            1);
  EXPECT_TRUE(reading->places.empty()) << "that one reports no topology";
  EXPECT_EQ(bmc.asked().open_sessions, 0);
}

}  // namespace
}  // namespace cupel::bmc
