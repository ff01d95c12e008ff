// The forwarding tables of a real OpenSM, on a simulated subnet (ibsim): which uplink a flow takes
// is what the tables say, by whichever engine they were made.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "burnin/fabric/plan_wiring.h"
#include "burnin/fabric/screen.h"
#include "inventory/fabric_rule.h"
#include "tests/burnin/stages.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"

namespace cupel::burnin::fabric {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

constexpr int kNodes = 32, kGroup = 8, kRails = 2, kSpines = 2, kUplinks = 8;
constexpr int kGroups = kNodes / kGroup;

/// Number of a device: spines first, then leaves by group and rail, then HCAs.
std::string guid(char kind, int number) {
  const auto base = kind == 's'   ? 0xfc6a1c0300000000u
                    : kind == 'l' ? 0xb0cf0e0300000000u
                                  : 0xa088c20300000000u;
  return fmt::format("{:016x}", base + (static_cast<std::uint64_t>(number) << 8));
}

/// One end of each cable, by device and port: the same fabric as make_fabric() has by the rule.
struct Net {
  std::map<std::pair<std::string, int>, std::pair<std::string, int>> peers{};
  std::map<std::string, std::string> names{};

  Net() {
    for (int spine = 0; spine < kSpines; ++spine)
      names["S-" + guid('s', spine)] = fmt::format("spine{}", spine + 1);
    for (int leaf = 0; leaf < kGroups * kRails; ++leaf)
      names["S-" + guid('l', leaf)] =
          fmt::format("leaf{}-r{}", leaf / kRails + 1, leaf % kRails + 1);
    for (int hca = 0; hca < kNodes * kRails; ++hca)
      names["H-" + guid('h', hca)] = fmt::format("n{:02} mlx5_{}", hca / kRails + 1, hca % kRails);
  }

  /// As the plan has it.
  void cable(const inventory::Fabric& plan) {
    std::map<std::string, std::string> ids;
    for (const auto& [id, name] : names) ids[name] = id;
    for (const auto& each : plan.cables) {
      const auto id = [&](const inventory::CableEnd& end) {
        return ids.at(end.at_switch() ? end.device : end.device + " " + end.hca);
      };
      peers[{id(each.from), each.from.port}] = {id(each.to), each.to.port};
      peers[{id(each.to), each.to.port}] = {id(each.from), each.from.port};
    }
  }

  std::string text() const {
    std::string all;
    int lid = 0;
    for (const bool switches : {true, false})
      for (const auto& [id, name] : names) {
        if (id.starts_with("S-") != switches) continue;
        ++lid;
        const auto hex = id.substr(2);
        all += switches ? fmt::format(
                              "\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{0}\nswitchguid="
                              "0x{0}(0x{0})\nSwitch\t65 \"{1}\"\t\t# \"{2}\" enhanced port 0 "
                              "lid {3} lmc 0\n",
                              hex, id, name, lid)
                        : fmt::format(
                              "\nvendid=0x2c9\ndevid=0x1021\nsysimgguid=0x{0}\ncaguid=0x{0}\n"
                              "Ca\t1 \"{1}\"\t\t# \"{2}\"\n",
                              hex, id, name);
        for (const auto& [end, peer] : peers) {
          if (end.first != id) continue;
          all += fmt::format("[{}]\t\"{}\"[{}]\t\t# lid {} lmc 0 \"{}\" lid 1 4xHDR\n", end.second,
                             peer.first, peer.second, lid, names.at(peer.first));
        }
      }
    return all;
  }
};

inventory::Fabric plan() {
  std::vector<inventory::FabricMember> members;
  for (int node = 0; node < kNodes; ++node)
    members.push_back({fmt::format("n{:02}", node + 1), {"mlx5_0", "mlx5_1"}});
  std::vector<inventory::Problem> problems;
  auto made = make_fabric({.group = kGroup, .spines = kSpines, .uplinks = kUplinks / kSpines},
                          members, problems);
  EXPECT_TRUE(problems.empty());
  return made;
}

std::string preloaded() {
  std::error_code none;
  for (const auto* folder : {"/usr/lib/x86_64-linux-gnu/umad2sim", "/usr/lib/umad2sim",
                             "/usr/lib64/umad2sim", "/usr/lib/aarch64-linux-gnu/umad2sim"})
    if (const auto file = fs::path{folder} / "libumad2sim.so"; fs::exists(file, none))
      return file.string();
  return {};
}

/// What dump_fts prints once that engine has routed the subnet; empty where it did not.
std::string tables_of(const Net& net, const std::string& engine, const fs::path& folder) {
  using testing::Child;
  std::ofstream{folder / "net"} << net.text();
  const auto simulated = fmt::format("IBSIM_SOCKNAME=cupel{}{}", ::getpid(), engine);
  const std::vector<std::string> environment{simulated,
                                             "LD_PRELOAD=" + preloaded(),
                                             "SIM_HOST=H-" + guid('h', 0),
                                             "OSM_CACHE_DIR=" + folder.string(),
                                             "OSM_TMP_DIR=" + folder.string(),
                                             "ASAN_OPTIONS=verify_asan_link_order=0"};
  // Its console is its standard input, whose end would be its own.
  Child subnet{
      {"sh", "-c", "cd " + folder.string() + " && mkfifo console && exec ibsim -s net <>console"},
      {simulated}};
  if (!subnet.wait_for("simulator ready")) return {};
  Child manager{{"opensm", "-R", engine, "-f", "stdout", "-D", "0x03"}, environment};
  const bool is_up = manager.wait_for("SUBNET UP");
  auto ran = is_up ? testing::run({"dump_fts"}, environment) : testing::Ran{};
  manager.signal(SIGTERM);
  manager.wait();
  subnet.signal(SIGTERM);
  subnet.wait();
  EXPECT_EQ(ran.status, 0) << engine << ": " << ran.err;
  return ran.out;
}

/// Switch by switch through the printed tables and the net's cables: names of the uplinks' ends.
std::vector<std::string> walked(const Net& net, const std::string& tables, const std::string& leaf,
                                const std::string& hca) {
  std::vector<std::string> ways;
  std::string at;
  for (const auto& [id, name] : net.names)
    if (name == leaf) at = id;
  for (int hop = 0; hop < 4; ++hop) {
    const auto begin = tables.find("(" + net.names.at(at) + "):");
    const auto row = tables.find("'" + hca + "'", begin);
    if (begin == tables.npos || row == tables.npos) return {};
    const auto line = tables.rfind('\n', row) + 1;
    const auto port = std::atoi(tables.substr(line + 7, 3).c_str());
    const auto peer = net.peers.find({at, port});
    if (peer == net.peers.end()) return {};
    if (net.names.at(peer->second.first) == hca) return ways;
    ways.push_back(fmt::format("{}/{} {}/{}", net.names.at(at), port,
                               net.names.at(peer->second.first), peer->second.second));
    at = peer->second.first;
  }
  return {};
}

TEST(OpensmRoutes, AreThoseThatItsTablesHaveByEachEngine) {
  const bool is_there = !preloaded().empty() &&
                        testing::run({"sh", "-c", "command -v ibsim opensm dump_fts"}).status == 0;
  CUPEL_NEEDS_REAL_PART(is_there, "ibsim, opensm and dump_fts are not installed");
  const auto fabric = plan();
  Net net;
  net.cable(fabric);
  std::vector<std::string> names;
  for (int node = 0; node < kNodes; ++node) names.push_back(fmt::format("n{:02}", node + 1));
  int other_than_by_place = 0;

  for (const std::string engine : {"minhop", "ftree"}) {
    const test::TemporaryFolder folder;
    const auto text = tables_of(net, engine, folder.path());
    const auto tables = inventory::parse_forwarding(text);
    ASSERT_TRUE(tables) << tables.error().what << "\n" << text.substr(0, 400);
    EXPECT_TRUE(tables->doubts().empty());

    auto planned = wiring_of(fabric, names, Routing::by_destination, &*tables).value();

    const inventory::FabricMap map{fabric};
    int compared = 0;
    for (const auto& [from, routes] : planned.wiring.routes)
      for (int node = 0; node < kNodes; ++node) {
        const auto& leaf = planned.names.leaves[static_cast<std::size_t>(from.first)];
        const auto& port =
            planned.wiring.ports[static_cast<std::size_t>(node * kRails + from.second)];
        if (port.leaf == from.first) continue;
        const auto& home = planned.names.leaves[static_cast<std::size_t>(port.leaf)];
        const auto route = routes[static_cast<std::size_t>(node)];
        ASSERT_TRUE(route.known())
            << engine << ": " << leaf << " to " << names[static_cast<std::size_t>(node)];
        const auto& up = map.uplinks(leaf)[static_cast<std::size_t>(route.up)];
        const auto& down = map.uplinks(home)[static_cast<std::size_t>(route.down)];
        EXPECT_THAT(
            walked(net, text, leaf,
                   fmt::format("{} mlx5_{}", names[static_cast<std::size_t>(node)], from.second)),
            ElementsAre(
                fmt::format("{}/{} {}/{}", leaf, up.leaf_port, up.spine, up.spine_port),
                fmt::format("{}/{} {}/{}", down.spine, down.spine_port, home, down.leaf_port)));
        other_than_by_place += route.up == port.place ? 0 : 1;
        ++compared;
      }
    EXPECT_EQ(compared, kGroups * kRails * (kNodes - kGroup)) << engine;
  }
  EXPECT_GT(other_than_by_place, 0) << "which uplink a place takes cannot be assumed";
}

}  // namespace
}  // namespace cupel::burnin::fabric
