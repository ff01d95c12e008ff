// `cupel bmc`: what an operator asks of BMCs by hand.
#include "tests/e2e/site.h"
#include "tests/support/small_machine.h"

namespace cupel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BmcTest : public ::testing::Test {
 protected:
  void SetUp() override { CUPEL_NEEDS_SITE(); }
};

TEST_F(BmcTest, TurnsAMachineOffAndOnAndSaysSoOnlyWhenItsBmcDoes) {
  Site site{1, Site::Slurm::none};

  const auto off = site.run({"bmc", "s01-n01", "power", "off"});
  const auto reported_off = site.run({"bmc", "s01-n01", "power"});
  const auto on = site.run({"bmc", "s01-n01", "power", "on", "--json"});

  EXPECT_EQ(off.status, 0) << off.err;
  EXPECT_EQ(reported_off.out, "s01-n01: off\n");
  EXPECT_EQ(on.status, 0) << on.err;
  EXPECT_EQ(json::serialize(json_lines(on.out).front()),
            R"({"power":"on","by":"redfish","node":"s01-n01"})");
  EXPECT_THAT(site.bmc(1).asked().resets, ElementsAre("GracefulShutdown", "On"));
  EXPECT_EQ(site.bmc(1).asked().open_sessions, 0);
}

TEST_F(BmcTest, DoesNotPressAButtonThatNeedsNoPressing) {
  Site site{1, Site::Slurm::none};

  const auto on = site.run({"bmc", "s01-n01", "power", "on"});

  EXPECT_EQ(on.status, 0) << on.err;
  EXPECT_THAT(site.bmc(1).asked().resets, IsEmpty());
}

TEST_F(BmcTest, SetsTheNextBootOnce) {
  Site site{1, Site::Slurm::none};

  const auto set = site.run({"bmc", "s01-n01", "boot", "pxe"});

  EXPECT_EQ(set.status, 0) << set.err;
  ASSERT_EQ(site.bmc(1).asked().patches.size(), 1);
  EXPECT_THAT(site.bmc(1).asked().patches.front(), AllOf(HasSubstr("Once"), HasSubstr("Pxe")));
}

TEST_F(BmcTest, TellsPartsForProgramsToo) {
  Site site{1, Site::Slurm::none};

  const auto reported = site.run({"bmc", "all", "inventory", "--json"});

  EXPECT_EQ(reported.status, 0) << reported.err;
  ASSERT_EQ(json_lines(reported.out).size(), 1);
  EXPECT_THAT(reported.out,
              AllOf(HasSubstr(R"("serial":"437XR1138R2")"), HasSubstr(R"("unknown":[)")));
}

TEST_F(BmcTest, SaysWhichBmcDoesNotAnswerAndGoesOnWithTheOthers) {
  Site site{2, Site::Slurm::none};
  site.bmcs[0] = nullptr;  // gone; its address is still in the inventory

  const auto reported = site.run({"bmc", "all", "power"});

  EXPECT_EQ(reported.status, 1);
  EXPECT_THAT(reported.err, HasSubstr("s01-n01"));
  EXPECT_EQ(reported.out, "s01-n02: on\n");
}

TEST_F(BmcTest, AResetOfTheMachineIsNoneOfItsBmc) {
  Site site{1, Site::Slurm::none};

  const auto pressed = site.run({"bmc", "s01-n01", "power", "reset"});

  EXPECT_EQ(pressed.status, 0) << pressed.err;
  EXPECT_EQ(pressed.out, "s01-n01: on, after a restart\n");
  EXPECT_THAT(site.bmc(1).asked().resets, ElementsAre("ForceRestart"));
}

TEST_F(BmcTest, TurnsOffAtOnceOnRequest) {
  Site site{1, Site::Slurm::none};

  const auto off = site.run({"bmc", "s01-n01", "power", "off", "--force"});

  EXPECT_EQ(off.status, 0) << off.err;
  EXPECT_THAT(site.bmc(1).asked().resets, ElementsAre("ForceOff"));
}

TEST_F(BmcTest, ReadsTheBootOverrideWithoutTouchingIt) {
  Site site{1, Site::Slurm::none};

  const auto reported = site.run({"bmc", "s01-n01", "boot"});

  EXPECT_EQ(reported.status, 0) << reported.err;
  EXPECT_THAT(reported.out, HasSubstr("no override"));
  EXPECT_THAT(site.bmc(1).asked().patches, IsEmpty());
}

TEST_F(BmcTest, RefusesAUrlWithAnUnsupportedScheme) {
  Site site{1, Site::Slurm::none};

  const auto file = site.run({"bmc", "s01-n01", "boot", "cd", "file:///etc/passwd"});
  const auto pxe = site.run({"bmc", "s01-n01", "boot", "pxe", "http://10.0.0.1/x"});

  EXPECT_EQ(file.status, 2);
  EXPECT_EQ(pxe.status, 2);
  EXPECT_EQ(site.bmc(1).asked().requests, 0);
}

TEST_F(BmcTest, GroupsEqualAnswersUnderOneHeader) {
  Site site{3, Site::Slurm::none};
  ASSERT_EQ(site.run({"bmc", "s01-n02", "power", "off", "--force"}).status, 0);

  const auto reported = site.run({"bmc", "all", "power", "--group"});

  EXPECT_EQ(reported.status, 0) << reported.err;
  EXPECT_EQ(reported.out,
            "---------------\ns01-n[01,03] (2)\n---------------\non\n"
            "---------------\ns01-n02\n---------------\noff\n");
}

TEST_F(BmcTest, PrintsJsonInTheOrderOfTheNodes) {
  Site site{3, Site::Slurm::none};
  site.bmc(1).change([](auto& options) { options.thinking = std::chrono::milliseconds{100}; });

  const auto printed = site.run({"bmc", "all", "identity", "--json"});

  EXPECT_EQ(printed.status, 0) << printed.err;
  const auto objects = json_lines(printed.out);
  ASSERT_EQ(objects.size(), 3);
  for (int node = 1; node <= 3; ++node)
    EXPECT_EQ(std::string{objects[static_cast<std::size_t>(node - 1)].at("node").as_string()},
              Site::name(node));
}

TEST_F(BmcTest, PrintsAnAnswerWhileABmcBeforeItIsSilent) {
  Site site{2, Site::Slurm::none};
  site.bmc(1).misbehave({.times = 100, .kind = test::Habit::Kind::never_answer});
  Child asking{site.cupel({"bmc", "all", "power"})};

  EXPECT_TRUE(asking.wait_for("s01-n02: on"));

  asking.signal(SIGINT);
  EXPECT_EQ(asking.wait().status, 3);
}

TEST_F(BmcTest, GivesThePlaceOfASilentBmcToTheNextNode) {
  Site site{3, Site::Slurm::none};
  for (const int node : {1, 2})
    site.bmc(node).misbehave({.times = 100, .kind = test::Habit::Kind::never_answer});
  Child asking{site.cupel({"bmc", "all", "power", "--fanout", "1"})};

  EXPECT_TRUE(asking.wait_for("s01-n03: on", std::chrono::minutes{1}));

  asking.signal(SIGINT);
  EXPECT_EQ(asking.wait().status, 3);
}

TEST_F(BmcTest, EndsWithItsPatience) {
  Site site{1, Site::Slurm::none};
  site.bmc(1).misbehave(
      {.path = "/redfish", .times = 100, .kind = test::Habit::Kind::never_answer});

  const auto reported = site.run({"bmc", "s01-n01", "power", "--patience", "1s", "--json"});

  EXPECT_EQ(reported.status, 1);
  EXPECT_THAT(reported.out, HasSubstr(R"("code":"timeout")"));
}

TEST_F(BmcTest, SaysWhatIsWrongWithTheCommandBeforeItAsksAnything) {
  Site site{1, Site::Slurm::none};

  const auto nobody = site.run({"bmc", "power"});
  const auto patience = site.run({"bmc", "s01-n01", "--patience", "soon", "power"});
  const auto since = site.run({"bmc", "s01-n01", "log", "--since", "2026-02-30"});
  const auto setting = site.run({"bmc", "s01-n01", "bios", "set", "Hyperthreading"});
  const auto console = site.run({"bmc", "s01-n01", "console", "--escape", "long"});

  EXPECT_THAT(nobody.err, HasSubstr("which nodes?"));
  EXPECT_THAT(patience.err, HasSubstr("--patience must be a duration"));
  EXPECT_THAT(since.err, HasSubstr("'2026-02-30' is neither a time"));
  EXPECT_THAT(setting.err, HasSubstr("bios set takes NAME=VALUE"));
  EXPECT_THAT(console.err, HasSubstr("--escape takes one character"));
  for (const auto* each : {&nobody, &patience, &since, &setting, &console})
    EXPECT_EQ(each->status, 2) << each->err;
  EXPECT_EQ(site.bmc(1).asked().requests, 0);
}

TEST_F(BmcTest, AConsoleNeedsIpmiAndSaysSo) {
  Site site{1, Site::Slurm::none};

  const auto console = site.run({"bmc", "s01-n01", "console"});

  EXPECT_EQ(console.status, 1);
  EXPECT_THAT(console.err, HasSubstr("the inventory must allow IPMI"));
  EXPECT_EQ(site.bmc(1).asked().open_sessions, 0);
}

TEST_F(BmcTest, ChangesNoPasswordWithoutAFactoryLogin) {
  Site site{1, Site::Slurm::none};

  const auto rotated = site.run({"bmc", "s01-n01", "password", "rotate"});

  EXPECT_EQ(rotated.status, 1);
  EXPECT_THAT(rotated.err, HasSubstr("names no factory login"));
  EXPECT_EQ(site.bmc(1).asked().logins, 0);
}

TEST_F(BmcTest, LeavesAPasswordAloneThatWorksAlready) {
  Site site{1, Site::Slurm::none};
  site.factory = "calvin";
  site.write_inventory();

  const auto rotated = site.run({"bmc", "s01-n01", "password", "rotate", "--json"});

  EXPECT_EQ(rotated.status, 0) << rotated.err;
  EXPECT_EQ(json::serialize(json_lines(rotated.out).front()),
            R"({"changed":false,"node":"s01-n01"})");
  EXPECT_EQ(site.bmc(1).asked().refused, 0);
}

TEST_F(BmcTest, ScansANetworkIntoAnInventoryThatItTakesItself) {
  Site site{1, Site::Slurm::none};
  auto root = test::small_machine("/redfish/v1");
  root.as_object()["RedfishVersion"] = "1.11.0";
  site.bmc(1).set("/redfish/v1", root);
  const auto port = std::to_string(site.bmc(1).endpoint().port);

  const auto found = site.run({"bmc", "scan", "127.0.0.0/29", "--port", port});

  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_THAT(found.out, AllOf(HasSubstr("# 1 BMCs"), HasSubstr("Contoso"),
                               HasSubstr(site.bmc(1).fingerprint())));
  EXPECT_EQ(site.bmc(1).asked().logins, 0);
  site.write("found.yaml", found.out);
  const auto checked = site.run({"inventory", "check", "found.yaml"});
  EXPECT_EQ(checked.status, 0) << checked.err;
}

TEST_F(BmcTest, ShowsHowABmcFaredWithoutAskingItAnything) {
  Site site{1, Site::Slurm::none};
  const auto before = site.run({"bmc", "s01-n01", "budget"});
  ASSERT_EQ(site.run({"bmc", "s01-n01", "power"}).status, 0);
  const auto asked = site.bmc(1).asked().requests;

  const auto reported = site.run({"bmc", "s01-n01", "budget"});

  EXPECT_EQ(before.out, "s01-n01: never asked\n");
  EXPECT_THAT(reported.out, HasSubstr("s01-n01: health 100, "));
  EXPECT_EQ(site.bmc(1).asked().requests, asked);
}

TEST_F(BmcTest, ShowsWhereABmcIsThatMoved) {
  Site site{1, Site::Slurm::none};
  ASSERT_EQ(site.run({"bmc", "s01-n01", "power"}).status, 0);
  const auto now = to_string(site.bmc(1).endpoint());
  const auto before = "127.0.0.6:" + std::to_string(site.bmc(1).endpoint().port);
  auto inventory = "bmc_networks: [127.0.0.0/29]\n" + site.read("inventory.yaml");
  inventory.replace(inventory.find(now), now.size(), before);
  site.write("inventory.yaml", inventory);

  const auto identity = site.run({"bmc", "s01-n01", "identity"});
  const auto budget = site.run({"bmc", "s01-n01", "budget"});

  const auto moved = "moved to " + now + " (the inventory says " + before + ")";
  EXPECT_EQ(identity.status, 0) << identity.err;
  EXPECT_THAT(identity.out, HasSubstr(moved));
  EXPECT_THAT(budget.out, HasSubstr(moved));
}

TEST_F(BmcTest, TellsPartsInColumns) {
  Site site{1, Site::Slurm::none};

  const auto reported = site.run({"bmc", "s01-n01", "inventory"});

  EXPECT_EQ(reported.status, 0) << reported.err;
  EXPECT_THAT(reported.out,
              AllOf(HasSubstr("serial 437XR1138R2"),
                    HasSubstr("\n  part      name    model  serial       firmware  health\n")));
  EXPECT_THAT(reported.out, Not(HasSubstr(" \n"))) << "no line ends with blanks";
}

TEST_F(BmcTest, AcceptsACertificateThatWasMeantToChange) {
  Site site{1, Site::Slurm::none};
  ASSERT_EQ(site.run({"bmc", "s01-n01", "power"}).status, 0);
  site.bmc(1).restart_with_new_certificate();
  const auto refused = site.run({"bmc", "s01-n01", "power"});

  const auto accepted = site.run({"bmc", "s01-n01", "accept-certificate"});

  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("accept-certificate"));
  EXPECT_EQ(accepted.status, 0) << accepted.err;
  EXPECT_EQ(site.run({"bmc", "s01-n01", "power"}).status, 0);
}

}  // namespace
}  // namespace cupel::testing
