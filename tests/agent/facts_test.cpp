#include <gmock/gmock.h>

#include "base/json.h"
#include "burnin/agent/node/facts/dimms.h"
#include "burnin/agent/node/facts/nvme.h"
#include "burnin/agent/node/facts/pci.h"
#include "burnin/agent/node/facts/sections.h"
#include "tests/agent/fake_nvml.h"
#include "tests/agent/node_tree.h"
#include "tests/support/samples.h"

namespace cupel::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

json::value document(const Tree& tree, const std::string& nvml = "libabsent.so") {
  const auto text = facts_document(tree, nvml::Library{nvml});
  auto parsed = parse_json(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *std::move(parsed) : json::value{};
}

std::string why_unknown(const json::value& facts, std::string_view fact) {
  for (const auto& each : find(facts, "unknown")->as_array())
    if (text_at(each, "fact") == fact) return text_at(each, "why").value_or("");
  return {};
}

const json::value& row(const json::value& facts, std::string_view list, std::string_view key,
                       std::string_view value) {
  static const json::value nothing;
  const auto* rows = find(facts, list);
  if (rows == nullptr) return nothing;
  for (const auto& each : rows->as_array())
    if (text_at(each, key) == value) return each;
  return nothing;
}

/// A GPU behind a switch: GPU, downstream port, upstream port, root port.
void put_gpu(const NodeTree& node, const std::string& switch_link) {
  const std::string root = "pci0000:15/0000:15:01.0";
  node.pci(root, "0x060400", "0x8086", switch_link, "32.0 x16");
  node.pci(root + "/0000:16:00.0", "0x060400", "0x1000", switch_link, "32.0 x16");
  node.pci(root + "/0000:16:00.0/0000:17:01.0", "0x060400", "0x1000", "32.0 x16", "32.0 x16");
  node.pci(root + "/0000:16:00.0/0000:17:01.0/0000:1b:00.0", "0x030200", "0x10de", "32.0 x16",
           "32.0 x16");
}

TEST(Facts, OfAnEmptyTreeNameEverythingThatIsUnknown) {
  const NodeTree node;

  const auto facts = document(node.tree());

  EXPECT_EQ(text_at(facts, "kind"), "facts");
  EXPECT_EQ(find(facts, "gpus"), nullptr);
  for (const auto* fact : {"system", "CPUs", "memory", "NUMA nodes", "memory errors",
                           "NVIDIA driver", "kernel command line", "PCI devices", "GPUs"})
    EXPECT_NE(why_unknown(facts, fact), "") << fact;
}

TEST(Facts, TellBoardCpusMemoryAndKernel) {
  const NodeTree node;
  node.write("/sys/class/dmi/id/sys_vendor", "NVIDIA");
  node.write("/sys/class/dmi/id/product_name", "DGXH100");
  node.write("/sys/class/dmi/id/product_serial", "To Be Filled By O.E.M.");
  node.write("/sys/class/dmi/id/bios_version", "01.01.03");
  std::string cpus;
  for (int i = 0; i < 4; ++i)
    cpus += "processor\t: " + std::to_string(i) +
            "\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Platinum 8480C\n"
            "microcode\t: 0x2b0005c0\nphysical id\t: " +
            std::to_string(i / 2) + "\ncpu cores\t: 2\n\n";
  node.write("/proc/cpuinfo", cpus);
  for (int i = 0; i < 4; ++i)
    node.write("/sys/devices/system/cpu/cpu" + std::to_string(i) + "/cpufreq/scaling_governor",
               i < 2    ? "performance"
               : i == 2 ? "powersave"
                        : "performance");
  node.write("/proc/meminfo", "MemTotal:       2113407668 kB\nMemFree: 1 kB");
  node.write("/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:       1056763832 kB");
  node.write("/sys/devices/system/node/node1/cpulist", "56-111,168-223");
  node.write("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512");
  node.write("/sys/devices/system/edac/mc/mc0/ue_count", "1");
  node.write("/sys/devices/system/edac/mc/mc0/ce_count", "7");
  node.write("/sys/devices/system/edac/mc/mc0/dimm3/dimm_label", "CPU_SrcID#0_MC#0_Chan#0_DIMM#0");
  node.write("/sys/devices/system/edac/mc/mc0/dimm3/dimm_ue_count", "1");
  node.write("/proc/cmdline", "root=/dev/nvme0n1 iommu=pt");
  node.write("/proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n"
             "GCC version:  gcc version 12.2.0");
  node.write("/sys/fs/cgroup/system.slice/nvidia-fabricmanager.service/cgroup.procs", "4211");
  node.write("/sys/kernel/iommu_groups/0/type", "identity");

  const auto facts = document(node.tree());

  EXPECT_EQ(text_at(facts, "system/product"), "DGXH100");
  EXPECT_EQ(find(facts, "system/serial"), nullptr);
  EXPECT_THAT(why_unknown(facts, "serial"), HasSubstr("root"));
  const auto& sockets = find(facts, "cpus")->as_array();
  ASSERT_EQ(sockets.size(), 2);
  EXPECT_EQ(text_at(sockets[0], "model"), "Intel(R) Xeon(R) Platinum 8480C");
  EXPECT_EQ(number_at(sockets[0], "threads"), 2);
  EXPECT_EQ(number_at(sockets[0], "cores"), 2);
  EXPECT_EQ(text_at(sockets[0], "microcode"), "0x2b0005c0");
  EXPECT_EQ(text_at(sockets[0], "governor"), "performance");
  EXPECT_EQ(text_at(sockets[1], "governor"), "mixed");
  EXPECT_EQ(number_at(facts, "memory/bytes"), 2113407668.0 * 1024);
  EXPECT_EQ(number_at(find(facts, "memory/numa")->as_array()[0], "bytes"), 1056763832.0 * 1024);
  EXPECT_EQ(number_at(find(facts, "memory/huge_pages")->as_array()[0], "total"), 512);
  const auto& controller = row(facts, "edac", "name", "mc0");
  EXPECT_EQ(number_at(controller, "uncorrected"), 1);
  EXPECT_EQ(number_at(find(controller, "dimms")->as_array()[0], "uncorrected"), 1);
  EXPECT_EQ(text_at(facts, "kernel/command_line"), "root=/dev/nvme0n1 iommu=pt");
  EXPECT_EQ(text_at(facts, "drivers/nvidia"), "580.65.06");
  EXPECT_EQ(text_at(facts, "fabric_manager/state"), "active");
  EXPECT_EQ(text_at(facts, "iommu/mode"), "identity");
  EXPECT_NE(find(facts, "time/synchronised"), nullptr);
}

/// "chronyd", "none"; empty: it is not reported.
std::string keeper_of(const NodeTree& node) {
  return text_at(document(node.tree()), "time/keeper").value_or("");
}

TEST(Facts, NameWhatSetsTheClockAndThatNothingDoesOnlyWhereAllProcessesAreSeen) {
  const NodeTree node;
  EXPECT_EQ(keeper_of(node), "") << "nothing can be seen of it";
  node.write("/proc/1/comm", "init");
  node.write("/proc/212/comm", "kthreadd");
  EXPECT_EQ(keeper_of(node), "") << "without systemd, as in a container";
  node.write("/proc/1/comm", "systemd");
  EXPECT_EQ(keeper_of(node), "");
  node.write("/sys/fs/cgroup/system.slice/sshd.service/cgroup.procs", "700");
  EXPECT_EQ(keeper_of(node), "none");
  node.write("/proc/4211/comm", "phc2sys");
  EXPECT_EQ(keeper_of(node), "phc2sys") << "under a unit of the site's own";
  node.write("/proc/4211/comm", "ntp-daemon");
  EXPECT_EQ(keeper_of(node), "ntp-daemon") << "of ntpd-rs";
  node.write("/sys/fs/cgroup/system.slice/systemd-timesyncd.service/cgroup.procs", "612");
  EXPECT_EQ(keeper_of(node), "systemd-timesyncd");
}

/// A structure of type 17 as firmware writes it (SMBIOS 3.7, 7.18): 92 bytes, and its strings.
std::string memory_device(unsigned size, unsigned more, unsigned speed,
                          const std::vector<std::string>& strings) {
  std::string bytes(0x5C, '\0');
  const auto put = [&](std::size_t at, unsigned value, int many) {
    for (int i = 0; i < many; ++i)
      bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i) & 0xFF);
  };
  put(0x00, 17, 1);
  put(0x01, 0x5C, 1);
  put(0x0C, size, 2);
  put(0x10, 1, 1);
  put(0x11, 2, 1);
  put(0x12, 0x22, 1);
  put(0x17, 3, 1);
  put(0x18, 4, 1);
  put(0x1A, 5, 1);
  put(0x1C, more, 4);
  put(0x20, speed, 2);
  for (const auto& text : strings) bytes += text + '\0';
  return bytes + '\0';
}

TEST(Facts, TellEachDimmFromTheFirmwaresTable) {
  const NodeTree node;
  const std::string bios{
      "\x00\x05\x00\x00\x01"
      "AMI\0\0",
      10};
  const auto whole =
      memory_device(0x7FFF, 65536, 4400, {"DIMM A1", "NODE 0", "Samsung", "3A5F", "M321R8GA0"});
  const auto small = memory_device(16384, 0, 0xFFFF, {"B1", "NODE 1", "Unknown", " ", " "});
  const auto empty = memory_device(0, 0, 0, {"B2", "NODE 1", "NO DIMM", "NO DIMM", "NO DIMM"});
  const std::string end{"\x7F\x04\xFF\xFF\0\0", 6};
  node.write_bytes("/sys/firmware/dmi/tables/DMI", bios + whole + small + empty + end + whole);

  const auto facts = document(node.tree());

  const auto& rows = find(facts, "dimms")->as_array();
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(text_at(rows[0], "slot"), "DIMM A1");
  EXPECT_EQ(text_at(rows[0], "type"), "DDR5");
  EXPECT_EQ(text_at(rows[0], "manufacturer"), "Samsung");
  EXPECT_EQ(text_at(rows[0], "serial"), "3A5F");
  EXPECT_EQ(text_at(rows[0], "part_number"), "M321R8GA0");
  EXPECT_EQ(number_at(rows[0], "bytes"), 64.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(number_at(rows[0], "speed"), 4400);
  EXPECT_EQ(number_at(rows[1], "bytes"), 16.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(find(rows[1], "manufacturer"), nullptr);
  EXPECT_EQ(number_at(rows[2], "bytes"), 0);
  EXPECT_EQ(find(rows[2], "serial"), nullptr);
}

TEST(Facts, ReadTheFirmwareTableOnlyToItsEnd) {
  const auto whole = memory_device(16384, 0, 4400, {"A1", "NODE 0", "Samsung", "3A5F", "M321"});

  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_TRUE(parse_dimms(whole.substr(0, length)).empty()) << length;
  EXPECT_EQ(parse_dimms(whole).size(), 1);
  // Of an old firmware, which tells no more than the width.
  EXPECT_EQ(parse_dimms(std::string{"\x11\x0A\0\0\0\0\0\0\0\0\0\0", 12}).at(0).bytes, std::nullopt);
}

TEST(Facts, NameTheWeakestHopOfAGpuAlsoWhereItIsNotItsOwn) {
  const NodeTree node;
  put_gpu(node, "16.0 x8");

  const auto facts = document(node.tree());

  const auto& gpu = row(facts, "pci", "address", "0000:1b:00.0");
  EXPECT_EQ(text_at(gpu, "kind"), "gpu");
  EXPECT_EQ(find(gpu, "hops")->as_array().size(), 2);
  EXPECT_EQ(text_at(gpu, "weakest/below"), "0000:16:00.0");
  EXPECT_EQ(text_at(gpu, "weakest/above"), "0000:15:01.0");
  EXPECT_NEAR(number_at(gpu, "weakest/gbits").value_or(0), 126.03, 0.01);
  EXPECT_NEAR(number_at(gpu, "weakest/max_gbits").value_or(0), 504.12, 0.01);
  EXPECT_TRUE(find(gpu, "weakest/sunk")->as_bool());
}

TEST(Facts, CallNoLinkSunkThatCarriesAllThatBothEndsCould) {
  const NodeTree node;
  // A drive of four lanes in a slot of sixteen.
  node.pci("pci0000:c0/0000:c0:03.0", "0x060400", "0x8086", "16.0 x4", "32.0 x16");
  node.pci("pci0000:c0/0000:c0:03.0/0000:c1:00.0", "0x010802", "0x144d", "16.0 x4", "16.0 x4");

  const auto way = way_to_root(node.tree(), "0000:c1:00.0");
  const auto hops = hops_of(way);

  ASSERT_EQ(hops.size(), 1);
  EXPECT_EQ(hops[0].max_width, 4);
  EXPECT_FALSE(hops[0].sunk());
  EXPECT_EQ(weakest(hops), hops.data());
}

/// A configuration space with two extended capabilities: AER at 0x100, ACS at 0x148.
std::string configuration(unsigned char control) {
  std::string bytes(4096, '\0');
  const auto put = [&](std::size_t at, std::initializer_list<unsigned> values) {
    for (const auto value : values) bytes[at++] = static_cast<char>(value);
  };
  put(0x100, {0x01, 0x00, 0x82, 0x14});  // id 0x0001, version 2, next 0x148
  put(0x148, {0x0D, 0x00, 0x01, 0x00});  // id 0x000D, version 1, the last
  put(0x14E, {control, 0x00});
  return bytes;
}

TEST(Facts, ReadFromConfigurationSpaceWhetherABridgeSendsPeersUp) {
  EXPECT_EQ(acs_of(configuration(0x1D)), Acs::on);
  EXPECT_EQ(acs_of(configuration(0x01)), Acs::off);
  EXPECT_EQ(acs_of(configuration(0x1D).substr(0, 64)), Acs::unknown);
  EXPECT_EQ(acs_of(std::string(4096, '\0')), Acs::none);
  EXPECT_EQ(acs_of(std::string(4096, '\xff')), Acs::unknown);
  std::string loop(4096, '\0');
  loop.replace(0x100, 4, std::string{"\x01\x00\x02\x10", 4});  // its next is itself
  EXPECT_EQ(acs_of(loop), Acs::none);
}

TEST(Facts, TellTheAcsOfEachBridgeOnTheWayAndTheErrorsOfTheDevice) {
  const NodeTree node;
  put_gpu(node, "32.0 x16");
  const std::string root = "/sys/devices/pci0000:15/0000:15:01.0";
  node.write_bytes(root + "/config", configuration(0x1D));
  node.write_bytes(root + "/0000:16:00.0/config", configuration(0x00));
  node.write(root + "/0000:16:00.0/0000:17:01.0/0000:1b:00.0/aer_dev_correctable",
             "RxErr 3\nBadTLP 0\nTOTAL_ERR_COR 3");

  const auto facts = document(node.tree());

  const auto& gpu = row(facts, "pci", "address", "0000:1b:00.0");
  std::vector<std::string> acs;
  for (const auto& bridge : find(gpu, "bridges")->as_array())
    acs.push_back(*text_at(bridge, "address") + " " + *text_at(bridge, "acs"));
  EXPECT_THAT(acs, ElementsAre("0000:17:01.0 unknown", "0000:16:00.0 off", "0000:15:01.0 on"));
  EXPECT_EQ(number_at(gpu, "aer/correctable"), 3);
}

TEST(Facts, AskNvmlThatIsFoundAtRunTime) {
  const NodeTree node;
  const Planted board;
  board.plant(3, "link:7", 0);
  board.plant(3, "field:144", 1);
  board.plant(3, "limit", 650000);

  const auto facts = document(node.tree(), FAKE_NVML_WHOLE);

  ASSERT_EQ(find(facts, "gpus")->as_array().size(), 8);
  EXPECT_EQ(text_at(facts, "nvml/driver"), "580.65.06");
  const auto& gpu = find(facts, "gpus")->as_array()[3];
  EXPECT_EQ(text_at(gpu, "pci"), "0000:61:00.0");
  EXPECT_EQ(text_at(gpu, "serial"), "1653723052733");
  EXPECT_EQ(text_at(gpu, "vbios"), "96.00.A5.00.01");
  EXPECT_EQ(number_at(gpu, "memory"), 85899345920.0);
  EXPECT_EQ(number_at(gpu, "power/limit"), 650);
  EXPECT_EQ(number_at(gpu, "power/default"), 700);
  EXPECT_EQ(number_at(gpu, "counters/remap_pending"), 1);
  EXPECT_EQ(number_at(gpu, "pcie_width_max"), 16);
  EXPECT_TRUE(find(gpu, "ecc/now")->as_bool());
  EXPECT_FALSE(find(gpu, "mig/now")->as_bool());
  ASSERT_EQ(find(gpu, "nvlinks")->as_array().size(), 18);
  EXPECT_FALSE(find(find(gpu, "nvlinks")->as_array()[7], "active")->as_bool());
  EXPECT_EQ(text_at(gpu, "fabric/state"), "completed");
}

/// The mask of GPU 3 as NVML has it, and what the node's program says of it.
json::value fabric_with(std::initializer_list<std::pair<const char*, double>> planted) {
  const NodeTree node;
  const Planted board;
  for (const auto& [name, number] : planted) board.plant(3, name, number);
  const auto facts = document(node.tree(), FAKE_NVML_WHOLE);
  return *find(find(facts, "gpus")->as_array()[3], "fabric");
}

TEST(FabricFacts, ReadTheHealthOfAGpuInAPartitionOfItsDomain) {
  for (const double healthy : {0xaa, 0x1aa}) {
    const auto fabric = fabric_with({{"clique", 32766}, {"cluster", 0x0a}, {"health", healthy}});

    EXPECT_EQ(text_at(fabric, "cluster"), "0a0a0a0a-0a0a-0a0a-0a0a-0a0a0a0a0a0a");
    EXPECT_EQ(number_at(fabric, "clique"), 32766);
    EXPECT_EQ(flag_at(fabric, "health/degraded_bandwidth"), false);
    EXPECT_EQ(flag_at(fabric, "health/access_timeout_recovery"), false);
    EXPECT_TRUE(find(fabric, "faults")->as_array().empty()) << healthy;
  }
}

TEST(FabricFacts, NameWhatTheHealthMaskSays) {
  const std::pair<double, const char*> masks[] = {
      {0x1a9, "degraded bandwidth"},
      {0x1a6, "route recovery in progress"},
      {0x19a, "route unhealthy"},
      {0x16a, "access timeout recovery"},
      {0x2aa, "incorrect configuration: wrong system GUID"},
      {0x4aa, "incorrect configuration: in no partition"},
      {0x5aa, "incorrect configuration: too few NVLinks"},
      {0xfaa, "incorrect configuration: of a kind that is not known"},
  };
  for (const auto& [mask, words] : masks) {
    const auto fabric = fabric_with({{"clique", 1}, {"cluster", 1}, {"health", mask}});
    ASSERT_EQ(find(fabric, "faults")->as_array().size(), 1) << words;
    EXPECT_EQ(find(fabric, "faults")->as_array()[0].as_string(), words);
  }
}

TEST(FabricFacts, TakeAMaskOfZeroAndAnOlderDriverForNoReportOfHealth) {
  for (const double version : {1, 2, 3}) {
    const auto fabric = fabric_with({{"fabric_version", version}, {"clique", 1}, {"cluster", 1}});
    EXPECT_EQ(find(fabric, "health/degraded_bandwidth"), nullptr) << version;
    EXPECT_EQ(find(fabric, "health") != nullptr, version >= 2);
    EXPECT_EQ(number_at(fabric, "clique"), 1);
    EXPECT_TRUE(find(fabric, "faults")->as_array().empty());
  }
}

TEST(FabricFacts, TakeACompletedGpuOfARackWithoutAPartitionForOneThatIsNotJoined) {
  const auto faults = [](std::initializer_list<std::pair<const char*, double>> planted) {
    const json::value fabric = fabric_with(planted);
    std::vector<std::string> all;
    for (const auto& one : find(fabric, "faults")->as_array()) all.emplace_back(one.as_string());
    return all;
  };
  constexpr auto kNoClique = "it is in no partition of its NVLink domain (clique 0)";
  constexpr auto kNoCluster = "it is in no NVLink domain (cluster UUID of zeros)";

  EXPECT_THAT(faults({{"of_rack", 1}, {"cluster", 1}, {"health", 0x1aa}}), ElementsAre(kNoClique));
  EXPECT_THAT(faults({{"of_rack", 1}, {"clique", 7}}), ElementsAre(kNoCluster));
  EXPECT_THAT(faults({{"of_rack", 1}}), ElementsAre(kNoClique, kNoCluster));
  // A machine that is a fabric by itself need have neither.
  EXPECT_THAT(faults({}), ::testing::IsEmpty());
}

TEST(Facts, NameEachFunctionThatAnOldDriverLacks) {
  const NodeTree node;

  const auto facts = document(node.tree(), FAKE_NVML_LACKS);

  const auto& gpu = find(facts, "gpus")->as_array()[0];
  EXPECT_EQ(text_at(gpu, "name"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(find(gpu, "vbios"), nullptr);
  EXPECT_EQ(find(gpu, "ecc"), nullptr);
  EXPECT_EQ(why_unknown(facts, "vbios of gpu0"), "not in this driver's NVML");
  EXPECT_EQ(why_unknown(facts, "remap_pending of gpu7"), "not in this driver's NVML");
  EXPECT_EQ(find(gpu, "counters/remap_pending"), nullptr);
}

TEST(Facts, InventNothingWhereNvmlRefusesEverything) {
  const NodeTree node;

  const auto facts = document(node.tree(), FAKE_NVML_REFUSES);

  const auto& gpu = find(facts, "gpus")->as_array()[0];
  for (const auto* key : {"name", "uuid", "memory", "ecc", "pcie_gen", "fabric"})
    EXPECT_EQ(find(gpu, key), nullptr) << key;
  EXPECT_TRUE(find(gpu, "nvlinks")->as_array().empty());
  EXPECT_EQ(why_unknown(facts, "memory of gpu0"), "an internal error of the driver");
}

TEST(Facts, ReadTheHcasOfARealH100Node) {
  CUPEL_NEEDS_REAL_PART(testing::sample("sys-class-infiniband-h100.tar.zst"),
                        "no sample sys-class-infiniband-h100.tar.zst in " << testing::samples());
  const NodeTree node;
  const auto to = node.root() + "/sys/class";
  std::filesystem::create_directories(to);
  const auto archive = (testing::samples() / "sys-class-infiniband-h100.tar.zst").string();
  ASSERT_EQ(std::system(("tar --zstd -xf '" + archive + "' -C '" + to + "' && mv '" + to +
                         "/sys-class-infiniband-h100.0' '" + to + "/infiniband'")
                            .c_str()),
            0);

  const auto facts = document(node.tree());

  EXPECT_EQ(find(facts, "infiniband")->as_array().size(), 9);
  const auto& hca = row(facts, "infiniband", "name", "mlx5_7");
  EXPECT_EQ(text_at(hca, "type"), "MT4129");
  EXPECT_EQ(text_at(hca, "firmware"), "28.41.1000");
  EXPECT_EQ(text_at(hca, "board_id"), "MT_0000000838");
  const auto& port = find(hca, "ports")->as_array()[0];
  EXPECT_EQ(text_at(port, "state"), "ACTIVE");
  EXPECT_EQ(text_at(port, "phys_state"), "LinkUp");
  EXPECT_EQ(number_at(port, "gbits"), 400);
  EXPECT_EQ(text_at(port, "link_layer"), "InfiniBand");
  EXPECT_TRUE(find(row(facts, "infiniband", "name", "mlx5_bond_0"), "bond")->as_bool());
}

TEST(Facts, TellDrivesFromSysfsWhereTheirDeviceMayNotBeAsked) {
  const NodeTree node;
  node.pci("pci0000:c0/0000:c0:03.0/0000:c1:00.0", "0x010802", "0x144d", "16.0 x4", "16.0 x4");
  node.link("/sys/class/nvme/nvme0/device", "/sys/devices/pci0000:c0/0000:c0:03.0/0000:c1:00.0");
  node.write("/sys/class/nvme/nvme0/model", "SAMSUNG MZWLR3T8HBLS-00007");
  node.write("/sys/class/nvme/nvme0/serial", "S6EWNE0R300001");
  node.write("/sys/class/nvme/nvme0/nvme0n1/size", "7501476528");
  node.write("/dev/nvme0", "no device at all");

  const auto facts = document(node.tree());

  const auto& drive = row(facts, "nvme", "name", "nvme0");
  EXPECT_EQ(text_at(drive, "serial"), "S6EWNE0R300001");
  EXPECT_EQ(number_at(drive, "bytes"), 7501476528.0 * 512);
  EXPECT_EQ(text_at(drive, "pci"), "0000:c1:00.0");
  EXPECT_EQ(find(drive, "smart"), nullptr);
  EXPECT_EQ(why_unknown(facts, "SMART of nvme0"), "no such device");
}

TEST(Facts, ReadAnNvmeDrivesOwnPages) {
  std::string health(512, '\0');
  health[0] = 0x04;                    // degraded
  health[1] = 0x3A, health[2] = 0x01;  // 314 K
  health[3] = 98, health[4] = 10, health[5] = 3;
  health[48] = 0x10;  // units written
  health[128] = 0x39, health[129] = 0x30;
  health[160] = 2;
  std::string identity(4096, '\0');
  identity.replace(4, 20, "S6EWNE0R300001      ");
  identity.replace(64, 8, "MPK9FB5Q");
  identity[283] = 1;  // 2^24 bytes

  const auto reported = parse_health(health);
  const auto who = parse_identity(identity);

  ASSERT_TRUE(reported && who);
  EXPECT_EQ(reported->warnings, 4);
  EXPECT_EQ(reported->celsius, 41);
  EXPECT_EQ(reported->spare, 98);
  EXPECT_EQ(reported->used, 3);
  EXPECT_EQ(reported->written_bytes, 16 * 512'000.0);
  EXPECT_EQ(reported->power_on_hours, 12345);
  EXPECT_EQ(reported->media_errors, 2);
  EXPECT_EQ(who->serial, "S6EWNE0R300001");
  EXPECT_EQ(who->firmware, "MPK9FB5Q");
  EXPECT_EQ(who->capacity, 16777216);
  EXPECT_FALSE(parse_health(std::string(512, '\0')));
  EXPECT_FALSE(parse_health(health.substr(1)));
  EXPECT_FALSE(parse_identity(""));
}

TEST(Tree, KnowsAPlaceInWhateverSpelling) {
  EXPECT_EQ(pci_address("00000000:1B:00.0"), "0000:1b:00.0");
  EXPECT_EQ(pci_address("0000:1b:00"), "0000:1b:00.0");
  EXPECT_EQ(pci_address("1b:00.1"), "0000:1b:00.1");
  for (const auto* text :
       {"", ":", "1b", "0000:1b:00.8", "0000:1b:20.0", "xx:00.0", "0000:1bb:00.0"})
    EXPECT_FALSE(pci_address(text)) << text;
}

TEST(Tree, NeverLeavesItsRootAndReadsNoMoreThanItMay) {
  const NodeTree node;
  node.write("/proc/large", std::string(1u << 20, 'x'));
  std::filesystem::create_symlink("/etc", node.root() + "/sys");

  EXPECT_EQ(node.tree().bytes("/proc/large")->size(), Tree::kMostText);
  EXPECT_FALSE(node.tree().resolved("/sys"));
  EXPECT_TRUE(node.tree().names("/proc/large").empty());
}

}  // namespace
}  // namespace cupel::agent
