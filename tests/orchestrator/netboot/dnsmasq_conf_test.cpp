// dnsmasq's configuration: what is in it, that dnsmasq itself takes it, and that no value of the
// inventory becomes a line of its own.
#include "orchestrator/netboot/dnsmasq_conf.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"

namespace cupel::netboot {
namespace {

using inventory::DhcpMode;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

DhcpConf full() {
  return {.mode = DhcpMode::full,
          .interface = "br0",
          .server = "10.77.0.1",
          .first = "10.77.0.100",
          .last = "10.77.0.200",
          .gateway = "10.77.0.254",
          .dns = {"10.0.0.2", "10.0.0.3"},
          .boot_url = "http://10.77.0.1:8081/dhcp/",
          .tftp_folder = "/tmp",
          .programs = {"snponly.efi", "undionly.kpxe"},
          .lease_file = "/tmp/cupel-dhcp.leases"};
}
DhcpConf proxy() {
  auto conf = full();
  conf.mode = DhcpMode::proxy;
  return conf;
}
std::vector<DhcpNode> nodes() {
  return {{"a01-n01", {"52:54:00:AA:00:01", "52-54-00-aa-01-01"}, "10.77.0.11/24"},
          {"a01-n02", {"52:54:00:aa:00:02"}, ""}};
}
std::string conf_of(const DhcpConf& conf, const std::vector<DhcpNode>& of = nodes()) {
  const auto text = dnsmasq_conf(conf, of);
  return text ? *text : "error: " + text.error().what;
}

TEST(DnsmasqConf, GivesAddressesAndBootFilesToTheNodesAlone) {
  EXPECT_EQ(conf_of(full()),
            "# Written by cupel boot dhcp. DHCP and TFTP for the nodes below; no DNS.\n"
            "port=0\n"
            "no-resolv\n"
            "no-hosts\n"
            "no-ping\n"
            "interface=br0\n"
            "except-interface=lo\n"
            "bind-dynamic\n"
            "dhcp-range=10.77.0.100,10.77.0.200,10m\n"
            "dhcp-leasefile=/tmp/cupel-dhcp.leases\n"
            "dhcp-authoritative\n"
            "dhcp-option=option:router,10.77.0.254\n"
            "dhcp-option=option:dns-server,10.0.0.2,10.0.0.3\n"
            "# A MAC address that is not below gets no answer.\n"
            "dhcp-ignore=tag:!known\n"
            "dhcp-match=set:ipxe,175\n"
            "dhcp-match=set:http,option:client-arch,16\n"
            "dhcp-match=set:http,option:client-arch,19\n"
            "dhcp-match=set:efi,option:client-arch,7\n"
            "dhcp-match=set:efi,option:client-arch,9\n"
            "dhcp-match=set:arm,option:client-arch,11\n"
            "dhcp-match=set:bios,option:client-arch,0\n"
            "dhcp-option-force=tag:http,60,HTTPClient\n"
            "dhcp-boot=tag:http,tag:!ipxe,http://10.77.0.1:8081/dhcp/ram.efi\n"
            "dhcp-option-force=tag:ipxe,encap:175,176,1b\n"
            "dhcp-boot=tag:ipxe,http://10.77.0.1:8081/dhcp/boot.ipxe,,10.77.0.1\n"
            "enable-tftp\n"
            "tftp-root=/tmp\n"
            "tftp-max=512\n"
            "dhcp-boot=tag:efi,tag:!ipxe,snponly.efi,,10.77.0.1\n"
            "dhcp-ignore=tag:arm,tag:!ipxe\n"
            "dhcp-boot=tag:bios,tag:!ipxe,undionly.kpxe,,10.77.0.1\n"
            "# a01-n01\n"
            "dhcp-host=52:54:00:aa:00:01,10.77.0.11\n"
            "dhcp-host=52:54:00:aa:01:01\n"
            "# a01-n02\n"
            "dhcp-host=52:54:00:aa:00:02\n");
}

TEST(DnsmasqConf, AProxyGivesNoAddressesAndNoOptions) {
  EXPECT_THAT(conf_of(proxy()),
              AllOf(HasSubstr("dhcp-range=10.77.0.1,proxy\n"),
                    HasSubstr("pxe-service=tag:!ipxe,7,Cupel,snponly.efi\n"),
                    HasSubstr("pxe-service=tag:!ipxe,0,Cupel,undionly.kpxe\n"),
                    HasSubstr("dhcp-boot=tag:ipxe,http://10.77.0.1:8081/dhcp/boot.ipxe,,10.77.0.1"),
                    HasSubstr("dhcp-ignore=tag:!known\n"), Not(HasSubstr("dhcp-option")),
                    Not(HasSubstr("leasefile")), Not(HasSubstr("authoritative"))));
}

TEST(DnsmasqConf, WithoutARangeOnlyNodesWithAnAddressGetOne) {
  auto conf = full();
  conf.first = conf.last = "";

  EXPECT_THAT(conf_of(conf), HasSubstr("dhcp-range=10.77.0.1,static,10m\n"));
}

TEST(DnsmasqConf, WithoutAGatewayNoRouterIsAnnounced) {
  auto conf = full();
  conf.gateway = "";

  EXPECT_THAT(conf_of(conf), HasSubstr("\ndhcp-option=option:router\n"));
}

TEST(DnsmasqConf, FirmwareThatThereIsNoProgramForGetsNoAnswer) {
  auto conf = full();
  conf.programs.clear();

  EXPECT_THAT(conf_of(conf),
              AllOf(HasSubstr("dhcp-ignore=tag:efi,tag:!ipxe\n"),
                    HasSubstr("dhcp-ignore=tag:bios,tag:!ipxe\n"), Not(HasSubstr("tftp"))));
}

TEST(DnsmasqConf, IsTakenByDnsmasqItself) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/sbin/dnsmasq"), "dnsmasq is not installed");
  const test::TemporaryFolder folder;
  auto only_static = full();
  only_static.first = only_static.last = only_static.gateway = "";
  auto no_tftp = full();
  no_tftp.programs.clear();
  for (const auto& conf : {full(), proxy(), only_static, no_tftp}) {
    const auto file = (folder.path() / "dnsmasq.conf").string();
    ASSERT_TRUE(write_file(file, conf_of(conf)));

    const auto ran = cupel::testing::run({"/usr/sbin/dnsmasq", "--test", "--conf-file=" + file});

    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("syntax check OK"));
  }
}

TEST(DnsmasqConf, NoValueBecomesALineOrAWordOfItsOwn) {
  const std::vector<std::string> hostile{
      "x\nport=53", "x\rport=53",          "x,ignore", "x #",  "x\"y", "", "x\\ny",
      "x y",        std::string(300, 'x'), "x\x01",    "x\xff"};
  for (const auto& text : hostile) {
    const std::vector<DhcpConf> wrong = [&] {
      std::vector<DhcpConf> all(6, full());
      all[0].interface = all[1].server = all[2].boot_url = all[3].tftp_folder = text;
      all[4].lease_file = text;
      all[5].dns = {text};
      return all;
    }();
    for (const auto& conf : wrong) EXPECT_THAT(conf_of(conf), StartsWith("error: DHCP")) << text;
    for (const auto& node : std::vector<DhcpNode>{{text, {"52:54:00:aa:00:01"}, ""},
                                                  {"n1", {text}, ""},
                                                  {"n1", {"52:54:00:aa:00:01" + text + "x"}, ""}})
      EXPECT_THAT(conf_of(full(), {node}), StartsWith("error: DHCP")) << text;
    if (text.empty()) continue;
    EXPECT_THAT(conf_of(full(), {{"n1", {"52:54:00:aa:00:01"}, text}}), StartsWith("error: DHCP"))
        << text;
  }
}

TEST(DnsmasqConf, ANodesNameIsNoWordOfDnsmasq) {
  EXPECT_THAT(conf_of(full(), {{"ignore", {"52:54:00:aa:00:01"}, ""}}),
              HasSubstr("# ignore\ndhcp-host=52:54:00:aa:00:01\n"));
}

TEST(DnsmasqConf, OneMacOrAddressOfTwoNodesIsAnError) {
  auto same_mac = nodes();
  same_mac[1].macs = {"52-54-00-AA-00-01"};
  auto same_address = nodes();
  same_address[1].address = "10.77.0.11";

  EXPECT_EQ(conf_of(full(), same_mac),
            "error: DHCP: a01-n01 and a01-n02 both have 52:54:00:aa:00:01: correct boot: in the "
            "inventory");
  EXPECT_THAT(conf_of(full(), same_address), HasSubstr("both have 10.77.0.11"));
  EXPECT_THAT(conf_of(full(), {}), HasSubstr("no node has a MAC address"));
}

TEST(DhcpOfASite, IsMadeFromItsBoot) {
  inventory::BootSite boot{.host = "10.77.0.1", .port = 8081};
  boot.dhcp = {DhcpMode::full, "br0", "10.77.0.100", "10.77.0.200"};
  boot.gateway = "fd00::1";
  boot.dns = {"10.0.0.2", "fd00::2"};

  const auto conf = dhcp_of(boot);

  ASSERT_TRUE(conf);
  EXPECT_EQ(conf->boot_url, "http://10.77.0.1:8081/dhcp/");
  EXPECT_EQ(conf->server, "10.77.0.1");
  EXPECT_EQ(conf->gateway, "");
  EXPECT_THAT(conf->dns, ::testing::ElementsAre("10.0.0.2"));
  boot.certificate = "/etc/cupel/boot.pem";
  EXPECT_EQ(dhcp_of(boot)->boot_url, "https://10.77.0.1:8081/dhcp/");
}

TEST(DhcpOfASite, ThatHasItsOwnServerIsAnErrorWithTheOtherModes) {
  EXPECT_THAT(dhcp_of(inventory::BootSite{}).error().what,
              AllOf(HasSubstr("mode: proxy"), HasSubstr("mode: full")));
  EXPECT_THAT(dhcp_of(std::nullopt).error().what, HasSubstr("add boot:"));
}

}  // namespace
}  // namespace cupel::netboot
