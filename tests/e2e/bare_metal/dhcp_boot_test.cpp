// Machines that are sent to the boot server by DHCP: `cupel boot dhcp --run` beside `cupel run`,
// and real firmware between them, until the RAM system has said hello with its ticket.
#include "tests/e2e/bare_metal/os_run_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

constexpr const char* kRam = R"(playbook: ram
description: the RAM system, up
steps:
  - step: boot-ram
)";

class OsRunByDhcp : public OsRunBench {
 protected:
  void make(QemuMachine machine, const std::string& way, const std::string& dhcp) {
    std::vector<QemuMachine> machines;
    machines.push_back(std::move(machine));
    make_site(std::move(machines));
    nodes_have_addresses = true;
    write_inventory("ways: [" + way + "], dhcp: {" + dhcp + "}");
    write("ram.yaml", kRam);
    server = &start_child(line_of({"boot", "dhcp", "--run"}));
    require(server->wait_for("started: DHCP on br0"), "cupel boot dhcp does not start");
  }
  void expect_up() {
    const auto ran = cupel({"run", "ram.yaml", "--no-console", "--wait-for-repair", "0s"});

    EXPECT_EQ(ran.status, 0) << ran.out << ran.err << rack->shown(1);
    EXPECT_THAT(rack->shown(1), HasSubstr("CUPEL ticket from cmdline"));
    EXPECT_THAT(on_node(1, "cat /proc/cmdline"),
                HasSubstr("cupel.boot=http://10.77.0.1:8081/boot/"));
    EXPECT_TRUE(server->wait_for("q01-n01 acknowledged: 52:54:00:aa:00:01 has 10.77.0.11"));
  }
  static constexpr const char* kFull = "mode: full, interface: br0";

  cupel::testing::Child* server = nullptr;
};

TEST_F(OsRunByDhcp, UefiBootsTheRamSystemFromAUrlThatComesByDhcp) {
  make({.firmware = QemuMachine::Firmware::uefi, .mebibytes = 512}, "dhcp-http", kFull);

  expect_up();
}

class LongOsRunByDhcp : public OsRunByDhcp {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(std::filesystem::exists(kIpxe), "iPXE (package ipxe) is not there");
    OsRunByDhcp::SetUp();
  }
};

TEST_F(LongOsRunByDhcp, UefiBootsByPxeThroughIpxe) {
  make({.firmware = QemuMachine::Firmware::uefi, .mebibytes = 512, .pxe = true}, "pxe", kFull);

  expect_up();

  EXPECT_TRUE(server->wait_for("q01-n01 sent: TFTP"));
}

TEST_F(LongOsRunByDhcp, BiosBootsByThePxeOfItsNetworkCard) {
  make({.mebibytes = 512, .nic = QemuNic{.rom = true}}, "pxe", kFull);

  expect_up();
}

TEST_F(LongOsRunByDhcp, UefiBootsByAProxyBesideTheSitesOwnDhcp) {
  make({.firmware = QemuMachine::Firmware::uefi, .mebibytes = 512, .pxe = true}, "pxe",
       "mode: proxy, interface: br0");
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"link", "add", "site", "type", "veth", "peer", "name", "site0"},
           {"link", "set", "site0", "master", "br0", "up"},
           {"addr", "add", "10.77.0.2/24", "dev", "site"},
           {"link", "set", "site", "up"}}) {
    std::vector<std::string> line{"ip"};
    line.insert(line.end(), words.begin(), words.end());
    ASSERT_EQ(cupel::testing::run(line).status, 0);
  }
  start_dhcp({}, "site");

  const auto ran = cupel({"run", "ram.yaml", "--no-console", "--wait-for-repair", "0s"});

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err << rack->shown(1);
  EXPECT_THAT(rack->shown(1), HasSubstr("CUPEL ticket from cmdline"));
}

}  // namespace
}  // namespace cupel::rehearsal
