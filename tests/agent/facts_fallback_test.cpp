// `cupel-node facts` against `node-facts`, the shell stage for nodes where the program cannot run:
// both read one capture, and nothing that the shell reports may be missing
// (docs/know/machine-facts.md).
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/file.h"
#include "burnin/agent/node/facts/sections.h"
#include "tests/agent/node_tree.h"
#include "tests/burnin/node_text.h"
#include "tests/burnin/stages.h"
#include "tests/support/real_part.h"
#include "tests/support/samples.h"

namespace cupel::agent {
namespace {

namespace fs = std::filesystem;
using burnin::Findings;
using burnin::kNodeText;
using inventory::Part;
using ::testing::IsEmpty;
using ::testing::Not;

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

Findings by_program(const Tree& tree) {
  const auto found = burnin::parsed("facts", facts_document(tree, nvml::Library{"libabsent.so"}));
  EXPECT_TRUE(found) << found.error().what;
  return found ? *found : Findings{};
}

Findings by_shell(std::string text) {
  const auto found = burnin::parsed("node-facts", std::move(text));
  EXPECT_TRUE(found) << found.error().what;
  return found ? *found : Findings{};
}

std::string part_text(const Part& part) {
  return fmt::format("{} {}: {}, {}, {}, {}, {}, {}, {} bytes, {}, {}",
                     inventory::to_string(part.kind), part.name, part.model, part.manufacturer,
                     part.serial, part.part_number, part.firmware, part.slot,
                     part.size_bytes.value_or(-1), part.count.value_or(-1), part.health);
}

enum class Values { kSame, kAny };  // any: counters go on while a live machine is read

std::set<std::string> all_of(const Findings& findings, Values values) {
  std::set<std::string> all;
  for (const auto& each : findings.measurements)
    all.insert(fmt::format("{} of '{}' in '{}'{}", each.name, each.part, each.unit,
                           values == Values::kSame ? fmt::format(": {:g}", each.value) : ""));
  for (const auto& part : findings.parts) all.insert(part_text(part));
  for (const auto& [name, value] : findings.facts) all.insert("fact " + name);
  return all;
}

/// What the shell reports and the program does not.
std::vector<std::string> missing(const Findings& shell, const Findings& program, Values values) {
  const auto all = all_of(program, values);
  std::vector<std::string> missing;
  for (const auto& each : all_of(shell, values)) {
    // From dmidecode and smartctl: the program reads the table and the drive itself, which no
    // capture of text holds (facts_test.cpp has captures of those).
    const bool of_a_tool = each.starts_with("dimm") || each.starts_with("nvme.used") ||
                           each.starts_with("nvme.spare") || each.starts_with("nvme.warnings") ||
                           each.starts_with("nvme.media_errors") ||
                           each.starts_with("nvme.temperature");
    if (!of_a_tool && !all.contains(each)) missing.push_back(each);
  }
  return missing;
}

TEST(FactsFallback, ReportsNothingThatTheProgramLacksOnADgx) {
  const NodeTree node;
  const auto capture = std::string{kNodeText} +
                       "/proc/sys/kernel/hostname:dgx1\n"
                       "/sys/devices/system/cpu/cpu0/topology/physical_package_id:0\n"
                       "/sys/devices/system/cpu/cpu1/topology/physical_package_id:1\n"
                       "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count:3\n"
                       "/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count:0\n"
                       "cupel-epoch: 1763856000\n";
  put_capture(capture, node);

  const auto shell = by_shell(capture);
  const auto program = by_program(node.tree());

  EXPECT_THAT(missing(shell, program, Values::kSame), IsEmpty());
  EXPECT_EQ(burnin::value_of(program, "cpu.throttled", "cpu0"), 3);
  EXPECT_EQ(burnin::value_of(program, "nic.rate", "eno1"), 10);
}

TEST(FactsFallback, ReportsNothingThatTheProgramLacksOfARealH100NodesLinks) {
  const auto archive = testing::samples() / "sys-class-infiniband-h100.tar.zst";
  CUPEL_NEEDS_REAL_PART(fs::exists(archive), "no " << archive);
  const NodeTree node;
  const auto folder = node.root() + "/sys/class/infiniband";
  fs::create_directories(folder);
  const auto command =
      "tar --zstd --strip-components=1 -xf '" + archive.string() + "' -C '" + folder + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::string capture;
  for (const auto& entry : fs::recursive_directory_iterator{folder}) {
    const auto content =
        entry.is_regular_file() ? read_file(entry.path(), 1u << 20) : Result<std::string>{""};
    if (!content || content->empty()) continue;
    capture += entry.path().string().substr(node.root().size()) + ":" + *content + "\n";
  }

  const auto shell = by_shell(capture + "cupel-all-told\n");
  const auto program = by_program(node.tree());

  EXPECT_THAT(burnin::names_of(shell, inventory::PartKind::hca), Not(IsEmpty()));
  EXPECT_THAT(missing(shell, program, Values::kSame), IsEmpty());
}

TEST(FactsFallback, ReportsNothingThatTheProgramLacksOnThisMachine) {
  const auto output = burnin::run_script(burnin::prepared("node-facts")->script);

  const auto shell = by_shell(output.text);
  const auto program = by_program(Tree{"/"});

  EXPECT_THAT(missing(shell, program, Values::kAny), IsEmpty());
}

/// The page's list of what `facts` does not report is complete: each measure of the shell stages is
/// one of `facts`, or stands there with its reason.
TEST(FactsFallback, ThePageNamesEachMeasureThatOnlyTheShellReports) {
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
