#include "tests/bmc/fixture.h"

namespace cupel::bmc {
namespace {

class Boot : public OverHttps {
 protected:
  Result<void> set(BootTarget target) {
    const auto bmc = open();
    const bool once = target != BootTarget::none;
    const auto done = run(bmc->set_boot({.target = target, .once = once}, soon()));
    run(bmc->log_out());
    if (!done) return done.assume_error();
    return ok();
  }
  Result<BootOverride> seen() {
    const auto bmc = open();
    const auto told = run(bmc->boot_override(soon()));
    run(bmc->log_out());
    if (!told) return told.assume_error();
    return told.assume_value().value;
  }
};

TEST_F(Boot, SetsTargetEnabledAndModeTogetherAndReadsThemBack) {
  const auto before = seen();
  const auto done = set(BootTarget::uefi_http);
  const auto after = seen();

  ASSERT_TRUE(done) << done.assume_error().what;
  EXPECT_EQ(before.assume_value(), (BootOverride{.target = BootTarget::none, .once = false}));
  EXPECT_EQ(after.assume_value(), (BootOverride{.target = BootTarget::uefi_http, .once = true}));
  EXPECT_THAT(server.asked().patches, ElementsAre("/redfish/v1/Systems/1 \"abc\" {\"Boot\":{"
                                                  "\"BootSourceOverrideTarget\":\"UefiHttp\","
                                                  "\"BootSourceOverrideEnabled\":\"Once\","
                                                  "\"BootSourceOverrideMode\":\"UEFI\"}}"));
}

TEST_F(Boot, TakesTheOverrideBack) {
  ASSERT_TRUE(set(BootTarget::pxe));

  const auto done = set(BootTarget::none);

  ASSERT_TRUE(done) << done.assume_error().what;
  EXPECT_EQ(seen().assume_value(), BootOverride{});
}

TEST_F(Boot, IsUnsupportedWhereTheBmcDoesNotHaveTheTarget) {
  const auto done = set(BootTarget::virtual_cd);

  EXPECT_EQ(done.assume_error().code, Code::kUnsupported);
  EXPECT_THAT(done.assume_error().what, HasSubstr("the BMC has: None, Pxe, Hdd, UefiHttp"));
  EXPECT_THAT(server.asked().patches, ElementsAre());
}

TEST_F(Boot, FailsWhereTheBmcAcceptsItAndForgetsIt) {
  server.change([](auto& options) { options.forgets_patches = true; });

  const auto done = set(BootTarget::pxe);

  EXPECT_EQ(done.assume_error().code, Code::kFailed);
  EXPECT_EQ(done.assume_error().what,
            "a01-n01: boot pxe once: /redfish/v1/Systems/1: the BMC accepted boot target pxe and "
            "reads back none");
}

TEST_F(Boot, NamesTheEtagToABmcThatWantsOne) {
  server.change([](auto& options) { options.wants_if_match = true; });
  EXPECT_TRUE(set(BootTarget::pxe));
  EXPECT_EQ(server.asked().patches.size(), 1u);
}

TEST_F(Boot, TriesTheStrongFormOfAWeakEtagThatTheBmcRefuses) {
  server.misbehave({.method = "PATCH", .times = 2, .status = 412});
  auto system = test_system();
  system.as_object()["@odata.etag"] = "W/\"abc\"";
  server.set(kSystem, system);

  const auto done = set(BootTarget::pxe);

  ASSERT_TRUE(done) << done.assume_error().what;
  ASSERT_EQ(server.asked().patches.size(), 1u);
  EXPECT_TRUE(server.asked().patches.front().starts_with("/redfish/v1/Systems/1 \"abc\" "));
}

TEST_F(Boot, SaysStarWhereThereIsNoEtag) {
  server.change([](auto& options) { options.wants_if_match = true; });
  auto system = test_system();
  system.as_object().erase("@odata.etag");
  server.set(kSystem, system);

  ASSERT_TRUE(set(BootTarget::pxe));
  EXPECT_TRUE(server.asked().patches.front().starts_with("/redfish/v1/Systems/1 * "));
}

TEST_F(Boot, LeavesTheModeOutWhereTheBmcHasNone) {
  auto system = test_system();
  system.at("Boot").as_object().erase("BootSourceOverrideMode");
  server.set(kSystem, system);

  ASSERT_TRUE(set(BootTarget::pxe));
  EXPECT_THAT(server.asked().patches.front(), Not(HasSubstr("BootSourceOverrideMode")));
}

TEST_F(Boot, WritesToTheSettingsResourceWhereThatOneHasTheOverride) {
  auto system = test_system();
  system.as_object()["@Redfish.Settings"] = {
      {"SettingsObject", {{"@odata.id", "/redfish/v1/Systems/1/SD"}}}};
  server.set(kSystem, system);
  server.set("/redfish/v1/Systems/1/SD",
             json::value{{"Boot", {{"BootSourceOverrideTarget", "None"}}}});

  ASSERT_TRUE(set(BootTarget::pxe));
  EXPECT_TRUE(server.asked().patches.front().starts_with("/redfish/v1/Systems/1/SD "));
}

TEST_F(Boot, WritesToTheSystemWhereTheSettingsResourceHasNoOverride) {
  auto system = test_system();
  system.as_object()["@Redfish.Settings"] = {
      {"SettingsObject", {{"@odata.id", "/redfish/v1/Systems/1/Pending"}}}};
  server.set(kSystem, system);
  server.set("/redfish/v1/Systems/1/Pending", json::value{{"Boot", {{"BootOrder", {"Boot0001"}}}}});

  ASSERT_TRUE(set(BootTarget::pxe));
  EXPECT_TRUE(server.asked().patches.front().starts_with("/redfish/v1/Systems/1 "));
}

}  // namespace
}  // namespace cupel::bmc
