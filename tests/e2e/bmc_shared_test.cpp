// `cupel bmc` where one BMC has a System for each of several nodes.
#include "base/text.h"
#include "tests/e2e/site.h"
#include "tests/support/small_machine.h"

namespace cupel::testing {
namespace {

using ::testing::UnorderedElementsAre;

/// Two nodes, and the first one's BMC for both.
class SharedBmcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_SITE();
    site = std::make_unique<Site>(2, Site::Slurm::none);
    json::array members;
    for (const std::string node : {"Node0", "Node1"}) {
      const auto uri = "/redfish/v1/Systems/" + node;
      auto system = test::small_machine("/redfish/v1/Systems/1");
      system.as_object()["@odata.id"] = uri;
      system.at("Actions").at("#ComputerSystem.Reset").as_object()["target"] =
          uri + "/Actions/ComputerSystem.Reset";
      site->bmc(1).set(uri, system);
      members.push_back(json::object{{"@odata.id", uri}});
    }
    site->bmc(1).set("/redfish/v1/Systems", json::object{{"Members", members}});
    auto manager = test::small_machine("/redfish/v1/Managers/1");
    manager.as_object()["Actions"] = {
        {"#Manager.Reset", {{"target", "/redfish/v1/Managers/1/Actions/Manager.Reset"}}}};
    site->bmc(1).set("/redfish/v1/Managers/1", manager);
    site->bmc(1).change([this](auto& options) { options.writes = test::captured_actions(done); });
    share(", system: \"Node[0-1]\"");
  }
  void share(const std::string& system) const {
    auto text = site->read("inventory.yaml");
    const auto endpoint = site->bmc(1).endpoint();
    text.erase(text.find("  - name:"));
    text += "  - name: s01-n[01-02]\n    bmc: {address: \"" + endpoint.host + ":" +
            std::to_string(endpoint.port) + "\"" + system +
            "}\n    ssh: {address: \"127.70.1.[1-2]:" + std::to_string(site->sshd->port()) +
            "\"}\n";
    site->write("inventory.yaml", text);
  }
  std::unique_ptr<Site> site;
  test::Done done;
};

TEST_F(SharedBmcTest, EachNodeIsItsOwnSystem) {
  const auto off = site->run({"bmc", "s01-n02", "power", "off", "--force"});
  const auto reported = site->run({"bmc", "all", "power"});

  EXPECT_EQ(off.status, 0) << off.err;
  EXPECT_THAT(lines(reported.out), UnorderedElementsAre("s01-n01: on", "s01-n02: off"))
      << reported.err;
  EXPECT_EQ(site->bmc(1).asked().open_sessions, 0);
}

TEST_F(SharedBmcTest, WhatActsOnTheWholeBmcWantsShared) {
  const auto refused = site->run({"bmc", "s01-n02", "reset"});
  const auto ac = site->run({"bmc", "s01-n02", "power", "ac-cycle"});
  const int before = site->bmc(1).asked().requests;
  const auto reset = site->run({"bmc", "all", "reset", "--shared"});

  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("reset acts on the whole BMC, which serves s01-n[01-02]: add "
                                     "--shared to do it to all of them"));
  EXPECT_THAT(ac.err, HasSubstr("ac-cycle acts on the whole BMC"));
  EXPECT_EQ(before, 0);
  EXPECT_EQ(reset.status, 0) << reset.err;
  EXPECT_THAT(reset.out, HasSubstr("s01-n02: left to s01-n01, which has the same BMC"));
  EXPECT_EQ(done.actions.size(), 1u);
}

TEST_F(SharedBmcTest, ARestartOfTheBmcThatItGivesUpFailsWithItsReason) {
  const std::string task = "/redfish/v1/TaskService/Tasks/9";
  site->bmc(1).misbehave({.method = "POST",
                          .path = "/redfish/v1/Managers/1",
                          .status = 202,
                          .body = R"({"TaskState": "Running"})",
                          .headers = {{"Location", task}}});
  site->bmc(1).set(task, json::value{{"TaskState", "Exception"},
                                     {"Messages", {{{"Message", "An update is at work."}}}}});

  const auto reset = site->run({"bmc", "s01-n01", "reset", "--shared"});

  EXPECT_EQ(reset.status, 1);
  EXPECT_THAT(reset.out + reset.err, HasSubstr("An update is at work."));
}

TEST_F(SharedBmcTest, HasOnePinAndOneBudget) {
  ASSERT_EQ(site->run({"bmc", "s01-n02", "power"}).status, 0);

  const auto pins = site->run({"bmc", "pins", "export"});
  const auto budget = site->run({"bmc", "all", "budget"});

  const auto pin = site->bmc(1).fingerprint();
  EXPECT_THAT(pins.out, AllOf(HasSubstr("s01-n01 " + pin), HasSubstr("s01-n02 " + pin)));
  EXPECT_THAT(budget.out, Not(HasSubstr("never asked")));
}

TEST_F(SharedBmcTest, AcceptsANewCertificateForAllItsNodes) {
  ASSERT_EQ(site->run({"bmc", "all", "power"}).status, 0);
  site->bmc(1).restart_with_new_certificate();

  const auto accepted = site->run({"bmc", "s01-n02", "accept-certificate"});
  const auto reported = site->run({"bmc", "all", "power"});

  EXPECT_EQ(accepted.status, 0) << accepted.err;
  EXPECT_THAT(lines(reported.out), UnorderedElementsAre("s01-n01: on", "s01-n02: on"))
      << reported.err;
}

TEST_F(SharedBmcTest, IsNoBmcOfTwoNodesThatNameNoSystem) {
  share("");

  const auto reported = site->run({"bmc", "all", "power"});

  EXPECT_EQ(reported.status, 2);
  EXPECT_EQ(site->bmc(1).asked().requests, 0);
}

}  // namespace
}  // namespace cupel::testing
