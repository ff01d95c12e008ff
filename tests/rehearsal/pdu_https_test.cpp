// Rack PDUs over HTTPS, asked by libcurl and curl, and in the inventory of their rack.
#include <fmt/format.h>

#include "base/text.h"
#include "tests/rehearsal/rack_bench.h"
#include "tests/support/real_part.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPdu = "/redfish/v1/PowerEquipment/RackPDUs/1";

TEST(RackPdusTest, StandInTheInventoryWithTheirDoorsPinsAndOutlets) {
  const RackBench bench{two_nodes_on_two_feeds(), 1000};
  const auto& site = bench.inventory;

  ASSERT_EQ(site.pdus.size(), 2u);
  const auto& pdu = site.pdus[1];
  EXPECT_EQ(pdu.name, "v01/p2");
  EXPECT_EQ(pdu.endpoint.host, "127.74.0.2");
  EXPECT_NE(pdu.endpoint.port, 0);
  EXPECT_EQ(pdu.user, "admin");
  EXPECT_EQ(pdu.password, (inventory::SecretRef{inventory::SecretRef::Kind::file,
                                                bench.folder.path() / "pdu-password"}));
  EXPECT_EQ(pdu.trust.kind, inventory::Trust::Kind::pinned);
  EXPECT_NE(pdu.trust.what, site.pdus[0].trust.what);
  const auto& node = bench.node(1);
  EXPECT_EQ(node.feeds, (std::vector<std::string>{"v01/p1/b1", "v01/p2/b1"}));
  EXPECT_EQ(node.outlets, (std::vector<std::string>{"A2", "A2"}));
  EXPECT_EQ(site.pdu_of(node.feeds[1]), &pdu);
}

TEST(RackPdusTest, ARackOfOneFeedHasNone) {
  const RackBench bench;

  EXPECT_THAT(bench.inventory.pdus, IsEmpty());
  EXPECT_EQ(bench.node(0).outlets, std::vector<std::string>{""});
  EXPECT_FALSE(std::filesystem::exists(bench.folder.path() / "pdu-password"));
}

TEST(RackPdusTest, SwitchOverHttpsWithTheCertificateThatIsPinned) {
  RackBench bench{two_nodes_on_two_feeds(), 1000};
  const auto& pdu = bench.inventory.pdus[0];
  Browser browser{pdu.endpoint};
  browser.ca = (bench.folder.path() / "pdu" / "v01-p1.pem").string();
  const std::string outlet = std::string{kPdu} + "/Outlets/A1";
  const auto control = [&](const std::string& body) {
    return browser.ask("POST", outlet + "/Actions/Outlet.PowerControl", body).status;
  };

  const auto login = browser.log_in(pdu.user, pdu.password);
  EXPECT_EQ(control(R"({"PowerState": "Off"})"), 204);
  const auto off = browser.ask("GET", outlet);
  EXPECT_EQ(control(R"({"PowerState": "PowerCycle"})"), 204);
  auto on = browser.ask("GET", outlet);
  const auto until = Clock::Real::now() + std::chrono::minutes{1};
  while (!on.body.contains(R"("PowerState":"On")") && Clock::Real::now() < until)
    on = browser.ask("GET", outlet);
  const auto logout = browser.ask("DELETE", login.headers.at("location"));

  EXPECT_EQ(login.status, 201) << curl_easy_strerror(login.failure);
  EXPECT_THAT(off.body, HasSubstr(R"("PowerState":"Off")"));
  EXPECT_THAT(on.body, HasSubstr(R"("PowerState":"On")"));
  EXPECT_EQ(logout.status, 204);
  EXPECT_EQ(browser.ask("GET", outlet).status, 401);
  Browser wrong{pdu.endpoint};
  EXPECT_EQ(wrong.log_in("root", pdu.password).status, 401);
}

TEST(RackPdusTest, AnswerCurlWithBasicAuthentication) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/bin/curl"), "curl is not there");
  RackBench bench{two_nodes_on_two_feeds(), 1000};
  const auto& pdu = bench.inventory.pdus[1];
  const auto password = read_file(pdu.password.where, 1024);
  ASSERT_TRUE(password);
  const auto ca = bench.folder.path() / "pdu" / "v01-p2.pem";
  const auto curl = [&](const std::string& login, std::vector<std::string> more) {
    std::vector<std::string> line{"/usr/bin/curl", "-q",       "-sS",       "-o", "/dev/null", "-w",
                                  "%{http_code}",  "--cacert", ca.string(), "-u", login};
    line.insert(line.end(), more.begin(), more.end());
    line.push_back(fmt::format("https://{}:{}{}/Outlets/A2{}", pdu.endpoint.host, pdu.endpoint.port,
                               kPdu, more.empty() ? "" : "/Actions/Outlet.PowerControl"));
    return bench.run(line).output;
  };
  const auto login = pdu.user + ":" + std::string{trimmed(*password)};

  EXPECT_EQ(curl(login, {}), "200");
  EXPECT_EQ(curl(login, {"--json", R"({"PowerState": "Off"})"}), "204");
  EXPECT_EQ(curl(login, {"--json", R"({"PowerState": "off"})"}), "400");
  EXPECT_EQ(curl("admin:wrong", {}), "401");
}

TEST(RackPdusTest, TakeTheBmcAwayWithBothFeedsAndBringItBackWithOne) {
  RackBench bench{two_nodes_on_two_feeds(), 1000};
  Browser bmc{bench.node(0).bmc.endpoint}, neighbour{bench.node(1).bmc.endpoint};
  const auto control = [&](std::size_t pdu, const std::string& state) {
    const auto& of = bench.inventory.pdus[pdu];
    Browser browser{of.endpoint};
    browser.log_in(of.user, of.password);
    return browser
        .ask("POST", std::string{kPdu} + "/Outlets/A1/Actions/Outlet.PowerControl",
             fmt::format(R"({{"PowerState": "{}"}})", state))
        .status;
  };

  EXPECT_EQ(control(0, "Off"), 204);
  const auto on_one = bmc.ask("GET", "/redfish/v1");
  EXPECT_EQ(control(1, "Off"), 204);
  const auto gone = bmc.ask("GET", "/redfish/v1");
  const auto there = neighbour.ask("GET", "/redfish/v1");
  EXPECT_EQ(control(1, "On"), 204);
  auto back = bmc.ask("GET", "/redfish/v1");
  const auto until = Clock::Real::now() + std::chrono::minutes{1};
  while (back.status != 200 && Clock::Real::now() < until) back = bmc.ask("GET", "/redfish/v1");

  EXPECT_EQ(on_one.status, 200);
  EXPECT_NE(gone.failure, CURLE_OK);
  EXPECT_EQ(there.status, 200);
  EXPECT_EQ(back.status, 200);
}

}  // namespace
}  // namespace cupel::rehearsal
