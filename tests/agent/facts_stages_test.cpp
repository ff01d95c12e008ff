// The stages node-facts and gpu-facts on captured machines. What the shell scripts of earlier
// versions printed of the same machines is read to the same findings: nothing is lost.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <map>
#include <set>

#include "base/file.h"
#include "burnin/agent/node/stages/counters.h"
#include "burnin/agent/node/stages/stage.h"
#include "tests/agent/node_tree.h"
#include "tests/burnin/node_text.h"
#include "tests/burnin/sample_files.h"
#include "tests/burnin/stages.h"
#include "tests/support/real_part.h"

namespace cupel::agent {
namespace {

namespace fs = std::filesystem;
using burnin::Findings;
using burnin::kNodeText;
using burnin::kSmart;
using inventory::PartKind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Answers by the whole command line.
class AnsweringTools final : public Programs {
 public:
  std::string folder_of(const std::string& name) const override {
    const bool known = std::ranges::any_of(
        answers, [&](const auto& each) { return (each.first + " ").starts_with(name + " "); });
    return known ? "/usr/bin" : "";
  }
  /// These stages run one tool after the other.
  int start(const Command&) override { return 0; }
  std::map<std::string, Ran> answers{};
  std::vector<std::string> asked{};

 private:
  bool begin(const Command& command, Wait<Ran>& wait) override {
    std::string line;
    for (const auto& word : command.argv) line += (line.empty() ? "" : " ") + word;
    asked.push_back(line);
    const auto found = answers.find(line);
    wait.answer(found == answers.end() ? Ran{.status = 127} : found->second);
    return true;
  }
  bool begin_first_end(std::chrono::milliseconds, Wait<std::optional<Ended>>& wait) override {
    wait.answer(std::nullopt);
    return true;
  }
  bool begin_stop(int, Wait<Ran>&) override { return true; }
};

class StoppedClock final : public StageClock {
 public:
  std::chrono::milliseconds now() const override { return {}; }

 private:
  bool begin(std::chrono::milliseconds, Wait<Passed>& wait) override {
    wait.answer({});
    return true;
  }
};

class LinesInText final : public StageLines {
 public:
  void write(const JsonLine& line) override { text += line.text(); }
  std::string text{};
};

struct FactsBench {
  NodeTree files{};
  AnsweringTools tools{};
  LinesInText lines{};

  void answer(const std::string& line, std::string out, std::string err = {}, int status = 0) {
    tools.answers[line] = {.status = status, .out = std::move(out), .err = std::move(err)};
  }
  Result<Findings> run(const std::string& stage, const Tree& tree) {
    StoppedClock clock;
    Node node{tree, tools, clock, lines};
    auto work = run_stage(node, stage, "{}");
    work.start();
    return burnin::parsed(stage, {lines.text, "", work.result()});
  }
  Findings found(const std::string& stage) {
    auto findings = run(stage, files.tree());
    EXPECT_TRUE(findings) << findings.error().what;
    return findings ? *std::move(findings) : Findings{};
  }
};

/// The files that `grep -H` printed, where the kernel has them. A device is a link into
/// /sys/devices, as in sysfs.
void put_capture(std::string_view capture, const NodeTree& node) {
  std::map<std::string, std::string> files;
  for (const auto line : lines(capture)) {
    const auto colon = line.find(':');
    if (!line.starts_with('/') || colon == line.npos) continue;
    auto& content = files[std::string{line.substr(0, colon)}];
    content += (content.empty() ? "" : "\n") + std::string{line.substr(colon + 1)};
  }
  for (const auto& [path, content] : files) {
    const auto at = content.find("PCI_SLOT_NAME=");
    if (at == content.npos) continue;
    const auto address = words(std::string_view{content}.substr(at + 14)).front();
    const auto place = "/sys/devices/pci0000:00/" + std::string{address};
    fs::create_directories(node.root() + place);
    node.link(path.substr(0, path.rfind('/')), place);
  }
  for (const auto& [path, content] : files) node.write(path, content);
}

Findings by_script(std::string_view stage, const std::string& text) {
  const auto found = burnin::parsed(stage, text);
  EXPECT_TRUE(found) << found.error().what;
  return found ? *found : Findings{};
}

/// All but why something is unknown.
std::set<std::string> all_of(const Findings& findings) {
  std::set<std::string> all;
  for (const auto& each : findings.measurements)
    all.insert(fmt::format("{} of '{}': {:g} {}", each.name, each.part, each.value, each.unit));
  for (const auto& part : findings.parts)
    all.insert(fmt::format(
        "{} {}: {}, {}, {}, {}, {}, {}, {} bytes, {}, {}", inventory::to_string(part.kind),
        part.name, part.model, part.manufacturer, part.serial, part.part_number, part.firmware,
        part.slot, part.size_bytes.value_or(-1), part.count.value_or(-1), part.health));
  for (const auto& [name, value] : findings.facts) all.insert("fact " + name + ": " + value);
  return all;
}

std::string why_unknown(const Findings& findings, std::string_view fact) {
  for (const auto& each : findings.unknown)
    if (each.fact == fact) return each.why;
  return {};
}

/// dmidecode's part of the capture.
std::string captured_dimms() {
  const auto begin = kNodeText.find("# dmidecode");
  return std::string{kNodeText.substr(begin, kNodeText.find("cupel-all-told") - begin)};
}

TEST(FactsStages, NodeFactsReadsADgxAsTheScriptOfAnEarlierVersionDid) {
  FactsBench bench;
  const auto capture = std::string{kNodeText} +
                       "/proc/sys/kernel/hostname:dgx1\n"
                       "/sys/devices/system/cpu/cpu0/topology/physical_package_id:0\n"
                       "/sys/devices/system/cpu/cpu1/topology/physical_package_id:1\n"
                       "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count:3\n"
                       "/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count:0\n"
                       "cupel-epoch: 1763856000\n";
  put_capture(capture, bench.files);
  const auto smart = lines(kSmart);
  bench.answer("smartctl -j -A /dev/nvme0", std::string{smart[1]});
  bench.answer("dmidecode -t 17", captured_dimms());
  bench.answer("date +%s", "1763856000\n");

  const auto found = bench.found("node-facts");

  EXPECT_EQ(all_of(found), all_of(by_script("node-facts", std::string{kSmart} + capture)));
  EXPECT_EQ(burnin::value_of(found, "cpu.throttled", "cpu0"), 3);
  EXPECT_EQ(burnin::value_of(found, "nvme.health_read", "nvme0"), 1);
  EXPECT_EQ(burnin::value_of(found, "dimm.speed", "dimm A1"), 4800);
  EXPECT_EQ(found.facts.at("node.epoch"), "1763856000");
  EXPECT_THAT(burnin::names_of(found, PartKind::dimm), ElementsAre("dimm A1", "dimm B1"));
}

TEST(FactsStages, NodeFactsReadsTheLinksOfARealH100Node) {
  const auto archive = testing::samples() / "sys-class-infiniband-h100.tar.zst";
  CUPEL_NEEDS_REAL_PART(fs::exists(archive), "no " << archive);
  FactsBench bench;
  const auto folder = bench.files.root() + "/sys/class/infiniband";
  fs::create_directories(folder);
  const auto command =
      "tar --zstd --strip-components=1 -xf '" + archive.string() + "' -C '" + folder + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::string capture;
  for (const auto& entry : fs::recursive_directory_iterator{folder}) {
    const auto content =
        entry.is_regular_file() ? read_file(entry.path(), 1u << 20) : Result<std::string>{""};
    if (!content || content->empty()) continue;
    capture += entry.path().string().substr(bench.files.root().size()) + ":" + *content + "\n";
  }

  const auto found = bench.found("node-facts");

  const auto hcas = burnin::names_of(found, PartKind::hca);
  EXPECT_EQ(hcas.size(), 8u);
  for (const auto& hca : hcas) EXPECT_EQ(burnin::value_of(found, "ib.port.rate", hca), 400) << hca;
  EXPECT_EQ(all_of(found), all_of(by_script("node-facts", capture + "cupel-all-told\n")));
}

TEST(FactsStages, NodeFactsReadsThisVeryMachine) {
  FactsBench bench;

  const auto found = bench.run("node-facts", Tree{"/"});

  ASSERT_TRUE(found) << found.error().what;
  const auto pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
  const auto gib = pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 30);
  EXPECT_NEAR(burnin::value_of(*found, "memory.total").value_or(0), gib, 0.01 * gib);
  EXPECT_EQ(burnin::value_of(*found, "cpu.threads"), sysconf(_SC_NPROCESSORS_ONLN));
}

TEST(FactsStages, NodeFactsCountsThreadsOfAKernelThatReportsNoSockets) {
  FactsBench bench;
  bench.files.write("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 2000.00\n\nprocessor\t: 1\n");

  const auto found = bench.found("node-facts");

  EXPECT_EQ(burnin::value_of(found, "cpu.threads"), 2);
  EXPECT_EQ(burnin::value_of(found, "cpu.count"), std::nullopt);
  EXPECT_NE(why_unknown(found, "CPUs"), "");
}

TEST(FactsStages, NodeFactsSaysWhichToolsAreMissing) {
  FactsBench bench;
  put_capture(kNodeText, bench.files);

  const auto found = bench.found("node-facts");

  EXPECT_THAT(why_unknown(found, "DIMMs"), HasSubstr("dmidecode is not installed"));
  EXPECT_THAT(why_unknown(found, "health of the drives"), HasSubstr("smartctl is not installed"));
  EXPECT_EQ(burnin::value_of(found, "nvme.health_read", "nvme0"), 0);
  EXPECT_THAT(bench.tools.asked, ElementsAre("date +%s"));
}

TEST(FactsStages, ReportsAnUnreadableTableAsNotReadable) {
  FactsBench bench;
  put_capture(kNodeText, bench.files);
  // Of dmidecode 3.4 on a virtual machine that has no /dev/mem.
  bench.answer("dmidecode -t 17", "# dmidecode 3.4\nScanning /dev/mem for entry point.\n",
               "/dev/mem: No such file or directory\n", 1);

  const auto found = bench.found("node-facts");

  EXPECT_EQ(why_unknown(found, "DIMMs"), "not readable: /dev/mem: No such file or directory");
}

/// The shortest structure of type 17 that has a size and a slot (SMBIOS 3.7, 7.18).
std::string small_dimm_table() {
  std::string device(0x15, '\0');
  device[0x00] = 17;
  device[0x01] = 0x15;
  device[0x0D] = 0x40;  // 16384 MiB
  device[0x10] = 1;
  return device + "DIMM C3" + std::string(2, '\0');
}

TEST(FactsStages, NodeFactsNeedsNoToolForTheFirmwaresTable) {
  FactsBench bench;
  bench.files.write_bytes("/sys/firmware/dmi/tables/DMI", small_dimm_table());
  bench.answer("dmidecode -t 17", captured_dimms());

  const auto found = bench.found("node-facts");

  EXPECT_THAT(burnin::names_of(found, PartKind::dimm), ElementsAre("dimm C3"));
  EXPECT_THAT(bench.tools.asked, Not(Contains("dmidecode -t 17")));
  EXPECT_EQ(why_unknown(found, "DIMMs"), "");
}

TEST(FactsStages, NodeFactsCarriesOfAPortsThousandCountersThePausesAlone) {
  FactsBench bench;
  bench.files.hca("mlx5_3", "pci0000:18/0000:18:00.0");
  bench.files.write("/sys/devices/pci0000:18/0000:18:00.0/net/eth4/mtu", "9000");
  bench.answer("ethtool -S eth4",
               "NIC statistics:\n     rx_bytes: 12\n     rx_prio0_pause: 4\n"
               "     rx_prio3_pause: 40\n     tx_prio3_pause: 1000\n");

  const auto found = bench.found("node-facts");

  EXPECT_EQ(burnin::value_of(found, "rdma.pauses", "mlx5_3"), 44);
  EXPECT_THAT(bench.lines.text, Not(HasSubstr("rx_bytes")));
}

constexpr const char* kQuery = "nvidia-smi -q -x";

/// What the shell script of an earlier version printed of the same answers.
std::string printed_of(const std::string& xml, const std::string& links,
                       const std::string& kernel) {
  return xml + "\n" + links + "\n" + links +
         "\ncupel-fabricmanager: active\ncupel-fabricmanager-version: Fabric Manager version is : "
         "535.54.03\ncupel-kernel-log: told\n" +
         kernel;
}

TEST(FactsStages, GpuFactsReadsEveryCaptureAsTheScriptOfAnEarlierVersionDid) {
  const auto captures = burnin::sample_files("nvidia-smi-xml");
  CUPEL_NEEDS_REAL_PART(!captures.empty(), "no samples in " << testing::samples());
  CUPEL_NEEDS_SAMPLE(links, "nvidia-smi-nvlink/a100_nvlink_s_good.txt");
  CUPEL_NEEDS_SAMPLE(log, "dmesg/xid79_sxid20034_h100.log");
  for (const auto& capture : captures) {
    const auto xml = *testing::sample(capture);
    FactsBench bench;
    bench.answer(kQuery, xml);
    bench.answer("nvidia-smi nvlink -s", links);
    bench.answer("nvidia-smi nvlink -e", links);
    bench.answer("systemctl is-active nvidia-fabricmanager", "active\n");
    bench.answer("nv-fabricmanager --version", "Fabric Manager version is : 535.54.03\n");
    bench.answer("dmesg", log);

    const auto found = bench.found("gpu-facts");

    EXPECT_EQ(found, by_script("gpu-facts", printed_of(xml, links, log))) << capture;
    EXPECT_EQ(burnin::value_of(found, "gpu.xid", "gpu at 0000:91:00.0"), 79) << capture;
    EXPECT_EQ(burnin::value_of(found, "fabricmanager.active", "fabricmanager"), 1) << capture;
  }
}

TEST(FactsStages, GpuFactsAsksEachGpuByItselfWhereOneFellOffItsBus) {
  FactsBench bench;
  for (const auto* gpu : {"0000:1b:00.0", "0000:43:00.0"})
    bench.files.write(fmt::format("/proc/driver/nvidia/gpus/{}/information", gpu), "Model: H100");
  bench.answer(kQuery, "",
               "Unable to determine the device handle for GPU0000:43:00.0: Unknown Error\n", 255);

  const auto found = bench.run("gpu-facts", bench.files.tree());

  EXPECT_FALSE(found) << "no GPU was listed";
  EXPECT_THAT(bench.tools.asked, Contains("nvidia-smi -q -x -i 0000:1b:00.0"));
  EXPECT_THAT(bench.tools.asked, Contains("nvidia-smi -q -x -i 0000:43:00.0"));
}

TEST(FactsStages, GpuFactsCarriesTheLatestXidsOfTheKernelsLogAlone) {
  FactsBench bench;
  std::string log = "[1.0] e1000: eth0 is up\n[2.0] NVRM: Xid (PCI:0000:1b:00): 13, the first\n";
  for (int i = 0; i < 400; ++i) log += "[3.0] NVRM: Xid (PCI:0000:1b:00): 31, pid=1\n";
  bench.answer(kQuery, "No devices were found\n", "", 6);
  bench.answer("dmesg", log);

  bench.found("gpu-facts");

  EXPECT_THAT(bench.lines.text, HasSubstr("31, pid=1"));
  EXPECT_THAT(bench.lines.text, Not(HasSubstr("the first")));
  EXPECT_THAT(bench.lines.text, Not(HasSubstr("e1000")));
}

TEST(FactsStages, GpuFactsReportsThatTheKernelsLogIsNotReadable) {
  CUPEL_NEEDS_SAMPLE(xml, "nvidia-smi-xml/a10g.xml");
  FactsBench bench;
  bench.answer(kQuery, xml);
  bench.answer("dmesg", "", "dmesg: read kernel buffer failed: Operation not permitted\n", 1);

  const auto found = bench.found("gpu-facts");

  EXPECT_THAT(why_unknown(found, "Xids"), HasSubstr("not readable"));
  EXPECT_EQ(burnin::value_of(found, "gpu.xid", "gpu0"), std::nullopt);
}

TEST(FactsStages, GpuFactsReportsThatDriverAndLibraryDiffer) {
  FactsBench bench;
  bench.answer(kQuery, "Failed to initialize NVML: Driver/library version mismatch\n", "", 18);

  const auto found = bench.found("gpu-facts");

  EXPECT_EQ(burnin::value_of(found, "driver.mismatch", "driver"), 1);
}

TEST(FactsStages, GpuFactsSaysThatNvidiaSmiIsNotInstalled) {
  FactsBench bench;

  const auto found = bench.run("gpu-facts", bench.files.tree());

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kNoMeasurement);
  EXPECT_EQ(found.error().what, "nvidia-smi is not installed on the node");
  EXPECT_THAT(bench.tools.asked, IsEmpty());
}

/// 768 CPUs have 8 KiB in each line, and the line of machine checks is one of the last.
TEST(FactsStages, CountersHaveTheMachineChecksOfANodeWithManyCpusAndInterrupts) {
  FactsBench bench;
  bench.files.write("/proc/interrupts",
                    std::string(17u << 20, '0') + "\nMCE:  4  0  Machine check exceptions");
  StoppedClock clock;
  const auto tree = bench.files.tree();
  Node node{tree, bench.tools, clock, bench.lines};

  print_counters(node, "before");

  EXPECT_THAT(bench.lines.text, HasSubstr("/proc/interrupts:MCE:  4  0"));
}

/// The page's list of what `facts` does not report is complete: each measure of the two stages is
/// one of `facts`, or stands there with its reason.
TEST(FactsStages, ThePageNamesEachMeasureThatFactsDoesNotReport) {
  const auto page = read_file(SOURCE_DIR "/docs/know/machine-facts.md", 1u << 20);
  ASSERT_TRUE(page);
  const auto known = burnin::stage("facts")->measures;
  for (const auto* stage : {"node-facts", "gpu-facts"})
    for (const auto measure : burnin::stage(stage)->measures) {
      const bool both = std::ranges::find(known, measure) != known.end();
      const auto row = fmt::format("| `{}` | `{}` | {} |", measure, stage, both ? "yes" : "no");
      EXPECT_TRUE(page->contains(row)) << row;
    }
}

}  // namespace
}  // namespace cupel::agent
