// Real fabric tools on a simulated fabric (ibsim) that is cabled by a plan, with planted faults.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "burnin/fabric/discovery/iblinkinfo.h"
#include "burnin/fabric/discovery/ibnetdiscover.h"
#include "burnin/fabric/discovery/port_counters.h"
#include "burnin/fabric/link_health.h"
#include "inventory/fabric_audit.h"
#include "inventory/fabric_rule.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"

namespace cupel::burnin {
namespace {

using inventory::Cable;
using inventory::CableEnd;
using inventory::CableFault;
using inventory::Fabric;

namespace fs = std::filesystem;

// Debian's ibsim 0.10 knows no NDR.
constexpr std::string_view kSpeed = "HDR";
constexpr int kExtendedSpeedOfHdr = 4, kExtendedSpeedOfEdr = 2;

fs::path preload() {
  std::error_code none;
  for (const auto& folder : fs::directory_iterator{"/usr/lib", none})
    if (const auto file = folder.path() / "umad2sim/libumad2sim.so"; fs::exists(file, none))
      return file;
  return {};
}

bool has_tools() {
  const auto found = [](const char* name) {
    return fs::exists(fs::path{"/usr/sbin"} / name) || fs::exists(fs::path{"/usr/bin"} / name);
  };
  return found("ibsim") && found("ibnetdiscover") && found("iblinkinfo") &&
         found("ibqueryerrors") && found("opensm") && !preload().empty();
}

/// A fabric as ibsim reads it.
std::string net_of(const Fabric& fabric) {
  std::map<std::string, std::vector<std::string>> ports;  // by device, as ibsim names it
  std::map<std::string, std::string> heads;
  const auto id = [&](const CableEnd& end) {
    const auto name =
        end.at_switch() ? "MF0;" + end.device + ":MQM8700/U1" : end.device + " " + end.hca;
    const auto known = heads.find(name);
    if (known != heads.end()) return known->second;
    return heads[name] = fmt::format("{}-{:016x}", end.at_switch() ? 'S' : 'H',
                                     0xa088c20300000000 + 16 * (heads.size() + 1));
  };
  for (const auto& cable : fabric.cables) {
    const auto from = id(cable.from), to = id(cable.to);
    const auto rate =
        fmt::format("w={} e={} s=4", cable.width == 1 ? 1 : 2,
                    cable.speed == kSpeed ? kExtendedSpeedOfHdr : kExtendedSpeedOfEdr);
    ports[from].push_back(
        fmt::format("[{}]\t\"{}\"[{}] {}", cable.from.port, to, cable.to.port, rate));
    ports[to].push_back(
        fmt::format("[{}]\t\"{}\"[{}] {}", cable.to.port, from, cable.from.port, rate));
  }
  std::string text;
  for (const auto& [name, device] : heads) {
    const auto guid = device.substr(2);
    const bool at_switch = device.starts_with("S");
    text += at_switch
                ? fmt::format("\nswitchguid=0x{0}(0x{0})\nSwitch\t41 \"{1}\"\t\t# \"{2}\"\n", guid,
                              device, name)
                : fmt::format("\ncaguid=0x{}\nCa\t1 \"{}\"\t\t# \"{}\"\n", guid, device, name);
    for (const auto& port : ports[device]) text += port + "\n";
  }
  return text;
}

/// ibsim with one fabric, and tools that take it for the machine's own.
class Ibsim : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(has_tools(), "no ibsim, opensm or infiniband-diags");
    std::string pattern = (fs::temp_directory_path() / "cupel-ibsim-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::vector<inventory::FabricMember> members;
    for (int i = 1; i <= 8; ++i)
      members.push_back({fmt::format("n{:02}", i), {"mlx5_0", "mlx5_1", "mlx5_6", "mlx5_7"}});
    std::vector<inventory::Problem> problems;
    plan = make_fabric({.group = 4, .spines = 2, .switch_ports = 40, .speed = std::string{kSpeed}},
                       members, problems);
    ASSERT_THAT(problems, ::testing::IsEmpty());
    real = plan;
  }
  void TearDown() override {
    for (auto* manager : {&second_, &manager_}) {
      if (!*manager) continue;
      (*manager)->signal(SIGTERM);
      (*manager)->wait();
    }
    if (sim_) sim_->signal(SIGTERM);
    if (sim_) sim_->wait();
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  Cable& cable(const std::string& node, const std::string& hca) {
    return *std::ranges::find_if(real.cables, [&](const Cable& one) {
      return one.from.device == node && one.from.hca == hca;
    });
  }

  /// Simulates `real`; the tools run on the host of its first HCA.
  void start() {
    const auto net = net_of(real);
    std::ofstream{folder_ / "net"} << net;
    const auto host = net.substr(net.find("\"H-") + 1, 18);
    last_host_ = net.substr(net.rfind("\nCa\t1 \"H-") + 7, 18);
    environment_ = {"IBSIM_SOCKNAME=" + folder_.filename().string(), "SIM_HOST=" + host,
                    "OSM_CACHE_DIR=" + folder_.string(), "OSM_TMP_DIR=" + folder_.string()};
    // Its console reads from a FIFO that nobody writes to.
    const auto script =
        "cd '" + folder_.string() + "' && mkfifo con && exec 7<>con && exec ibsim -s net <&7";
    sim_.emplace(std::vector<std::string>{"sh", "-c", script}, environment_);
    ASSERT_TRUE(sim_->wait_for("sim>", std::chrono::minutes{1}));
    environment_.push_back("LD_PRELOAD=" + preload().string());
  }

  void start_manager() {
    manager_.emplace(std::vector<std::string>{"opensm", "-f", "stdout", "-D", "0x03"},
                     environment_);
    ASSERT_TRUE(manager_->wait_for("SUBNET UP", std::chrono::seconds{60}));
  }

  /// On the last HCA's host. It finds the first one's, and stands by.
  void start_second_manager() {
    auto environment = environment_;
    environment[1] = "SIM_HOST=" + last_host_;
    std::filesystem::create_directory(folder_ / "second");
    for (auto& word : environment)
      if (word.starts_with("OSM_")) word += "/second";
    second_.emplace(std::vector<std::string>{"opensm", "-f", "stdout", "-D", "0x03"}, environment);
    ASSERT_TRUE(second_->wait_for("STANDBY", std::chrono::seconds{60}));
  }

  /// Sets a counter of the HCA or of the switch's port at its other end.
  void plant(const Cable& at, bool at_the_switch, const std::string& counter, int value) {
    const auto net = net_of(real);
    const auto hca = net.find(fmt::format("# \"{} {}\"", at.from.device, at.from.hca));
    const auto leaf = net.find(fmt::format("# \"MF0;{}:", at.to.device));
    const auto line = net.rfind('"', net.rfind('"', at_the_switch ? leaf : hca) - 1);
    const auto id = net.substr(line + 1, 18);
    const int port = at_the_switch ? at.to.port : at.from.port;
    std::ofstream{folder_ / "con"}
        << fmt::format("PerformanceSet \"{}\"[{}] PortCounters.{}={}\n", id, port, counter, value);
    ASSERT_TRUE(sim_->wait_for(fmt::format("{}[{}] PortCounters.{} has been", id, port, counter)));
  }

  /// A subnet manager that has just come up may not answer the first query.
  std::string print_errors() {
    auto printed = print("ibqueryerrors");
    for (int tries = 0; tries < 3 && !parse_ibqueryerrors(printed); ++tries)
      printed = print("ibqueryerrors");
    return printed;
  }

  LinkLook look(std::chrono::minutes at) {
    LinkLook seen{.taken = std::chrono::sys_seconds{} + at};
    const auto discovered = parse_ibnetdiscover(print("ibnetdiscover"));
    const auto printed = print_errors();
    const auto errors = parse_ibqueryerrors(printed);
    EXPECT_TRUE(discovered) << discovered.error().what;
    EXPECT_TRUE(errors) << errors.error().what << printed;
    if (discovered) add_links(seen, *discovered);
    if (errors) add_counters(seen, *errors);
    return seen;
  }

  std::string print(const std::string& tool) {
    return testing::run({tool}, environment_, std::chrono::seconds{60}).out;
  }

  Fabric plan, real;

 private:
  fs::path folder_{};
  std::vector<std::string> environment_{};
  std::string last_host_{};
  std::optional<testing::Child> sim_{}, manager_{}, second_{};
};

std::vector<std::string> faults_of(const inventory::FabricAudit& audit) {
  std::vector<std::string> found;
  for (const auto& finding : audit.findings)
    found.push_back(
        fmt::format("{} {} {}", to_string(finding.fault), finding.cable.device, finding.cable.hca));
  return found;
}

TEST_F(Ibsim, AFabricThatIsCabledAsPlannedPassesWithBothTools) {
  start();
  start_manager();

  const auto discovered = parse_ibnetdiscover(print("ibnetdiscover"));
  const auto links = parse_iblinkinfo(print("iblinkinfo"));

  ASSERT_TRUE(discovered) << discovered.error().what;
  ASSERT_TRUE(links) << links.error().what;
  EXPECT_THAT(faults_of(audit_fabric(plan, *discovered)), ::testing::IsEmpty());
  EXPECT_THAT(faults_of(audit_fabric(plan, *links)), ::testing::IsEmpty());
  EXPECT_EQ(audit_fabric(plan, *links).right, plan.cables.size());
}

TEST_F(Ibsim, EachPlantedCablingFaultIsNamedByBothTools) {
  std::swap(cable("n01", "mlx5_6").to, cable("n03", "mlx5_6").to);  // swapped in a leaf
  std::swap(cable("n05", "mlx5_0").to, cable("n05", "mlx5_1").to);  // rails crossed
  cable("n06", "mlx5_7").to.port = 30;                              // a free port
  cable("n07", "mlx5_1").width = 1;
  cable("n08", "mlx5_1").speed = "EDR";
  std::erase_if(real.cables, [](const Cable& one) {
    return one.from.device == "n02" && one.from.hca == "mlx5_7";
  });
  std::vector<Cable*> uplinks;
  for (auto& one : real.cables)
    if (!one.is_access()) uplinks.push_back(&one);
  std::swap(uplinks[0]->to, uplinks[6]->to);
  start();
  start_manager();

  const auto discovered = parse_ibnetdiscover(print("ibnetdiscover"));
  const auto links = parse_iblinkinfo(print("iblinkinfo"));

  ASSERT_TRUE(discovered) << discovered.error().what;
  ASSERT_TRUE(links) << links.error().what;
  const auto expected = ::testing::UnorderedElementsAre(
      "swapped n01 mlx5_6", "swapped n05 mlx5_0", "moved n06 mlx5_7", "slow n07 mlx5_1",
      "slow n08 mlx5_1", "missing n02 mlx5_7", "swapped leaf1-r1 ");
  EXPECT_THAT(faults_of(audit_fabric(plan, *discovered)), expected);
  EXPECT_THAT(faults_of(audit_fabric(plan, *links)), expected);
}

TEST_F(Ibsim, WithoutASubnetManagerTwoToolsFailToLookAndWithOneNoPortHasErrors) {
  start();

  const auto before = parse_ibqueryerrors(print("ibqueryerrors"));
  const auto links = parse_iblinkinfo(print("iblinkinfo"));
  start_manager();
  const auto after = parse_ibqueryerrors(print("ibqueryerrors"));

  ASSERT_FALSE(before);
  EXPECT_EQ(before.error().code, Code::kNoMeasurement);
  ASSERT_FALSE(links);  // every LID is 0
  EXPECT_EQ(links.error().code, Code::kNoMeasurement);
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_EQ(after->nodes_checked, plan.switches.size() + 8 * 4);
  EXPECT_THAT(after->ports, ::testing::IsEmpty());
}

TEST_F(Ibsim, ASecondSubnetManagerStandsByAndChangesNothingOfWhatIsSeen) {
  start();
  start_manager();
  const auto alone = print("iblinkinfo");

  start_second_manager();
  const auto links = parse_iblinkinfo(print("iblinkinfo"));
  const auto errors = parse_ibqueryerrors(print_errors());

  ASSERT_TRUE(links) << links.error().what;
  EXPECT_EQ(links->links, parse_iblinkinfo(alone).value().links) << "LIDs are the first's";
  EXPECT_THAT(faults_of(audit_fabric(plan, *links)), ::testing::IsEmpty());
  ASSERT_TRUE(errors) << errors.error().what;
  EXPECT_EQ(errors->nodes_checked, plan.switches.size() + 8 * 4);
}

TEST_F(Ibsim, CountersThatGrewBetweenTwoLooksNameTheLinkAndItsEnd) {
  start();
  start_manager();
  plant(cable("n02", "mlx5_1"), false, "PortRcvErrors", 40);  // old: before the first look
  const auto first = look(std::chrono::minutes{0});

  plant(cable("n03", "mlx5_6"), true, "SymbolErrorCounter", 1200);
  plant(cable("n05", "mlx5_0"), false, "PortRcvErrors", 321);
  plant(cable("n06", "mlx5_7"), true, "LinkDownedCounter", 4);
  plant(cable("n07", "mlx5_7"), true, "LinkDownedCounter", 2);
  plant(cable("n07", "mlx5_7"), false, "LinkDownedCounter", 3);
  const auto second = look(std::chrono::minutes{130});

  std::vector<std::string> found;
  const auto health = judge_links(&first, second);
  for (const auto& finding : health.findings)
    found.push_back(to_string(finding.link.from) + ": " + finding.defects.front().what);
  EXPECT_EQ(health.links, plan.cables.size());
  using ::testing::AllOf, ::testing::HasSubstr, ::testing::StartsWith;
  EXPECT_THAT(found,
              ::testing::UnorderedElementsAre(
                  AllOf(StartsWith("n03 mlx5_6: symbol BER 7.2e-13 at leaf1-r3"), HasSubstr("HDR")),
                  StartsWith("n05 mlx5_0: PortRcvErrors grew by 321 at n05 mlx5_0"),
                  StartsWith("n07 mlx5_7: went down 2 times in 130 minutes")));
}

}  // namespace
}  // namespace cupel::burnin
