#include "tests/bmc/fixture.h"

namespace cupel::bmc {
namespace {

Identity who(std::string serial, std::vector<std::string> macs = {}, std::string uuid = {}) {
  Identity seen;
  seen.serial = std::move(serial);
  seen.bmc_macs = std::move(macs);
  seen.uuid = std::move(uuid);
  return seen;
}

TEST(KnownBmc, IsTheSameWhereOneThingThatWasLearnedAgrees) {
  const KnownBmc known{.serial = "S1", .uuid = "U1", .macs = {"aa:bb:cc:00:11:22"}};

  EXPECT_EQ(identity_mismatch(known, {}, who("S1")), std::nullopt);
  EXPECT_EQ(identity_mismatch(known, {}, who("S2", {"AA-BB-CC-00-11-22"})),
            std::nullopt);  // a new board
  EXPECT_EQ(identity_mismatch(known, {}, who("S1", {"aa:bb:cc:00:11:33"})),
            std::nullopt);  // a new BMC
  EXPECT_EQ(identity_mismatch(known, {}, who("", {}, "u1")), std::nullopt);
}

TEST(KnownBmc, MismatchesWhereNothingAgrees) {
  const KnownBmc known{.serial = "S1", .macs = {"aa:bb:cc:00:11:22"}};

  EXPECT_EQ(identity_mismatch(known, {}, who("S2", {"aa:bb:cc:00:11:33"})),
            "known as serial S1, BMC MAC aa:bb:cc:00:11:22, but what answers is serial S2, BMC MAC "
            "aa:bb:cc:00:11:33");
}

TEST(KnownBmc, MatchesWhereAValueIsNotReported) {
  EXPECT_EQ(identity_mismatch({.serial = "S1"}, {}, who("")), std::nullopt);
  EXPECT_EQ(identity_mismatch({}, {}, who("S1")), std::nullopt);
  EXPECT_EQ(identity_mismatch({}, {.serial = "S1"}, who("")), std::nullopt);
}

TEST(KnownBmc, MustBeWhatPeopleWroteWhateverWasLearned) {
  const KnownBmc known{.serial = "S2"};

  EXPECT_EQ(identity_mismatch(known, {.serial = "S1"}, who("S2")),
            "the inventory says serial S1, but what answers is serial S2");
  EXPECT_EQ(identity_mismatch(known, {.serial = "S1"}, who("S1")), std::nullopt);
  EXPECT_TRUE(
      identity_mismatch({}, {.mac = "aa:bb:cc:00:11:22"}, who("S1", {"aa:bb:cc:00:11:33"})));
}

TEST(KnownBmc, KeepsWhatItDidNotTellThisTime) {
  const auto now = learned({.serial = "S1", .macs = {"aa:bb:cc:00:11:22"}}, who("S3"));

  EXPECT_EQ(now, (KnownBmc{.serial = "S3", .macs = {"aa:bb:cc:00:11:22"}}));
}

class Whereabouts : public OverHttps {
 protected:
  using Server = test::HttpsServer;
  /// What one process finds, from a memory that they all share.
  Result<Protocol> turn_off(redfish::Expected expected = {}, const Server* where = nullptr) {
    redfish::Transport process{io.get_executor(), {}, &memory};
    auto to = access();
    if (where != nullptr) to.endpoint = where->endpoint();
    const auto bmc = redfish::open(process, "a01-n01", to, password_from(password), keys, expected);
    auto done = run(bmc->power.reset(ResetType::force_off, soon()));
    run(bmc->log_out());
    return done;
  }
  Result<Sourced<PowerState>> look(redfish::Expected expected, inventory::Endpoint where) {
    redfish::Transport process{io.get_executor(), {}, &memory};
    auto to = access();
    to.endpoint = std::move(where);
    const auto bmc = redfish::open(process, "a01-n01", to, password_from(password), keys, expected);
    auto state = run(bmc->power.state(soon()));
    run(bmc->log_out());
    return state;
  }
  static void rename(Server& bmc, const std::string& serial) {
    auto system = test_system();
    system.as_object()["SerialNumber"] = serial;
    system.as_object()["UUID"] = "uuid of " + serial;
    bmc.set(kSystem, system);
  }
  InMemoryBmcState memory;
};

TEST_F(Whereabouts, RemembersABmcAtItsFirstChange) {
  ASSERT_TRUE(turn_off());

  EXPECT_EQ(memory.known_bmc("a01-n01")->serial, "437XR1138R2");
  EXPECT_EQ(server.asked().resets, std::vector<std::string>{"ForceOff"});
}

TEST_F(Whereabouts, ChangesNothingAfterAnIdentityMismatch) {
  ASSERT_TRUE(turn_off());
  rename(server, "OTHER");

  const auto refused = turn_off();

  EXPECT_EQ(refused.error().code, Code::kUntrusted);
  EXPECT_THAT(refused.error().what, HasSubstr("known as serial 437XR1138R2"));
  EXPECT_THAT(refused.error().what, HasSubstr("what answers is serial OTHER"));
  EXPECT_THAT(refused.error().what, HasSubstr("cupel bmc a01-n01 accept-certificate"));
  EXPECT_EQ(server.asked().resets.size(), 1u);
}

TEST_F(Whereabouts, ChangesNothingWhereTheInventoryNamesAnotherSerial) {
  const auto refused = turn_off({.people = {.serial = "S1"}});

  EXPECT_EQ(refused.error().code, Code::kUntrusted);
  EXPECT_TRUE(server.asked().resets.empty());
}

TEST_F(Whereabouts, ReadsTheIdentityOnceInASession) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.reset(ResetType::force_off, soon())));
  const int first = server.asked().requests;

  ASSERT_TRUE(run(bmc->power.reset(ResetType::on, soon())));
  run(bmc->log_out());

  EXPECT_LE(server.asked().requests - first, 3);  // the system, the reset, the log-out
}

TEST_F(Whereabouts, SendsNoPasswordToAServiceRootWithAnotherIdentity) {
  auto root = test::small_machine("/redfish/v1");
  root.as_object()["UUID"] = "11111111-2222-3333-4444-555555555555";
  server.set("/redfish/v1", root);
  ASSERT_TRUE(look({}, server.endpoint()));
  root.as_object()["UUID"] = "99999999-2222-3333-4444-555555555555";
  server.set("/redfish/v1", root);

  const auto refused = look({}, server.endpoint());

  EXPECT_EQ(refused.error().code, Code::kUntrusted);
  EXPECT_EQ(server.asked().logins, 1);
}

// 127.0.0.9 is the address in the inventory; the networks are 127.0.0.8/29, on the same port.
class MovedBmc : public Whereabouts {
 protected:
  MovedBmc() { keys.pins["bmc:a01-n01"] = moved.fingerprint(); }
  inventory::Endpoint old_place() const { return {"127.0.0.9", moved.endpoint().port}; }
  Server moved{{.address = "127.0.0.11"}};
  redfish::Expected nearby{.networks = {"127.0.0.8/29"}};
};

TEST_F(MovedBmc, IsFollowedWhereItsAddressIsSilent) {
  const auto state = look(nearby, old_place());

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(memory.known_bmc("a01-n01")->moved_to, moved.endpoint());
  EXPECT_EQ(moved.asked().open_sessions, 0);
}

TEST_F(MovedBmc, IsAskedAtItsNewAddressFirstFromThenOn) {
  ASSERT_TRUE(look(nearby, old_place()));
  const int before = moved.asked().connections;

  ASSERT_TRUE(look({}, old_place()));

  EXPECT_LE(moved.asked().connections - before, 2);
}

TEST_F(MovedBmc, IsFoundWhereAnotherBmcHasItsAddress) {
  Server other{{.address = "127.0.0.9", .port = moved.endpoint().port}};

  const auto state = look(nearby, old_place());

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(other.asked().requests, 0);
}

TEST_F(MovedBmc, IsNotFollowedWithoutNetworksToLookIn) {
  EXPECT_EQ(look({}, old_place()).error().code, Code::kUnreachable);
}

TEST_F(MovedBmc, IsNotFoundInAMachineWithAnotherSerial) {
  memory.keep_known_bmc("a01-n01", {.serial = "S1"});

  const auto lost = look(nearby, old_place());

  EXPECT_EQ(lost.error().code, Code::kUnreachable);
  EXPECT_THAT(lost.error().what, HasSubstr("nor is it at another address"));
  EXPECT_EQ(moved.asked().open_sessions, 0);
  EXPECT_EQ(memory.known_bmc("a01-n01")->moved_to, std::nullopt);
}

TEST_F(MovedBmc, IsShownWhereItIsAndNothingIsShownOfOneThatDidNotMove) {
  ASSERT_TRUE(look(nearby, old_place()));
  const auto known = memory.known_bmc("a01-n01");

  EXPECT_EQ(moved_from(known, old_place()), moved.endpoint());
  EXPECT_EQ(moved_from(known, moved.endpoint()), std::nullopt) << "the inventory knows by now";
  EXPECT_EQ(moved_from(std::nullopt, old_place()), std::nullopt);
}

TEST_F(MovedBmc, ComesBackToWhereTheInventorySays) {
  memory.keep_known_bmc("a01-n01", {.serial = "437XR1138R2", .moved_to = old_place()});

  const auto state = look({}, moved.endpoint());

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(memory.known_bmc("a01-n01")->moved_to, std::nullopt);
}

}  // namespace
}  // namespace cupel::bmc
