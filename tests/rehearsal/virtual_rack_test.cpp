#include "rehearsal/virtual_rack.h"

#include <sys/stat.h>

#include "inventory/shipped.h"
#include "tests/rehearsal/rack_bench.h"
#include "tests/support/real_part.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

RackSpec shipped() {
  std::vector<inventory::Problem> problems;
  const auto* file = inventory::shipped_file("rehearsal/racks/h100-8.yaml");
  auto spec = parse_rack(file->text, std::string{file->path}, problems);
  return spec ? *spec : RackSpec{};
}

unsigned mode_of(const std::filesystem::path& file) {
  struct stat status{};
  return ::stat(file.c_str(), &status) == 0 ? status.st_mode & 0777u : 0u;
}

TEST(VirtualRackTest, WritesAnInventoryThatLoadsWithoutAProblem) {
  const RackBench bench{shipped(), 1000};

  ASSERT_EQ(bench.inventory.nodes.size(), 8);
  const auto& node = bench.node(2);
  EXPECT_EQ(node.name, "v01-n03");
  EXPECT_EQ(node.unit, 17);
  EXPECT_EQ(node.feeds, std::vector<std::string>{"v01/p1/b2"});
  EXPECT_EQ(node.bmc.endpoint.host, "127.64.1.3");
  EXPECT_NE(node.bmc.endpoint.port, 0);
  EXPECT_EQ(node.ssh.endpoint.host, "127.64.2.3");
  EXPECT_EQ(node.bmc.trust.kind, inventory::Trust::Kind::pinned);
  EXPECT_EQ(node.ssh.trust.kind, inventory::Trust::Kind::pinned);
  EXPECT_EQ(node.bmc.password.kind, inventory::SecretRef::Kind::file);
}

TEST(VirtualRackTest, GivesItsMachinesTheSpreadOfItsSpec) {
  const auto rate = [](SpreadShape shape) {
    auto spec = two_nodes();
    spec.spread = shape;
    RackBench bench{spec, 1000};
    return bench.on("v01-n02",
                    [](Machine& machine) { return machine.physics().speed(0, Work::memory); });
  };

  const double usual = rate(SpreadShape::normal);

  EXPECT_EQ(rate(SpreadShape::normal), usual);
  EXPECT_NE(rate(SpreadShape::uniform), usual);
  EXPECT_NEAR(rate(SpreadShape::uniform), 1, 0.01);
}

TEST(VirtualRackTest, KeepsItsSecretsToItself) {
  const RackBench bench;

  EXPECT_EQ(mode_of(bench.folder.path()), 0700u);
  for (const auto* name : {"bmc-password", "id_ed25519", "bmc/v01-n01.pem", "ssh/v01-n01"})
    EXPECT_EQ(mode_of(bench.folder.path() / name), 0600u) << name;
}

TEST(VirtualRackTest, TwoRacksOfOneFileStandAtOnce) {
  RackBench first, second;

  ASSERT_TRUE(first.boot("v01-n01"));
  ASSERT_TRUE(second.boot("v01-n01"));

  EXPECT_EQ(first.ssh(0, "hostname").output, "v01-n01\n");
  EXPECT_EQ(second.ssh(0, "hostname").output, "v01-n01\n");
  EXPECT_NE(first.node(0).ssh.endpoint, second.node(0).ssh.endpoint);
}

TEST(VirtualRackTest, AnswersSshSomeTimeAfterTheButtonOverRedfish) {
  RackBench bench{std::vector<Fault>{}, 100};
  Browser browser{bench.node(0).bmc.endpoint};
  browser.log_in(bench.node(0));
  EXPECT_THAT(bench.ssh(0, "true").error, HasSubstr("Connection refused"));

  const auto pressed = browser.ask("POST", "/redfish/v1/Systems/DGX/Actions/ComputerSystem.Reset",
                                   R"({"ResetType": "On"})");

  EXPECT_EQ(pressed.status, 204);
  ProcessOutcome ran{.exit_status = 255, .output = {}, .error = {}};
  const auto until = Clock::Real::now() + std::chrono::minutes{1};
  while (ran.exit_status == 255 && Clock::Real::now() < until) ran = bench.ssh(0, "uptime -p");
  EXPECT_EQ(ran.exit_status, 0) << ran.error;
  EXPECT_THAT(browser.ask("GET", "/redfish/v1/Systems/DGX").body,
              HasSubstr("\"PowerState\":\"On\""));
}

TEST(VirtualRackTest, BmcAndNodeTellOneStory) {
  RackBench bench{{{.kind = FaultKind::gpu_missing, .part = "gpu5"},
                   {.kind = FaultKind::dimm_too_small, .part = "dimm A7", .bytes = 34359738368.0},
                   {.kind = FaultKind::nvme_missing, .part = "nvme3"}}};
  ASSERT_TRUE(bench.boot("v01-n01"));
  Browser browser{bench.node(0).bmc.endpoint};
  browser.log_in(bench.node(0));

  const auto serials = bench.ssh(0, "nvidia-smi --query-gpu=serial --format=csv,noheader").output;
  EXPECT_EQ(lines(serials).size(), 7);
  int known = 0;
  for (const auto serial : lines(serials))
    for (int i = 1; i <= 8; ++i)
      known += browser
                   .ask("GET", "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_SXM_" +
                                   std::to_string(i))
                   .body.contains(serial);
  EXPECT_EQ(known, 7);
  EXPECT_THAT(bench.ssh(0, "dmidecode -t 17").output, HasSubstr("Size: 32 GB"));
  EXPECT_EQ(bench.ssh(0, "lsblk -dno NAME | wc -l").output, "9\n");
  EXPECT_THAT(browser.ask("GET", "/redfish/v1/Systems/DGX").body,
              HasSubstr("\"TotalSystemMemoryGiB\":2.016E3"));
}

TEST(VirtualRackTest, SpeaksIpmiAtTheBmcsAddress) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/bin/ipmitool"), "ipmitool is not there");
  RackBench bench;
  const auto password = read_file(bench.node(0).bmc.password.where, 1024);
  const auto ask = [&](const std::string& name, const std::string& host,
                       const std::vector<std::string>& words) {
    std::vector<std::string> line{"env",
                                  "IPMI_PASSWORD=" + std::string{trimmed(*password)},
                                  "ipmitool",
                                  "-I",
                                  "lanplus",
                                  "-H",
                                  host,
                                  "-p",
                                  std::to_string(bench.rack->ipmi_port(name)),
                                  "-U",
                                  "admin",
                                  "-E",
                                  "-C",
                                  "17",
                                  "-N",
                                  "1",
                                  "-R",
                                  "3"};
    line.insert(line.end(), words.begin(), words.end());
    return bench.run(line);
  };
  Browser browser{bench.node(1).bmc.endpoint};
  browser.log_in(bench.node(1));

  const auto set = ask("v01-n02", "127.64.1.2", {"chassis", "bootdev", "disk", "options=efiboot"});
  ASSERT_TRUE(bench.boot("v01-n01"));

  EXPECT_EQ(set.exit_status, 0) << set.error;
  EXPECT_THAT(browser.ask("GET", "/redfish/v1/Systems/DGX").body,
              HasSubstr("\"BootSourceOverrideTarget\":\"Hdd\""));
  EXPECT_THAT(ask("v01-n01", "127.64.1.1", {"power", "status"}).output, HasSubstr("is on"));
  EXPECT_THAT(ask("v01-n02", "127.64.1.2", {"power", "status"}).output, HasSubstr("is off"));
  EXPECT_EQ(bench.rack->ipmi_port("v01-n99"), 0);
}

TEST(VirtualRackTest, StopsInTheMidstOfEverythingAndTwice) {
  RackBench bench;
  ASSERT_TRUE(bench.boot("v01-n01"));
  std::vector<std::thread> clients;
  for (const auto* command : {"while :; do :; done", "sleep 1000000", "yes", "cat",
                              "fio --name=a --rw=write --size=1G --runtime=1000000 --time_based"})
    clients.emplace_back([&bench, command] { bench.ssh(0, command); });
  for (int seen = 0; seen < 5;)
    seen = number<int>(
               trimmed(bench.ssh(0, "ps | grep -v grep | grep -cE 'while|1000000|yes|cat'").output))
               .value_or(0);

  bench.rack->stop();
  bench.rack->stop();

  EXPECT_FALSE(bench.rack->post("v01-n01", [](Machine&) {}));
  for (auto& client : clients) client.join();
}

TEST(VirtualRackTest, SaysWhatIsInItsWay) {
  test::TemporaryFolder folder;
  auto spec = two_nodes();
  const auto error = [&](const RackSpec& rack, RackOptions options) {
    auto started = VirtualRack::start(rack, dgx(), options);
    return started ? std::string{} : started.error().what;
  };

  EXPECT_THAT(error(spec, {.folder = {}}), HasSubstr("needs a folder"));
  EXPECT_THAT(error(spec, {.speed = 0, .folder = folder.path()}), HasSubstr("speed"));
  spec.nodes[1].name = spec.nodes[0].name;
  EXPECT_THAT(error(spec, {.folder = folder.path()}), HasSubstr("stands twice"));
  spec = two_nodes();
  spec.nodes[1].bmc_address = "example.org";
  EXPECT_THAT(error(spec, {.folder = folder.path()}), HasSubstr("no IPv4 address"));
  const RackBench other;
  spec = two_nodes();
  spec.nodes[0].bmc_port = other.node(0).bmc.endpoint.port;
  EXPECT_THAT(error(spec, {.folder = folder.path()}), HasSubstr("Address already in use"));
}

}  // namespace
}  // namespace cupel::rehearsal
