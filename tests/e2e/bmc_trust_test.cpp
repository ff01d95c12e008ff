// Who hears a BMC's password: those who are known, and nobody else.
#include <fstream>
#include <future>
#include <sstream>

#include "base/text.h"
#include "tests/e2e/site.h"
#include "tests/support/small_machine.h"

namespace cupel::testing {
namespace {

class BmcTrust : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_SITE();
    site.emplace(1, Site::Slurm::none);
    be_found(site->bmc(1));
  }
  static void be_found(test::HttpsServer& bmc) {
    auto root = test::small_machine("/redfish/v1");
    root.as_object()["RedfishVersion"] = "1.11.0";
    bmc.set("/redfish/v1", root);
  }
  std::string port() { return std::to_string(site->bmc(1).endpoint().port); }
  std::string pin_line() { return "s01-n01 " + site->bmc(1).fingerprint() + "\n"; }
  void trust_known_only() {
    auto text = site->read("inventory.yaml");
    const std::string before = "{trust: first-use}";
    text.replace(text.find(before), before.size(), "{trust: known}");
    site->write("inventory.yaml", text);
  }

  std::optional<Site> site;
};

TEST_F(BmcTrust, AScanSendsThePasswordOnlyToCertificatesThatAreKnown) {
  test::HttpsServer impostor{{.address = "127.0.0.2", .port = site->bmc(1).endpoint().port}};
  be_found(impostor);
  ASSERT_EQ(site->run({"bmc", "s01-n01", "power"}).status, 0);
  const auto before = site->bmc(1).asked().logins;
  const std::vector<std::string> words{"bmc",    "scan",  "127.0.0.0/29", "--port",          port(),
                                       "--user", "admin", "--password",   "env:E2E_PASSWORD"};

  const auto found = site->run(words);

  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_THAT(found.out, AllOf(HasSubstr("# 2 BMCs"), HasSubstr("437XR1138R2"),
                               HasSubstr("not logged in: its certificate is not known")));
  EXPECT_EQ(impostor.asked().logins, 0);
  EXPECT_EQ(site->bmc(1).asked().logins, before + 1);

  auto with_trust = words;
  with_trust.emplace_back("--trust-unknown");
  EXPECT_EQ(site->run(with_trust).status, 0);
  EXPECT_EQ(impostor.asked().logins, 1);
}

TEST_F(BmcTrust, AScanThatFindsNothingPrintsAnEmptyListForPrograms) {
  const auto found = site->run({"bmc", "scan", "127.0.0.8/30", "--port", "1", "--json"});

  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_EQ(found.out, "[]\n");
}

TEST_F(BmcTrust, AnImpostorGetsNoPasswordWhereThePinWasImportedBefore) {
  site->write("pins.txt", "# from the vendor\n" + pin_line());
  const auto imported = site->run({"bmc", "pins", "import", "pins.txt"});
  site->bmc(1).restart_with_new_certificate();

  const auto refused = site->run({"bmc", "s01-n01", "power"});

  EXPECT_EQ(imported.out, "1 imported, 0 known already\n") << imported.err;
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("not the one that was pinned"));
  EXPECT_EQ(site->bmc(1).asked().logins, 0);
}

TEST_F(BmcTrust, SendsNoPasswordToAnUnknownCertificateInPinnedMode) {
  trust_known_only();
  const auto refused = site->run({"bmc", "s01-n01", "power"});
  const auto asked = site->bmc(1).asked().requests;
  site->write("pins.txt", pin_line());
  const auto imported = site->run({"bmc", "pins", "import", "pins.txt", "--json"});
  const auto taken = site->run({"bmc", "s01-n01", "power"});

  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("cupel bmc pins import"));
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(imported.out, "{\"imported\":1,\"already\":0}\n") << imported.err;
  EXPECT_EQ(taken.status, 0) << taken.err;
}

TEST_F(BmcTrust, AnImportSaysEveryMistakeAndPinsNothing) {
  site->write("pins.txt", pin_line() + "nobody " + site->bmc(1).fingerprint() + "\n10.0.0.1\n" +
                              "s01-n01 SHA256:" + std::string(64, '1') + "\n");

  const auto refused = site->run({"bmc", "pins", "import", "pins.txt"});
  const auto listed = site->run({"bmc", "pins", "list", "--json"});

  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("pins.txt:2:1: no node or PDU"),
                                 HasSubstr("pins.txt:3:1: no certificate for 10.0.0.1"),
                                 HasSubstr("pins.txt:4:1: s01-n01 has another certificate")));
  EXPECT_THAT(listed.out, HasSubstr(R"("from":"none")"));
}

TEST_F(BmcTrust, WhatIsExportedIsImportedElsewhereAndReplacesOnlyOnAPersonsWord) {
  ASSERT_EQ(site->run({"bmc", "s01-n01", "power"}).status, 0);
  const auto exported = site->run({"bmc", "pins", "export"});
  site->write("pins.txt", exported.out);
  const auto again = site->run({"bmc", "pins", "import", "pins.txt"});
  site->write("pins.txt", "127.0.0.1 SHA256:" + std::string(64, '1') + "\n");
  const auto other = site->run({"bmc", "pins", "import", "pins.txt"});
  const auto replaced = site->run({"bmc", "pins", "import", "pins.txt", "--replace"});

  EXPECT_THAT(exported.out, HasSubstr(pin_line()));
  EXPECT_EQ(again.out, "0 imported, 1 known already\n") << again.err;
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("--replace"));
  EXPECT_EQ(replaced.out, "1 imported, 0 known already\n") << replaced.err;
}

TEST_F(BmcTrust, PrintsTheBmcsReasonForItsFirstRefusal) {
  site->password = "wrong";

  const auto refused = site->run({"bmc", "s01-n01", "inventory"});
  const auto again = site->run({"bmc", "s01-n01", "inventory"});

  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("The password is incorrect."), HasSubstr("HTTP 401"),
                                 Not(HasSubstr("before"))));
  EXPECT_THAT(again.err, AllOf(HasSubstr("refused user admin with this password at 20"),
                               HasSubstr("cupel bmc s01-n01 retry-login"),
                               Not(HasSubstr("accept-certificate"))));
  EXPECT_EQ(site->bmc(1).asked().logins, 1);
}

TEST_F(BmcTrust, ARefusedPasswordIsTriedAgainWhereThePersonSaysThatTheBmcWasCorrected) {
  site->password = "corrected";
  ASSERT_EQ(site->run({"bmc", "s01-n01", "power"}).status, 1);
  site->bmc(1).change([](auto& options) { options.password = "corrected"; });

  const auto still = site->run({"bmc", "s01-n01", "power"});
  const auto retried = site->run({"bmc", "s01-n01", "retry-login"});
  const auto power = site->run({"bmc", "s01-n01", "power"});

  EXPECT_EQ(still.status, 1);
  EXPECT_EQ(retried.out, "s01-n01: the BMC takes user admin with this password\n") << retried.err;
  EXPECT_EQ(power.status, 0) << power.err;
}

TEST_F(BmcTrust, ACorrectedPasswordIsTriedWithoutAnyWord) {
  site->password = "wrong";
  ASSERT_EQ(site->run({"bmc", "s01-n01", "power"}).status, 1);
  site->password = "open sesame";

  EXPECT_EQ(site->run({"bmc", "s01-n01", "power"}).status, 0);
}

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
TEST_F(BmcTrust, ItsPasswordsNeverGoIntoACoreDump) {
  std::promise<pid_t> started;
  auto pid = started.get_future().share();
  std::ostringstream limits;
  site->bmc(1).change([&](auto& options) {
    options.last_word = [&](test::Exchanged&) {
      if (limits.str().empty())
        limits << std::ifstream{"/proc/" + std::to_string(pid.get()) + "/limits"}.rdbuf();
    };
  });

  Child child{site->cupel({"bmc", "s01-n01", "power"})};
  started.set_value(child.pid());

  EXPECT_EQ(child.wait().status, 0);
  std::istringstream lines{limits.str()};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("Max core file size")) continue;
    EXPECT_EQ(words(line)[4], "0") << line;
    EXPECT_EQ(words(line)[5], "0") << line;
  }
  EXPECT_THAT(limits.str(), HasSubstr("Max core file size"));
}
#endif

}  // namespace
}  // namespace cupel::testing
