// `cupel boot dhcp`, as it is printed and as it runs: a real dnsmasq in a network of the test's
// own, asked as firmware asks it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/captures.h"
#include "tests/support/child.h"
#include "tests/support/qemu/dhcp_client.h"
#include "tests/support/qemu/network_bed.h"
#include "tests/support/real_part.h"

namespace cupel {
namespace {

using cupel::testing::Child;
using cupel::testing::DhcpAsk;
using cupel::testing::DhcpClient;
using cupel::testing::NetworkBed;
using cupel::testing::Ran;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kKnown = "52:54:00:aa:00:01";
constexpr const char* kUnknown = "52:54:00:aa:00:99";

DhcpAsk pxe(std::uint16_t arch, const std::string& mac = kKnown) {
  return {
      .mac = mac, .vendor = fmt::format("PXEClient:Arch:{:05}:UNDI:003000", arch), .arch = arch};
}
DhcpAsk http(std::uint16_t arch) {
  return {.mac = kKnown,
          .vendor = fmt::format("HTTPClient:Arch:{:05}:UNDI:003000", arch),
          .arch = arch};
}

class DhcpServer : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(NetworkBed::possible() && fs::exists("/usr/sbin/dnsmasq"),
                          "needs root, /dev/net/tun, iproute2 and dnsmasq-base");
    CUPEL_NEEDS_REAL_PART(fs::exists("/usr/lib/ipxe/snponly.efi"), "package ipxe is not installed");
    bed = std::make_unique<NetworkBed>(0);
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"link", "add", "node", "type", "veth", "peer", "name", "node0"},
             {"link", "set", "node0", "master", "br0", "up"},
             {"link", "set", "node", "up"}}) {
      std::vector<std::string> line{"ip"};
      line.insert(line.end(), words.begin(), words.end());
      ASSERT_EQ(cupel::testing::run(line).status, 0);
    }
    // dnsmasq serves TFTP as nobody.
    fs::permissions(folder.path(), fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add);
    fs::create_directory(temporary());
    client = std::make_unique<DhcpClient>("node");
  }
  void TearDown() override {
    server.reset();
    client.reset();
    bed.reset();
  }

  fs::path temporary() const { return folder.path() / "tmp"; }
  void write_inventory(const std::string& dhcp) const {
    std::ofstream{folder.path() / "inventory.yaml"} << fmt::format(
        "site: s\n"
        "boot: {{serve: \"10.77.0.1:8081\", dhcp: {{{}}}}}\n"
        "defaults:\n"
        "  profile: cpu-server\n"
        "  bmc: {{user: admin, password: \"env:P\", tls: {{trust: first-use}}}}\n"
        "nodes:\n"
        "  - name: n[1-3]\n"
        "    bmc: {{address: \"10.0.1.[1-3]\"}}\n"
        "    ssh: {{address: \"10.77.0.[11-13]\"}}\n"
        "    boot: {{macs: [\"52:54:00:aa:00:01\", \"52:54:00:aa:00:02\", "
        "\"52:54:00:aa:00:03\"], address: \"10.77.0.[11-13]/24\"}}\n",
        dhcp);
  }
  std::vector<std::string> line_of(const std::vector<std::string>& words) const {
    std::vector<std::string> line{"env",
                                  "-C",
                                  folder.path().string(),
                                  "P=x",
                                  "TMPDIR=" + temporary().string(),
                                  CUPEL_BINARY,
                                  "boot",
                                  "dhcp"};
    line.insert(line.end(), words.begin(), words.end());
    return line;
  }
  Ran cupel(const std::vector<std::string>& words) const {
    return cupel::testing::run(line_of(words));
  }
  void start(const std::string& dhcp, const std::vector<std::string>& more = {}) {
    write_inventory(dhcp);
    std::vector<std::string> words{"--run"};
    words.insert(words.end(), more.begin(), more.end());
    server = std::make_unique<Child>(line_of(words));
    if (!server->wait_for("started: DHCP on br0"))
      throw std::runtime_error{"cupel boot dhcp does not start"};
  }

  test::TemporaryFolder folder;
  std::unique_ptr<NetworkBed> bed;
  std::unique_ptr<DhcpClient> client;
  std::unique_ptr<Child> server;
};

TEST_F(DhcpServer, SendsEachFirmwareToWhatItBoots) {
  start("mode: full, interface: br0");

  const auto plain = client->answer_to({.mac = kKnown});
  const auto uefi_http = client->answer_to(http(16));
  const auto arm_http = client->answer_to(http(19));
  const auto uefi = client->answer_to(pxe(7));
  const auto bios = client->answer_to(pxe(0));
  auto chained = pxe(7);
  chained.ipxe = true;
  const auto ipxe = client->answer_to(chained);

  ASSERT_TRUE(plain && uefi_http && arm_http && uefi && bios && ipxe);
  EXPECT_EQ(plain->address, "10.77.0.11");
  EXPECT_EQ(plain->file, "");
  EXPECT_FALSE(plain->options.contains(3)) << "a router that there is not";
  EXPECT_EQ(uefi_http->file, "http://10.77.0.1:8081/dhcp/ram.efi");
  EXPECT_EQ(uefi_http->options.at(60), "HTTPClient");
  EXPECT_EQ(arm_http->file, uefi_http->file);
  EXPECT_EQ(uefi->file, "snponly.efi");
  EXPECT_EQ(bios->file, "undionly.kpxe");
  EXPECT_EQ(ipxe->file, "http://10.77.0.1:8081/dhcp/boot.ipxe");
}

TEST_F(DhcpServer, GivesNoAnswerToAMacThatIsNotInTheInventory) {
  start("mode: full, interface: br0, range: 10.77.0.100-10.77.0.200", {"--nodes", "n1,n2"});

  client->send({.mac = kUnknown});
  client->send(pxe(7, kUnknown));
  client->send({.mac = "52:54:00:aa:00:03"});  // a node that was not named
  client->send({.mac = kUnknown, .kind = DhcpAsk::request, .requested = "10.77.0.100"});
  const auto known = client->answer_to({.mac = kKnown});

  // dnsmasq takes them in order: whoever is answered now has been asked after the others.
  ASSERT_TRUE(known);
  EXPECT_EQ(client->answers_to_others(), 0);
  EXPECT_TRUE(server->wait_for("problem: unknown-mac: 52:54:00:aa:00:99 asked and gets no answer"));
  EXPECT_TRUE(server->wait_for("problem: unknown-mac: 52:54:00:aa:00:03"));
}

TEST_F(DhcpServer, NamesASecondServer) {
  start("mode: full, interface: br0");

  const auto refused = client->answer_to(
      {.mac = kKnown, .kind = DhcpAsk::request, .server = "10.77.0.2", .requested = "10.77.0.55"});

  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->kind, 6);
  EXPECT_TRUE(server->wait_for("problem: n1 second-server"));
}

TEST_F(DhcpServer, AsAProxyAnswersPxeOfKnownNodesAlone) {
  start("mode: proxy, interface: br0");

  client->send({.mac = kKnown});
  client->send(pxe(7, kUnknown));
  const auto uefi = client->answer_to(pxe(7));
  auto chained = pxe(7);
  chained.ipxe = true;
  const auto ipxe = client->answer_to(chained);

  ASSERT_TRUE(uefi && ipxe);
  EXPECT_EQ(client->answers_to_others(), 0);
  EXPECT_EQ(uefi->address, "0.0.0.0");
  EXPECT_EQ(uefi->options.at(60), "PXEClient");
  EXPECT_EQ(ipxe->file, "http://10.77.0.1:8081/dhcp/boot.ipxe");
  EXPECT_TRUE(server->wait_for("n1 offered"));
}

TEST_F(DhcpServer, EndsWithTheCommandAndLeavesNothing) {
  start("mode: full, interface: br0");
  ASSERT_TRUE(client->answer_to({.mac = kKnown}));

  server->signal(SIGTERM);
  const auto ended = server->wait();

  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(fs::is_empty(temporary()));
  EXPECT_THAT(cupel::testing::run({"ss", "-Hlnu"}).out, ::testing::Not(HasSubstr(":67")));
}

TEST_F(DhcpServer, EndsAlsoWhereTheCommandIsKilled) {
  start("mode: full, interface: br0");
  ASSERT_TRUE(client->answer_to({.mac = kKnown}));
  const auto listens = [] {
    return cupel::testing::run({"ss", "-Hlnu"}).out.find(":67") != std::string::npos;
  };
  ASSERT_TRUE(listens());

  server->signal(SIGKILL);
  server->wait();

  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (listens() && std::chrono::steady_clock::now() < until) {
  }
  EXPECT_FALSE(listens());
}

TEST_F(DhcpServer, RunsOnNoOtherInterfaceThanTheOneThatHasItsAddress) {
  write_inventory("mode: full, interface: eth9");
  const auto missing = cupel({"--run"});
  write_inventory("mode: full, interface: node");
  const auto other = cupel({"--run"});

  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("this machine has no interface eth9"));
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("interface node does not have the address 10.77.0.1"));
}

TEST_F(DhcpServer, PrintsAConfigurationThatDnsmasqTakes) {
  write_inventory("mode: full, interface: br0");

  const auto printed = cupel({});
  std::ofstream{folder.path() / "printed.conf"} << printed.out;
  const auto checked = cupel::testing::run(
      {"/usr/sbin/dnsmasq", "--test", "--conf-file=" + (folder.path() / "printed.conf").string()});

  EXPECT_EQ(printed.status, 0);
  EXPECT_THAT(printed.out, HasSubstr("tftp-root=/usr/lib/ipxe\n"));
  EXPECT_THAT(printed.err, HasSubstr("has no snponly-arm64.efi"));
  EXPECT_EQ(checked.status, 0) << checked.err;
}

TEST_F(DhcpServer, WhereTheSiteHasItsOwnThereIsNothingToPrint) {
  write_inventory("mode: none");

  const auto printed = cupel({});

  EXPECT_EQ(printed.status, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr("docs/do/os.md"));
}

}  // namespace
}  // namespace cupel
