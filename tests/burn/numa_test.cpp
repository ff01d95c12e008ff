#include "burnin/agent/burn/links/numa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <thread>

namespace cupel::burn {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Numa, ListsOfNumbersAreReadAsTheKernelWritesThem) {
  EXPECT_EQ(parse_id_list("0-3,8\n"), (std::vector{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_id_list("0"), std::vector{0});
  EXPECT_EQ(parse_id_list("\n"), std::vector<int>{});
  EXPECT_EQ(parse_id_list("0-8191")->size(), 8192);
  for (const auto* broken :
       {"0-", "-1", "3-1", "a", "1,,2", "1,", "0-8192", "0-4000,0-8000", "1 2", "99999999999"})
    EXPECT_EQ(parse_id_list(broken), std::nullopt) << broken;
}

/// A folder that looks like /sys, gone with its scope.
class Sys {
 public:
  Sys() {
    std::string name = (fs::temp_directory_path() / "cupel-sys.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Sys() { fs::remove_all(path_); }
  Sys(const Sys&) = delete;
  Sys& operator=(const Sys&) = delete;

  void write(const std::string& below, std::string_view text) const {
    fs::create_directories((path_ / below).parent_path());
    std::ofstream{path_ / below} << text;
  }
  void node(int id, std::string_view cores, std::string_view distance,
            std::string_view kilobytes = "1000000") const {
    const auto at = "devices/system/node/node" + std::to_string(id) + "/";
    write(at + "cpulist", cores);
    write(at + "distance", distance);
    write(at + "meminfo", "Node " + std::to_string(id) +
                              " MemTotal:       " + std::string{kilobytes} + " kB\nNode " +
                              std::to_string(id) + " MemFree:        500 kB\n");
  }
  void online(std::string_view list) const { write("devices/system/node/online", list); }
  Numa numa() const { return {path_}; }

 private:
  fs::path path_;
};

TEST(Numa, TheNodesOfTwoSocketsAreRead) {
  const Sys sys;
  sys.online("0-1\n");
  sys.node(0, "0-1,4-5\n", "10 21\n");
  sys.node(1, "2-3,6-7\n", "21 10\n");

  EXPECT_THAT(sys.numa().nodes(), ElementsAre(NumaNode{0, {0, 1, 4, 5}, 500 * 1024, {10, 21}},
                                              NumaNode{1, {2, 3, 6, 7}, 500 * 1024, {21, 10}}));
}

TEST(Numa, MemoryWithoutCoresAndCoresWithoutMemoryAreNoSockets) {
  const Sys sys;
  sys.online("0,2-3\n");
  sys.node(0, "0-71\n", "10 40 80\n");
  sys.node(2, "\n", "40 10 80\n");            // a GPU's memory
  sys.node(3, "72-80\n", "80 80 10\n", "0");  // a socket without DIMMs

  const auto nodes = sys.numa().nodes();

  ASSERT_EQ(nodes.size(), 1);
  EXPECT_EQ(nodes[0].id, 0);
  EXPECT_THAT(nodes[0].distances, ElementsAre(10, 0, 40, 80));
}

TEST(Numa, AKernelThatTellsNothingHasNoNodes) {
  const Sys sys;

  EXPECT_THAT(sys.numa().nodes(), IsEmpty());
  EXPECT_EQ(sys.numa().node_of_device("0000:1b:00.0"), std::nullopt);
}

TEST(Numa, ADevicesNodeIsReadAndMinusOneIsNoNode) {
  const Sys sys;
  sys.write("bus/pci/devices/0000:1b:00.0/numa_node", "1\n");
  sys.write("bus/pci/devices/0000:1c:00.0/numa_node", "-1\n");

  EXPECT_EQ(sys.numa().node_of_device("0000:1b:00.0"), 1);
  EXPECT_EQ(sys.numa().node_of_device("0000:1c:00.0"), std::nullopt);
}

std::vector<NumaNode> four_nodes() {
  return {{0, {0}, 0, {10, 12, 32, 33}},
          {1, {1}, 0, {12, 10, 33, 32}},
          {2, {2}, 0, {32, 33, 10, 12}},
          {3, {3}, 0, {33, 32, 12, 10}}};
}

TEST(Numa, NearIsTheDevicesNodeAndFarTheFarthestOfAll) {
  EXPECT_EQ(places_of(four_nodes(), 0), (Places{0, 3}));
  EXPECT_EQ(places_of(four_nodes(), 2), (Places{2, 1}));
}

TEST(Numa, OneSocketHasNoFarAndADeviceOfUnknownNodeHasNeither) {
  const std::vector<NumaNode> one{{0, {0, 1}, 0, {10}}};

  EXPECT_EQ(places_of(one, std::nullopt), (Places{0, std::nullopt}));
  EXPECT_EQ(places_of(four_nodes(), std::nullopt), Places{});
  EXPECT_EQ(places_of({}, 0), Places{});
}

TEST(Numa, ADeviceOnANodeWithoutCoresIsNearTheClosestThatHasSome) {
  const std::vector<NumaNode> nodes{{0, {0}, 0, {10, 40, 80, 120}}, {1, {1}, 0, {40, 10, 120, 80}}};

  EXPECT_EQ(places_of(nodes, 3), (Places{1, 0}));
  EXPECT_EQ(places_of(nodes, 7), Places{});  // nothing reported how far that is
}

TEST(Numa, MemoryLiesWhereItWasAskedFor) {
  const auto nodes = Numa{}.nodes();
  const auto node = nodes.empty() ? std::optional<int>{} : std::optional{nodes.front().id};

  auto memory = NodeMemory::on(node, 4 << 20);

  // A sandbox may forbid to ask; then it says so, and gives nothing.
  if (!memory) {
    EXPECT_EQ(memory.error().code, "memory");
    EXPECT_THAT(memory.error().message, HasSubstr("4 MiB of host memory"));
    return;
  }
  EXPECT_EQ(memory->bytes().size(), 4 << 20);
  EXPECT_EQ(memory->bytes().back(), std::byte{0});
}

TEST(Numa, MemoryOnANodeThatIsNotThereIsRefused) {
  for (const int node : {-1, 900, 1024}) {
    const auto memory = NodeMemory::on(node, 1 << 20);

    ASSERT_FALSE(memory) << node;
    EXPECT_EQ(memory.error().code, "memory");
  }
}

TEST(Numa, AThreadStaysOnItsCore) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  int last = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &mine)) last = core;
  int ran_on = -1;

  std::thread{[&] {
    const std::array cores{last};
    if (pin_this_thread(cores)) ran_on = sched_getcpu();
  }}.join();

  EXPECT_EQ(ran_on, last);
}

TEST(Numa, AWorkerStaysNearItsGpuWhereTheFirmwareSaysWhereThatIs) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  int first = 0;
  while (!CPU_ISSET(first, &mine)) ++first;
  const Sys sys;
  sys.online("0-1\n");
  sys.node(0, "8000\n", "10 21\n");
  sys.node(1, std::to_string(first) + "\n", "21 10\n");
  sys.write("bus/pci/devices/0000:1b:00.0/numa_node", "1\n");
  sys.write("bus/pci/devices/0000:3b:00.0/numa_node", "-1\n");
  sys.write("bus/pci/devices/0000:5b:00.0/numa_node", "0\n");
  std::optional<int> near, silent, refused;
  cpu_set_t kept;

  std::thread{[&] {
    near = stay_near("0000:1b:00.0", sys.numa());
    silent = stay_near("0000:3b:00.0", sys.numa());
    refused = stay_near("0000:5b:00.0", sys.numa());
    sched_getaffinity(0, sizeof kept, &kept);
  }}.join();

  EXPECT_EQ(near, 1);
  EXPECT_EQ(silent, std::nullopt);
  EXPECT_EQ(refused, std::nullopt) << "the machine has no such core";
  EXPECT_EQ(CPU_COUNT(&kept), 1);
  EXPECT_TRUE(CPU_ISSET(first, &kept));
}

TEST(Numa, CoresThatAreNotThereAreRefused) {
  const std::array cores{8000};
  Outcome<> pinned = done();
  Outcome<> none = done();

  std::thread{[&] {
    pinned = pin_this_thread(cores);
    none = pin_this_thread({});
  }}.join();

  ASSERT_FALSE(pinned);
  EXPECT_THAT(pinned.error().message, HasSubstr("cpuset"));
  EXPECT_FALSE(none);
}

}  // namespace
}  // namespace cupel::burn
