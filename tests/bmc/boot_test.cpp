#include "tests/bmc/acting.h"

namespace cupel::bmc {
namespace {

class Boot : public OverHttps {
 protected:
  Result<void> set(BootTarget target) {
    const auto bmc = open();
    const bool once = target != BootTarget::none;
    const auto done = run(bmc->boot.set({.target = target, .once = once}, soon()));
    run(bmc->log_out());
    if (!done) return done.error();
    return ok();
  }
  Result<BootOverride> seen() {
    const auto bmc = open();
    const auto reported = run(bmc->boot.read(soon()));
    run(bmc->log_out());
    if (!reported) return reported.error();
    return reported->value;
  }
};

TEST_F(Boot, SetsTargetEnabledAndModeTogetherAndReadsThemBack) {
  const auto before = seen();
  const auto done = set(BootTarget::uefi_http);
  const auto after = seen();

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(*before, (BootOverride{.target = BootTarget::none, .once = false}));
  EXPECT_EQ(*after, (BootOverride{.target = BootTarget::uefi_http, .once = true}));
  EXPECT_THAT(server.asked().patches, ElementsAre("/redfish/v1/Systems/1 \"abc\" {\"Boot\":{"
                                                  "\"BootSourceOverrideTarget\":\"UefiHttp\","
                                                  "\"BootSourceOverrideEnabled\":\"Once\","
                                                  "\"BootSourceOverrideMode\":\"UEFI\"}}"));
}

// Orders are what BMCs get wrong most (suffixes in their entries, lists in no order, an order that
// never converges): an override is enough.
TEST_F(Boot, NeverTouchesTheBootOrder) {
  for (const auto target : {BootTarget::pxe, BootTarget::uefi_http, BootTarget::none})
    ASSERT_TRUE(set(target));

  const auto asked = server.asked();
  EXPECT_EQ(asked.patches.size(), 3u);
  for (const auto& patch : asked.patches) EXPECT_EQ(patch.find("BootOrder"), patch.npos) << patch;
  for (const auto& line : asked.lines) EXPECT_EQ(line.find("BootOptions"), line.npos) << line;
}

TEST_F(Boot, TakesTheOverrideBack) {
  ASSERT_TRUE(set(BootTarget::pxe));

  const auto done = set(BootTarget::none);

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(*seen(), BootOverride{});
}

TEST_F(Boot, IsUnsupportedWhereTheBmcDoesNotHaveTheTarget) {
  const auto done = set(BootTarget::virtual_cd);

  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_THAT(done.error().what, HasSubstr("the BMC has: None, Pxe, Hdd, UefiHttp"));
  EXPECT_THAT(server.asked().patches, ElementsAre());
}

TEST_F(Boot, FailsWhereTheBmcAcceptsItAndForgetsIt) {
  server.change([](auto& options) { options.forgets_patches = true; });

  const auto done = set(BootTarget::pxe);

  EXPECT_EQ(done.error().code, Code::kFailed);
  EXPECT_EQ(done.error().what,
            "a01-n01: boot pxe once: /redfish/v1/Systems/1: the BMC accepted boot target pxe and "
            "reads back none");
}

TEST_F(Boot, IsSetThoughTheAnswerWasLost) {
  server.misbehave({.method = "PATCH", .kind = test::Habit::Kind::act_and_reset});
  const auto done = set(BootTarget::pxe);
  server.misbehave({.method = "PATCH", .kind = test::Habit::Kind::reset_connection});
  const auto not_done = set(BootTarget::disk);

  EXPECT_TRUE(done) << done.error().what;
  ASSERT_FALSE(not_done);
  EXPECT_EQ(not_done.error().code, Code::kUnreachable);
  EXPECT_THAT(not_done.error().what, HasSubstr("reads back pxe"));
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

  ASSERT_TRUE(done) << done.error().what;
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

// Of a part of the order no other one can be made: what was cut would be lost.
TEST_F(Boot, OrderOfMoreOptionsThanAreReadIsAnErrorAndIsNotWritten) {
  const auto system_with = [](std::size_t options) {
    auto system = test_system();
    json::array order;
    for (std::size_t i = 0; i < options; ++i) order.emplace_back("Boot" + std::to_string(1000 + i));
    system.at("Boot").as_object()["BootOrder"] = std::move(order);
    return system;
  };
  const auto order_of = [&](std::size_t options) {
    server.set(kSystem, system_with(options));
    const auto bmc = open();
    auto order = run(bmc->settings.boot_order(soon()));
    run(bmc->log_out());
    return order;
  };
  const auto whole = order_of(128);
  const auto cut = order_of(129);
  const auto bmc = open();
  const auto done = run(bmc->settings.set_boot_order({"Boot1001"}, soon()));
  run(bmc->log_out());

  ASSERT_TRUE(whole) << whole.error().what;
  EXPECT_EQ(whole->current.size(), 128u);
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().what, HasSubstr("a boot order of more than 128 options"));
  EXPECT_FALSE(done);
  EXPECT_THAT(server.asked().patches, ElementsAre());
}

/// A BMC whose own behavior is asked for, with what a test puts in.
class BootBehavior : public Acting {
 protected:
  Result<Protocol> set(BootOverride requested) {
    const auto bmc = open();
    auto done = run(bmc->boot.set(requested, soon()));
    run(bmc->log_out());
    return done;
  }
  json::object& boot_of(json::value& system) { return system.at("Boot").as_object(); }
};

TEST_F(BootBehavior, TellsTheMachineTheUriOfUefiHttp) {
  auto system = test_system();
  boot_of(system)["HttpBootUri"] = nullptr;
  server.set(kSystem, system);
  const BootOverride requested{
      .target = BootTarget::uefi_http, .once = true, .uri = "http://10.0.0.1/boot.efi"};

  const auto done = set(requested);

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(server.asked().patches.front(),
              HasSubstr("\"HttpBootUri\":\"http://10.0.0.1/boot.efi\""));
}

TEST_F(BootBehavior, ClearsTheUriOfAnOverrideBefore) {
  for (const auto target : {BootTarget::uefi_http, BootTarget::none}) {
    auto system = test_system();
    boot_of(system)["HttpBootUri"] = "http://10.0.0.1/boot/old-ticket";
    server.set(kSystem, system);

    const auto done = set({.target = target, .once = true});

    ASSERT_TRUE(done) << done.error().what;
    EXPECT_THAT(server.asked().patches.back(), HasSubstr("\"HttpBootUri\":\"\""));
  }
}

TEST_F(BootBehavior, LeavesTheUriWhereTheBmcDoesNotTakeAnEmptyOne) {
  auto system = test_system();
  boot_of(system)["HttpBootUri"] = "http://10.0.0.1/boot/old-ticket";
  server.set(kSystem, system);
  server.misbehave({.method = "PATCH",
                    .status = 400,
                    .body = test::refusal("Base.1.8.PropertyValueFormatError",
                                          "The value of HttpBootUri has the wrong format.")});

  const auto done = set({.target = BootTarget::pxe, .once = true});

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(server.asked().patches.back(), Not(HasSubstr("HttpBootUri")));
}

TEST_F(BootBehavior, AdvisesWhereTheMachineTakesNoUri) {
  become("Dell Inc.", "PowerEdge R750");

  const auto done =
      set({.target = BootTarget::uefi_http, .once = true, .uri = "http://10.0.0.1/boot.efi"});

  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_THAT(done.error().what, HasSubstr("set the BIOS attributes HttpDev1EnDis"));
  EXPECT_THAT(server.asked().patches, ElementsAre());
}

TEST_F(BootBehavior, TakesAnUriForUefiHttpAlone) {
  const auto done = set({.target = BootTarget::pxe, .once = true, .uri = "http://10.0.0.1/a"});
  EXPECT_EQ(done.error().code, Code::kInvalid);
}

TEST_F(BootBehavior, StaysUntilItIsTakenBackWhereThatIsAskedFor) {
  const auto done = set({.target = BootTarget::pxe, .once = false});

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(server.asked().patches.front(),
              HasSubstr("\"BootSourceOverrideEnabled\":\"Continuous\""));
}

/// sushy-emulator keeps each override until another one comes, whatever was asked for.
class KeepsEveryOverride : public BootBehavior {
 protected:
  void SetUp() override {
    auto system = test_system();
    boot_of(system)["BootSourceOverrideTarget"] = "Hdd";
    boot_of(system)["BootSourceOverrideEnabled"] = "Continuous";
    server.set(kSystem, system);
    server.change([this](auto& options) {
      options.writes = [this](const auto&, const auto& uri, const json::value& body,
                              test::Resources& now) -> std::optional<test::Written> {
        const auto target = text_at(body, "Boot/BootSourceOverrideTarget");
        if (!target) return std::nullopt;
        if (++written >= refuses_from) return test::Written{.status = 500};
        auto changed = *now.read(uri);
        boot_of(changed)["BootSourceOverrideTarget"] = *target;
        now.write(uri, changed);
        return test::Written{};
      };
    });
  }
  int written = 0, refuses_from = 1000;
};

TEST_F(KeepsEveryOverride, HasItPutBackWhereOneBootWasAskedFor) {
  const auto done = set({.target = BootTarget::pxe, .once = true});
  const auto bmc = open();
  const auto now = run(bmc->boot.read(soon()));
  run(bmc->log_out());

  EXPECT_EQ(done.error().code, Code::kFailed);
  EXPECT_THAT(done.error().what,
              HasSubstr("the BMC set boot target pxe for every boot (Continuous), not for the next "
                        "one; it was put back to disk"));
  EXPECT_EQ(now->value, (BootOverride{.target = BootTarget::disk}));
}

TEST_F(KeepsEveryOverride, ReportsAPermanentOverrideWhereItCannotBeRemoved) {
  refuses_from = 2;

  const auto done = set({.target = BootTarget::pxe, .once = true});

  EXPECT_THAT(done.error().what, HasSubstr("it could not be put back"));
  EXPECT_THAT(done.error().what, HasSubstr("HTTP 500"));
  EXPECT_THAT(done.error().what, HasSubstr("every boot is from pxe until"));
}

TEST_F(BootBehavior, NeverAsksALenovoForAnOverrideThatStays) {
  become("Lenovo", "ThinkSystem SR650 V3");

  const auto done = set({.target = BootTarget::pxe, .once = false});

  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_THAT(done.error().what, HasSubstr("set it once before each boot"));
  EXPECT_THAT(server.asked().patches, ElementsAre());
}

TEST_F(BootBehavior, IsBusyAndAsksOnceWhileAnIloIsInPost) {
  server.misbehave({.method = "PATCH",
                    .times = 5,
                    .status = 400,
                    .body = test::refusal("iLO.2.14.UnableToModifyDuringSystemPOST", "In POST.")});

  const auto done = set({.target = BootTarget::pxe, .once = true});

  EXPECT_EQ(done.error().code, Code::kBusy);
  EXPECT_EQ(done.error().retry_after, 30s);
  EXPECT_THAT(done.error().what, HasSubstr("the machine is in POST"));
  EXPECT_EQ(std::ranges::count_if(server.asked().lines,
                                  [](const auto& line) { return line.starts_with("PATCH"); }),
            1);
}

TEST_F(BootBehavior, WritesWhereAnAmiWantsWhatTakesEffectLater) {
  server.set("/redfish/v1/Systems/1/SD", test_system());
  server.misbehave({.method = "PATCH",
                    .status = 400,
                    .body = test::refusal("Base.1.12.OperationSupportedInFutureStateURI",
                                          "Use /redfish/v1/Systems/1/SD instead.")});

  const auto done = set({.target = BootTarget::pxe, .once = true});

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(machine.patched, ElementsAre("/redfish/v1/Systems/1/SD"));
}

TEST_F(BootBehavior, KnowsWhereAnAmiWantsItThoughItDoesNotSay) {
  become("GIGABYTE", "H262-Z63-00");
  server.set("/redfish/v1/Systems/1/SD", test_system());
  server.misbehave({.method = "PATCH",
                    .status = 400,
                    .body = test::refusal("Base.1.12.OperationSupportedInFutureStateURI", "")});

  const auto done = set({.target = BootTarget::pxe, .once = true});

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(machine.patched, ElementsAre("/redfish/v1/Systems/1/SD"));
}

TEST_F(BootBehavior, TakesTargetsThatAnIdrac10ListsInItsSettingsAlone) {
  auto system = test_system(), settings = test_system();
  boot_of(system).erase("BootSourceOverrideTarget@Redfish.AllowableValues");
  boot_of(settings)["BootSourceOverrideTarget@Redfish.AllowableValues"] = {"None", "Cd"};
  system.as_object()["@Redfish.Settings"] = {
      {"SettingsObject", {{"@odata.id", "/redfish/v1/Systems/1/Settings"}}}};
  server.set(kSystem, system);
  server.set("/redfish/v1/Systems/1/Settings", settings);

  EXPECT_TRUE(set({.target = BootTarget::virtual_cd, .once = true}));
  EXPECT_EQ(set({.target = BootTarget::pxe, .once = true}).error().code, Code::kUnsupported);
}

TEST_F(BootBehavior, BootsASupermicrosVirtualDiscByItsUsb) {
  auto system = test_system();
  system.as_object()["Manufacturer"] = "Supermicro";
  boot_of(system)["BootSourceOverrideTarget@Redfish.AllowableValues"] = {"None", "Cd", "UsbCd"};
  server.set(kSystem, system);

  ASSERT_TRUE(set({.target = BootTarget::virtual_cd, .once = true}));
  EXPECT_THAT(server.asked().patches.front(), HasSubstr("\"UsbCd\""));
}

TEST_F(BootBehavior, KeepsTheModeWhenItTakesTheOverrideBack) {
  ASSERT_TRUE(set({}));
  EXPECT_THAT(server.asked().patches.front(),
              HasSubstr("\"BootSourceOverrideEnabled\":\"Disabled\","
                        "\"BootSourceOverrideMode\":\"UEFI\""));
}

TEST_F(BootBehavior, FailsWhereTheMachineWouldBootInLegacyMode) {
  auto system = test_system();
  boot_of(system)["BootSourceOverrideMode"] = "Legacy";
  boot_of(system)["BootSourceOverrideTarget"] = "Pxe";
  boot_of(system)["BootSourceOverrideEnabled"] = "Once";
  server.set(kSystem, system);
  server.change([](auto& options) { options.forgets_patches = true; });

  const auto done = set({.target = BootTarget::pxe, .once = true});

  EXPECT_EQ(done.error().code, Code::kFailed);
  EXPECT_THAT(done.error().what, HasSubstr("in legacy mode"));
}

TEST_F(BootBehavior, NamesTheRequestInAnUnknownRefusal) {
  server.misbehave({.method = "PATCH",
                    .status = 400,
                    .body = test::refusal("Contoso.1.0.Whatever", "The moon is full.")});

  const auto done = set({.target = BootTarget::pxe, .once = true});

  EXPECT_EQ(done.error().what,
            "a01-n01: boot pxe once: PATCH /redfish/v1/Systems/1: HTTP 400: The moon is full. "
            "(Contoso.1.0.Whatever); sent {\"Boot\":{\"BootSourceOverrideTarget\":\"Pxe\","
            "\"BootSourceOverrideEnabled\":\"Once\",\"BootSourceOverrideMode\":\"UEFI\"}}");
}

/// A BMC whose documents hold readings: their tag is another one by the time the PATCH comes.
TEST_F(Boot, AsksForAFreshTagAgainWhereTheTagChangesAllTheTime) {
  server.change([](auto& options) {
    options.last_word = [reads = 0, writes = 0](test::Exchanged& now) mutable {
      if (now.path != kSystem) return;
      if (now.method == "GET")
        now.answer.insert(1, "\"@odata.etag\":\"tag " + std::to_string(++reads) + "\",");
      if (now.method == "PATCH" && ++writes < 3) now.status = 412;
    };
  });
  auto system = test_system();
  system.as_object().erase("@odata.etag");
  server.set(kSystem, system);
  const auto bmc = open();

  const auto done = run(bmc->boot.set({.target = BootTarget::pxe, .once = true}, soon()));
  run(bmc->log_out());

  ASSERT_TRUE(done) << done.error().what;
  const auto patches = server.asked().patches;
  ASSERT_EQ(patches.size(), 3u);
  for (const auto& patch : patches) EXPECT_THAT(patch, HasSubstr(" tag ")) << "and never *";
}

}  // namespace
}  // namespace cupel::bmc
