// In what the vendors differ: one test for each way.
#include "tests/rehearsal/bmc_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

HttpResponse reset(BmcBench& bmc, const std::string& type) {
  return bmc.ask("POST", bmc.view().system() + "/Actions/ComputerSystem.Reset",
                 R"({"ResetType": ")" + type + "\"}");
}
std::string boot_body(const std::string& target) {
  return R"({"Boot": {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": ")" +
         target + "\"}}";
}

TEST(BmcBehavior, DellSaysThatItIsSoAlready) {
  BmcBench bmc{"dell"};

  const auto refused = reset(bmc, "ForceOff");

  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("ActionParameterValueConflict"));
  EXPECT_EQ(reset(bmc, "On").status, 200);
}

TEST(BmcBehavior, OthersAcceptWhatIsSoAlready) {
  EXPECT_EQ(reset(*std::make_unique<BmcBench>("lenovo"), "ForceOff").status, 204);
  EXPECT_EQ(reset(*std::make_unique<BmcBench>("openbmc"), "ForceOff").status, 204);
}

TEST(BmcBehavior, LenovosForceRestartHangsTheMachineUntilItIsOff) {
  BmcBench bmc{"lenovo"};
  bmc.boot();

  EXPECT_EQ(reset(bmc, "ForceRestart").status, 204);

  EXPECT_FALSE(bmc.machine.up());
  bmc.pass(VirtualTime{300});
  EXPECT_FALSE(bmc.machine.up());
  EXPECT_EQ(reset(bmc, "ForceOff").status, 204);
  bmc.run_until([&] { return bmc.machine.power() == Power::off; });
  reset(bmc, "On");
  EXPECT_TRUE(bmc.run_until([&] { return bmc.machine.up(); }));
}

TEST(BmcBehavior, AResetThatTheBmcDoesNotOfferIsRefused) {
  BmcBench bmc{"dgx"};
  bmc.boot();

  EXPECT_EQ(reset(bmc, "PowerCycle").status, 400);

  EXPECT_TRUE(bmc.machine.up());
}

TEST(BmcBehavior, AnAcCycleTakesTheMachineAndItsBmc) {
  BmcBench bmc{"openbmc"};
  bmc.boot();
  int restarts = 0;
  bmc.service.on_restart = [&] { ++restarts; };
  const auto target = "/redfish/v1/" + std::string{bmc.view().behavior().power.ac.action};

  EXPECT_EQ(bmc.ask("POST", target, R"({"ResetType": "ForceOff"})").status, 400);
  EXPECT_EQ(bmc.ask("POST", target, R"({"ResetType": "AuxPowerCycle"})").status, 204);

  EXPECT_EQ(restarts, 1);
  EXPECT_FALSE(bmc.machine.up());
}

TEST(BmcBehavior, SupermicroForgetsWhatABootPatchLeavesOut) {
  BmcBench bmc{"supermicro"};
  bmc.machine.set_boot_override({.enabled = "Continuous", .target = "Hdd"});

  bmc.ask("PATCH", bmc.view().system(), R"({"Boot": {"BootSourceOverrideTarget": "Pxe"}})");

  EXPECT_EQ(bmc.machine.boot_override(),
            (BootOverride{.enabled = "Once", .target = "Pxe", .mode = "Legacy"}));
}

TEST(BmcBehavior, AmiTakesABootOverrideInItsSettingsAlone) {
  BmcBench bmc{"ami"};

  const auto refused = bmc.ask("PATCH", bmc.view().system(), boot_body("Pxe"));

  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("OperationSupportedInFutureStateURI"));
  EXPECT_EQ(bmc.ask("PATCH", bmc.view().boot(), boot_body("Pxe")).status, 204);
}

TEST(BmcBehavior, AmiDropsAPatchWithoutIfMatchAndSaysNothing) {
  BmcBench bmc{"ami"};

  const auto dropped = bmc.ask("PATCH", bmc.view().boot(), boot_body("Pxe"), {{"if-match", ""}});

  EXPECT_EQ(dropped.status, 200);
  EXPECT_EQ(bmc.machine.boot_override(), BootOverride{});
}

TEST(BmcBehavior, DgxWantsAnIfMatch) {
  BmcBench bmc{"dgx"};

  EXPECT_EQ(bmc.ask("PATCH", bmc.view().boot(), boot_body("Pxe"), {{"if-match", ""}}).status, 428);
  EXPECT_EQ(bmc.ask("PATCH", bmc.view().boot(), boot_body("Pxe")).status, 204);
}

TEST(BmcBehavior, AmiRefusesTheWeakTagThatItGave) {
  BmcBench bmc{"ami"};
  const auto tag = bmc.ask("GET", bmc.view().boot()).headers.at("ETag");
  ASSERT_TRUE(tag.starts_with("W/"));

  EXPECT_EQ(bmc.ask("PATCH", bmc.view().boot(), boot_body("Pxe"), {{"if-match", tag}}).status, 412);
  EXPECT_EQ(
      bmc.ask("PATCH", bmc.view().boot(), boot_body("Pxe"), {{"if-match", tag.substr(2)}}).status,
      204);
}

TEST(BmcBehavior, TagsTakeTheVendorsForm) {
  const auto tag = [](const std::string& vendor) {
    BmcBench bmc{vendor};
    const auto response = bmc.ask("GET", bmc.view().system());
    const auto found = response.headers.find("ETag");
    return found == response.headers.end() ? "" : found->second.substr(0, 3);
  };

  EXPECT_EQ(tag("hpe"), "W/\"");
  EXPECT_EQ(tag("lenovo")[0], '"');
  EXPECT_THAT(tag("dell"), Not(HasSubstr("\"")));
  EXPECT_EQ(tag("openbmc"), "");
}

TEST(BmcBehavior, DellRefusesAnIfMatchOnAnAction) {
  BmcBench bmc{"dell"};

  const auto refused = bmc.ask("POST", bmc.view().system() + "/Actions/ComputerSystem.Reset",
                               R"({"ResetType": "On"})", {{"if-match", "*"}});

  EXPECT_EQ(refused.status, 412);
  EXPECT_EQ(bmc.machine.power(), Power::off);
}

TEST(BmcBehavior, LenovoRefusesAGoodTagNowAndThen) {
  BmcBench bmc{"lenovo"};
  std::vector<int> answers;

  for (int i = 0; i < 6; ++i)
    answers.push_back(bmc.ask("PATCH", bmc.view().system(), boot_body("Pxe")).status);

  EXPECT_THAT(answers, ::testing::ElementsAre(200, 200, 412, 200, 200, 412));
}

TEST(BmcBehavior, HpeTakesNoBootOverrideDuringPost) {
  BmcBench bmc{"hpe"};
  reset(bmc, "On");
  ASSERT_TRUE(bmc.run_until([&] { return bmc.machine.in_post(); }));

  const auto refused = bmc.ask("PATCH", bmc.view().system(), boot_body("Pxe"));

  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("UnableToModifyDuringSystemPOST"));
  bmc.run_until([&] { return bmc.machine.up(); });
  EXPECT_EQ(bmc.ask("PATCH", bmc.view().system(), boot_body("Pxe")).status, 200);
}

TEST(BmcBehavior, HpeNamesItsMessagesAndDoesNotSayThem) {
  BmcBench bmc{"hpe"};

  const auto missing = bmc.ask("GET", "/redfish/v1/Nothing");

  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(missing.body, HasSubstr("\"MessageId\":\"Base.1.12.ResourceMissingAtURI\""));
  EXPECT_THAT(missing.body, Not(HasSubstr("\"Message\":")));
}

TEST(BmcBehavior, HpeWrapsSuccessInAnError) {
  BmcBench bmc{"hpe"};

  const auto done = reset(bmc, "On");

  EXPECT_EQ(done.status, 200);
  EXPECT_THAT(done.body, HasSubstr("\"error\""));
  EXPECT_THAT(done.body, HasSubstr("Base.1.12.Success"));
}

TEST(BmcBehavior, HpeForgetsWhoAsksNowAndThen) {
  BmcBench bmc{"hpe"};
  int refused = 0;

  for (int i = 0; i < 80; ++i) refused += bmc.ask("GET", bmc.view().system()).status == 401;

  EXPECT_EQ(refused, 2);
}

TEST(BmcBehavior, DgxBootsFromTheUriThatItIsTold) {
  BmcBench bmc{"dgx"};

  const auto set = bmc.ask("PATCH", bmc.view().boot(),
                           R"({"Boot": {"BootSourceOverrideEnabled": "Once",
                                        "BootSourceOverrideTarget": "UefiHttp",
                                        "HttpBootUri": "http://10.0.0.1/boot.efi"}})");

  EXPECT_EQ(set.status, 204);
  EXPECT_EQ(bmc.seen(bmc.view().boot(), "Boot/HttpBootUri"), "http://10.0.0.1/boot.efi");
  bmc.boot();
  EXPECT_EQ(bmc.machine.booted_from(), "UefiHttp");
  EXPECT_EQ(bmc.machine.booted_image(), "http://10.0.0.1/boot.efi");
  EXPECT_EQ(bmc.seen(bmc.view().boot(), "Boot/HttpBootUri"), "null");
}

TEST(BmcBehavior, OthersKnowNoHttpBootUri) {
  BmcBench bmc{"openbmc"};

  const auto refused =
      bmc.ask("PATCH", bmc.view().boot(), R"({"Boot": {"HttpBootUri": "http://10.0.0.1/a"}})");

  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("PropertyUnknown"));
}

TEST(BmcBehavior, DellSaysThatItsSessionsAreUsedUp) {
  BmcBench bmc{"dell"};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(bmc.log_in(bmc.password).status, 201);

  const auto refused = bmc.log_in(bmc.password);

  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("RAC0218"));
}

TEST(BmcBehavior, PowerStateTrailsTheMachineByTheVendorsLag) {
  BmcBench bmc{BmcSpec{.vendor = "lenovo"}, {}, 100};
  bmc.machine.press(Reset::on);
  bmc.run_until([&] { return bmc.machine.power() == Power::on; });

  EXPECT_NE(bmc.seen(bmc.view().system(), "PowerState"), "On");
  bmc.pass(VirtualTime{9});
  EXPECT_EQ(bmc.seen(bmc.view().system(), "PowerState"), "On");
}

TEST(BmcBehavior, DellShowsPendingSettingsAsIfTheyWere) {
  BmcBench bmc{"dell"};
  const auto staged = R"({"Attributes": {"LogicalProc": "Disabled"}})";

  EXPECT_EQ(bmc.ask("PATCH", bmc.view().bios_settings(), staged).status, 200);

  EXPECT_EQ(bmc.seen(bmc.view().bios(), "Attributes/LogicalProc"), "Disabled");
  bmc.boot();
  EXPECT_EQ(bmc.service.state().bios.current().at("LogicalProc"), "Enabled");
}

TEST(BmcBehavior, DellMakesSettingsByOneJob) {
  BmcBench bmc{"dell"};
  bmc.ask("PATCH", bmc.view().bios_settings(), R"({"Attributes": {"LogicalProc": "Disabled"}})");
  const auto jobs = bmc.view().manager() + "/Jobs";
  const auto body = R"({"TargetSettingsURI": ")" + bmc.view().bios_settings() + "\"}";

  auto made = bmc.ask("POST", jobs, body);

  EXPECT_EQ(made.status, 200);
  const auto job = made.headers["Location"];
  EXPECT_EQ(bmc.seen(job, "JobState"), "Scheduled");
  const auto second = bmc.ask("POST", jobs, body);
  EXPECT_EQ(second.status, 400);
  EXPECT_THAT(second.body, HasSubstr("already committed"));
  bmc.boot();
  EXPECT_EQ(bmc.seen(job, "JobState"), "Completed");
  EXPECT_EQ(bmc.service.state().bios.current().at("LogicalProc"), "Disabled");
}

TEST(BmcBehavior, SupermicroWantsALicence) {
  BmcBench bmc{BmcSpec{.vendor = "supermicro", .licensed = false}};

  const auto refused = bmc.ask("PATCH", bmc.view().bios_settings(),
                               R"({"Attributes": {"LogicalProc": "Disabled"}})");

  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("SFT-OOB-LIC"));
}

TEST(BmcBehavior, VirtualMediaBehaveAsTheVendorsDo) {
  const auto insert = [](const std::string& vendor, const std::string& slot,
                         const std::string& more) {
    BmcBench bmc{vendor};
    return bmc
        .ask("POST", bmc.view().media() + "/" + slot + "/Actions/VirtualMedia.InsertMedia",
             R"({"Image": "http://10.0.0.1/a.iso")" + more + "}")
        .status;
  };

  EXPECT_EQ(insert("supermicro", "VirtualMedia1", R"(, "Inserted": true)"), 400);
  EXPECT_EQ(insert("supermicro", "VirtualMedia1", ""), 200);
  EXPECT_EQ(insert("ami", "CD1", ""), 400);
  EXPECT_EQ(insert("ami", "CD1", R"(, "TransferProtocolType": "HTTP")"), 204);
  EXPECT_EQ(insert("dell", "1", R"(, "Inserted": true, "WriteProtected": true)"), 200);
  EXPECT_EQ(insert("lenovo", "EXT1", ""), 404);
  BmcBench hpe{"hpe"};
  const auto eject = hpe.view().media() + "/2/Actions/VirtualMedia.EjectMedia";
  EXPECT_EQ(hpe.ask("POST", eject).status, 400);
  EXPECT_EQ(hpe.ask("POST", eject, "{}").status, 200);
}

TEST(BmcBehavior, AmisDriveSaysForAWhileThatItHoldsWhatIsGone) {
  BmcBench bmc{BmcSpec{.vendor = "ami"}, {}, 100};
  const auto slot = bmc.view().media() + "/CD1";
  bmc.ask("POST", slot + "/Actions/VirtualMedia.InsertMedia",
          R"({"Image": "http://10.0.0.1/a.iso", "TransferProtocolType": "HTTP"})");

  bmc.ask("POST", slot + "/Actions/VirtualMedia.EjectMedia", "{}");

  EXPECT_EQ(bmc.seen(slot, "Inserted"), "true");
  bmc.pass(VirtualTime{21});
  EXPECT_EQ(bmc.seen(slot, "Inserted"), "false");
}

TEST(BmcBehavior, AmiAnswersWithAWebPageUntilItIsBack) {
  BmcBench bmc{"ami"};
  bmc.ask("POST", bmc.view().manager() + "/Actions/Manager.Reset", "{}");

  const auto busy = bmc.ask("GET", kRoot);

  EXPECT_EQ(busy.status, 503);
  EXPECT_THAT(busy.body, HasSubstr("<html>"));
  bmc.pass(VirtualTime{121});
  bmc.token.clear();
  EXPECT_EQ(bmc.ask("GET", kRoot).status, 200);
}

}  // namespace
}  // namespace cupel::rehearsal
