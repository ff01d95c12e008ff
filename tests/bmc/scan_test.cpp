// Finding BMCs: SSDP, service roots, the neighbour table, and YAML that the loader takes.
#include "bmc/scan/scan.h"

#include <algorithm>

#include "bmc/scan/ssdp.h"
#include "inventory/load.h"
#include "inventory/read_bmc.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captures.h"

namespace cupel::bmc::scan {
namespace {

using ::testing::IsEmpty;

constexpr std::string_view kUuid = "5822e6cd-35e1-45ab-99de-797bc78edf48";

std::string reply(const std::string& more) {
  return "HTTP/1.1 200 OK\r\nCACHE-CONTROL: max-age=1800\r\n"
         "ST:urn:dmtf-org:service:redfish-rest:1:6\r\n"
         "USN:uuid:5822E6CD-35e1-45ab-99de-797bc78edf48::urn:dmtf-org:service:redfish-rest:1:"
         "6\r\n" +
         more + "EXT:\r\n\r\n";
}

TEST(Ssdp, AsksForRedfishServicesAsTheStandardHasIt) {
  EXPECT_EQ(ssdp_question(2),
            "M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\n"
            "MX: 2\r\nST: urn:dmtf-org:service:redfish-rest:1\r\n\r\n");
}

TEST(Ssdp, ReadsUuidAndAddressInWhateverCaseTheHeadersAre) {
  const SsdpAnswer expected{std::string{kUuid}, "192.168.1.17", 443};

  EXPECT_EQ(parse_ssdp(reply("AL:https://192.168.1.17/redfish/v1/\r\n")), expected);
  EXPECT_EQ(parse_ssdp(reply("al: <HTTPS://192.168.1.17:443/redfish/v1>\r\n")), expected);
  EXPECT_EQ(parse_ssdp(reply("Location: https://192.168.1.17/redfish/v1\r\n")), expected);
  EXPECT_EQ(parse_ssdp(reply("AL: https://[fe80::1]:8443/redfish/v1\r\n"))->port, 8443);
}

TEST(Ssdp, IsNotImpressedByAnythingElse) {
  const auto good = reply("AL: https://192.168.1.17/redfish/v1/\r\n");
  ASSERT_TRUE(parse_ssdp(good));
  std::string printer = good;
  printer.replace(printer.find("::urn:dmtf-org"), 14, "::urn:printers");
  std::string not_found = good;
  not_found.replace(not_found.find("200"), 3, "404");
  for (const auto& wrong :
       {std::string{}, printer, not_found, reply(""),
        reply("AL: http://192.168.1.17/redfish/v1\r\n"), reply("AL: https://user@evil/\r\n"),
        reply("AL: https:///redfish\r\n"), good + std::string(4096, 'x'),
        "HTTP/1.1 200 OK\r\n" + std::string(100, '\n')})
    EXPECT_FALSE(parse_ssdp(wrong)) << wrong.substr(0, 300);
}

TEST(Ssdp, SurvivesEveryTruncation) {
  const auto whole = reply("AL: https://192.168.1.17/redfish/v1/\r\n");
  std::size_t reported = 0;

  for (std::size_t size = 0; size <= whole.size(); ++size)
    reported += parse_ssdp(std::string_view{whole}.substr(0, size)).has_value() ? 1 : 0;

  EXPECT_GE(reported, 1);
  EXPECT_LT(reported, whole.size());
}

TEST(Neighbours, ReadsTheKernelsTable) {
  const auto macs = parse_arp(
      "IP address       HW type     Flags       HW address            Mask     Device\n"
      "10.0.1.7         0x1         0x2         AA:bb:cc:00:11:22     *        eth1\n"
      "10.0.1.8         0x1         0x0         00:00:00:00:00:00     *        eth1\n"
      "nonsense\n");

  EXPECT_THAT(macs, ElementsAre(::testing::Pair("10.0.1.7", "aa:bb:cc:00:11:22")));
}

TEST(ServiceRoot, TellsWhatItTellsWithoutALogin) {
  struct Expected {
    const char* machine;
    const char* vendor;
    const char* model;
    const char* serial;
  };
  for (const auto& [machine, vendor, model, serial] :
       {Expected{"dell", "Dell", "Integrated Dell Remote Access Controller", "F54P1G3"},
        Expected{"nvidia_gb200", "NVIDIA", "GB200 NVL", ""},
        Expected{"hpe", "HPE", "ProLiant DL385 Gen10 Plus v2", ""},
        Expected{"supermicro", "Supermicro", "", ""}, Expected{"lenovo", "Lenovo", "", ""}}) {
    const auto tree = test::capture(machine);
    CUPEL_NEEDS_REAL_PART(tree, std::string{"no capture of "} + machine);
    const auto text = test::captured_answer(*tree, "/redfish/v1");
    ASSERT_TRUE(text) << machine;
    FoundBmc found{.address = "10.0.1.7"};

    read_root(parse_json(*text).value(), found);

    EXPECT_EQ(found.vendor, vendor) << machine;
    EXPECT_EQ(found.model, model) << machine;
    EXPECT_EQ(found.serial, serial) << machine;
  }
}

FoundBmc found_at(std::string address) {
  FoundBmc found{.address = std::move(address)};
  found.ways = {"redfish"};
  found.certificate = "SHA256:" + std::string(64, 'a');
  return found;
}

TEST(ToYaml, IsAnInventoryThatTheLoaderTakes) {
  auto first = found_at("10.0.1.7");
  first.vendor = "NVIDIA";
  first.model = "DGX H100";
  first.serial = "1660224000069";
  first.mac = "aa:bb:cc:00:11:22";
  first.ways.emplace_back("ipmi");
  FoundBmc second{.address = "10.0.1.8"};
  second.ways = {"ipmi"};

  const auto loaded = inventory::parse_inventory(to_yaml(std::vector{first, second}, "10.0.1.0/24"),
                                                 "found.yaml", "/nowhere");

  ASSERT_TRUE(loaded.inventory) << to_string(loaded.problems);
  const auto& nodes = loaded.inventory->nodes;
  ASSERT_EQ(nodes.size(), 2);
  EXPECT_EQ(nodes[0].name, "bmc-10-0-1-7");
  EXPECT_EQ(nodes[0].serial, "1660224000069");
  EXPECT_EQ(nodes[0].bmc.mac, "aa:bb:cc:00:11:22");
  EXPECT_EQ(nodes[0].bmc.trust.what, first.certificate);
  EXPECT_TRUE(nodes[0].bmc.ipmi);
  EXPECT_EQ(nodes[1].bmc.protocol, inventory::BmcProtocol::ipmi);
  EXPECT_THAT(loaded.inventory->bmc_networks, ElementsAre("10.0.1.0/24"));
}

TEST(ToYaml, StaysAnInventoryWhateverABmcCallsItself) {
  auto hostile = found_at("10.0.1.7");
  hostile.vendor = "x\nnodes: []\n- {";
  hostile.model = "\"}]: &a *a";
  hostile.serial = "s[1-9]\", evil: \"";
  hostile.note = "# : \r\n  - y";
  auto twin = found_at("10.0.1.8");
  auto other_twin = found_at("10.0.1.9");
  twin.serial = other_twin.serial = "S1";
  twin.mac = other_twin.mac = "aa:bb:cc:00:11:22";

  const auto loaded = inventory::parse_inventory(
      to_yaml(std::vector{hostile, twin, other_twin}, "10.0.1.0/24"), "found.yaml", "/nowhere");

  ASSERT_TRUE(loaded.inventory) << to_string(loaded.problems);
  EXPECT_EQ(loaded.inventory->nodes.size(), 3);
  EXPECT_EQ(loaded.inventory->nodes[0].serial, "");
}

class ScanTest : public OverHttps {
 protected:
  Options options() {
    Options options;
    options.hosts = {"127.0.0.1", "127.0.0.2"};
    options.port = server.endpoint().port;
    return options;
  }
  Result<std::vector<FoundBmc>> found_by(Options options) {
    return run(bmc::scan::scan(std::move(options)));
  }
};

TEST_F(ScanTest, FindsABmcWithoutShowingItAnyCredentials) {
  const auto root = parse_json(R"({"RedfishVersion": "1.11.0", "Vendor": "Contoso",
                                   "Product": "3500", "UUID": "5822E6CD"})");
  server.set("/redfish/v1", root.value());

  const auto found = found_by(options());

  ASSERT_TRUE(found) << found.error().what;
  ASSERT_EQ(found->size(), 1);
  const auto& bmc = found->front();
  EXPECT_EQ(bmc.address, "127.0.0.1");
  EXPECT_EQ(bmc.certificate, server.fingerprint());
  EXPECT_EQ(bmc.model, "3500");
  EXPECT_THAT(bmc.ways, ElementsAre("redfish"));
  EXPECT_EQ(server.asked().logins, 0);
}

TEST_F(ScanTest, AnotherHttpsServerIsNoBmc) {
  server.misbehave({.times = 1, .status = 404});
  server.misbehave({.times = 1, .status = 200, .body = "{}"});

  for (int i = 0; i < 2; ++i) {
    const auto found = found_by(options());

    ASSERT_TRUE(found);
    EXPECT_THAT(*found, IsEmpty());
  }
}

TEST_F(ScanTest, ShowsWhatMayBeABmcThatStarts) {
  const std::vector<std::pair<int, std::string>> answers{
      {503, ""}, {500, ""}, {302, ""}, {200, "<html>loading</html>"}};
  for (const auto& [status, body] : answers) {
    auto habit = page(status, body, "/redfish/v1");
    habit.headers["Location"] = "https://10.9.9.9/login";
    server.misbehave(std::move(habit));

    const auto found = found_by(options());

    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), 1) << status;
    const auto& bmc = found->front();
    EXPECT_THAT(bmc.note, HasSubstr("starting or unknown"));
    EXPECT_THAT(bmc.ways, IsEmpty());
    EXPECT_EQ(bmc.certificate, "");
    const auto yaml = bmc::scan::to_yaml(*found, "127.0.0.0/24");
    EXPECT_THAT(yaml, HasSubstr("# 127.0.0.1: starting or unknown"));
    EXPECT_EQ(yaml.find("- name"), yaml.npos);
  }
}

TEST_F(ScanTest, ReportsBmcsWithIpmiOnly) {
  auto asked = options();
  asked.port = 1;  // nobody
  asked.ping = [](std::string host, Deadline) -> Task<Result<std::string>> {
    if (host != "127.0.0.2") co_return Error{Code::kTimeout, "nobody"};
    co_return "Supermicro";
  };

  const auto found = found_by(asked);

  ASSERT_EQ(found.value().size(), 1);
  EXPECT_EQ(found.value().front().address, "127.0.0.2");
  EXPECT_THAT(found.value().front().ways, ElementsAre("ipmi"));
  EXPECT_EQ(found.value().front().vendor, "Supermicro");
}

TEST_F(ScanTest, LogsInOnlyWhereAskedAndLogsOutAgain) {
  auto root = test::small_machine("/redfish/v1");
  root.as_object()["RedfishVersion"] = "1.11.0";
  server.set("/redfish/v1", root);
  auto asked = options();
  asked.login = Login{"admin", password_from(password)};

  const auto found = found_by(asked);

  ASSERT_EQ(found.value().size(), 1);
  EXPECT_EQ(found.value().front().serial, "437XR1138R2");
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(ScanTest, RefusesTooManyAddresses) {
  Options asked;
  asked.hosts.assign(inventory::kMostAddresses + 1, "127.0.0.1");

  EXPECT_EQ(found_by(asked).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace cupel::bmc::scan
