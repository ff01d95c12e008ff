// The BMC over HTTPS, asked by libcurl.
#include "tests/rehearsal/rack_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

constexpr const char* kSystem = "/redfish/v1/Systems/DGX";

TEST(BmcServerTest, LogsInReadsAndLogsOutOverOneConnection) {
  RackBench bench;
  Browser browser{bench.node(0).bmc.endpoint};

  const auto login = browser.log_in(bench.node(0));
  const auto system = browser.ask("GET", kSystem);
  const auto logout = browser.ask("DELETE", login.headers.at("location"));

  EXPECT_EQ(login.status, 201) << curl_easy_strerror(login.failure);
  EXPECT_EQ(system.status, 200);
  EXPECT_THAT(system.body, HasSubstr("\"PowerState\":\"Off\""));
  EXPECT_EQ(system.headers.at("odata-version"), "4.0");
  EXPECT_EQ(system.new_connections, 0);
  EXPECT_EQ(logout.status, 204);
  EXPECT_EQ(logout.new_connections, 0);
  EXPECT_EQ(browser.ask("GET", kSystem).status, 401);
}

TEST(BmcServerTest, EachBmcHasItsOwnMachine) {
  RackBench bench;
  Browser first{bench.node(0).bmc.endpoint}, second{bench.node(1).bmc.endpoint};
  first.log_in(bench.node(0));
  second.log_in(bench.node(1));

  EXPECT_THAT(first.ask("GET", kSystem).body, HasSubstr("v01-n01"));
  EXPECT_THAT(second.ask("GET", kSystem).body, HasSubstr("v01-n02"));
  second.token = first.token;
  EXPECT_EQ(second.ask("GET", kSystem).status, 401);
}

TEST(BmcServerTest, ItsCertificateIsItsOwnAndStays) {
  RackBench bench;
  Browser browser{bench.node(0).bmc.endpoint};
  browser.ca = (bench.folder.path() / "bmc" / "v01-n01.pem").string();
  EXPECT_EQ(browser.ask("GET", "/redfish").failure, CURLE_OK);
  const auto pin = bench.node(0).bmc.trust.what;

  bench.rack->stop();
  bench.start(two_nodes(), 1000);

  Browser again{bench.node(0).bmc.endpoint};
  again.ca = browser.ca;
  EXPECT_EQ(again.ask("GET", "/redfish").failure, CURLE_OK);
  EXPECT_EQ(bench.node(0).bmc.trust.what, pin);
  EXPECT_NE(bench.node(1).bmc.trust.what, pin);
}

TEST(BmcServerTest, ShowsAnotherCertificateWhereAFaultSaysSo) {
  RackBench bench{{{.kind = FaultKind::bmc_certificate_changed}}};
  Browser browser{bench.node(0).bmc.endpoint};
  browser.ca = (bench.folder.path() / "bmc" / "v01-n01.pem").string();

  EXPECT_EQ(browser.ask("GET", "/redfish").failure, CURLE_PEER_FAILED_VERIFICATION);
}

TEST(BmcServerTest, IsBusyFirstAndAnswersLater) {
  RackBench bench{{{.kind = FaultKind::bmc_busy, .span = VirtualTime{1e6}}}};
  Browser browser{bench.node(0).bmc.endpoint};

  const auto busy = browser.ask("GET", "/redfish/v1");
  bench.on("v01-n01", [](Machine& machine) { return machine.set_faults({}), 0; });

  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(busy.headers.at("retry-after"), "1000");
  EXPECT_EQ(browser.ask("GET", "/redfish/v1").status, 200);
}

TEST(BmcServerTest, RefusesABodyThatIsTooLarge) {
  RackBench bench;
  Browser browser{bench.node(0).bmc.endpoint};

  const auto fetched =
      browser.ask("POST", "/redfish/v1/SessionService/Sessions", std::string(3u << 20, ' '));

  // Where the refusal meets what is still being sent, it may look like a broken connection.
  EXPECT_TRUE(fetched.status == 413 || fetched.failure == CURLE_SEND_ERROR ||
              fetched.failure == CURLE_RECV_ERROR)
      << fetched.status << " " << curl_easy_strerror(fetched.failure);
  EXPECT_EQ(Browser{bench.node(0).bmc.endpoint}.ask("GET", "/redfish/v1").status, 200);
}

TEST(BmcServerTest, TakesSoManyConnectionsAndNoMore) {
  RackBench bench;
  std::vector<std::unique_ptr<Browser>> all;
  int served = 0;

  for (int i = 0; i < 20; ++i) {
    all.push_back(std::make_unique<Browser>(bench.node(0).bmc.endpoint));
    served += all.back()->ask("GET", "/redfish/v1").status == 200;
  }

  EXPECT_EQ(served, 16);
  all.clear();
}

TEST(BmcServerTest, IsGoneWhileItRestartsAndThenBack) {
  RackBench bench{std::vector<Fault>{}, 100};
  Browser browser{bench.node(0).bmc.endpoint};
  browser.log_in(bench.node(0));

  EXPECT_EQ(browser
                .ask("POST", "/redfish/v1/Managers/BMC/Actions/Manager.Reset",
                     R"({"ResetType": "ForceRestart"})")
                .status,
            204);

  // 90 s of the rack's time are 0.9 s here.
  bool refused = false, back = false;
  const auto until = Clock::Real::now() + std::chrono::minutes{1};
  while (!back && Clock::Real::now() < until) {
    Browser fresh{bench.node(0).bmc.endpoint};
    const auto fetched = fresh.ask("GET", "/redfish/v1");
    refused |= fetched.failure == CURLE_COULDNT_CONNECT;
    back = refused && fetched.status == 200;
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(back);
}

}  // namespace
}  // namespace cupel::rehearsal
