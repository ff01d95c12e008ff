// Every logical CPU computes by itself, by one stress-ng that is bound to it; clocks and
// temperatures meanwhile. Paths: Linux, /proc/cpuinfo, Documentation/ABI of /sys/devices/system/cpu
// and of cpufreq.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "burnin/agent/node/stages/beside.h"
#include "burnin/agent/node/stages/counters.h"
#include "burnin/agent/node/stages/cpu_lists.h"
#include "burnin/agent/node/stages/cpu_sensors.h"
#include "burnin/agent/node/stages/file_lines.h"
#include "burnin/agent/node/stages/order.h"

namespace cupel::agent {
namespace {

using std::chrono::seconds;

constexpr std::size_t kMostCpuinfo = 16u << 20;  // some 1,500 bytes of each logical CPU
constexpr std::size_t kMostCpuReport = 8192;  // one that prints too much does not hide the others
constexpr const char* kCpuinfo = "/proc/cpuinfo";

constexpr std::uint64_t kMostCpuSamples = 10'000;

struct CpuOrder {
  std::uint64_t seconds, interval, samples, spare, limit;
};

std::string cpu_file(int cpu, std::string_view file) {
  return "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + std::string{file};
}

/// Values of one key, in the order of the CPUs: "cpu MHz : 2900.000".
std::vector<std::string> values_of(const std::string& cpuinfo, std::string_view key) {
  std::vector<std::string> values;
  for (const auto line : lines(cpuinfo)) {
    const auto colon = line.find(':');
    if (colon == line.npos || trimmed(line.substr(0, colon)) != key) continue;
    if (values.size() < std::size_t{kMostCpus})
      values.emplace_back(trimmed(line.substr(colon + 1)));
  }
  return values;
}

/// The logical CPUs, and as evidence where each sits.
std::vector<int> read_topology(Node& node) {
  const auto cpuinfo = node.tree.bytes(kCpuinfo, kMostCpuinfo).value_or("");
  std::vector<int> cpus;
  for (const auto& value : values_of(cpuinfo, "processor"))
    if (const auto cpu = number<int>(value)) cpus.push_back(*cpu);
  FileLines files{node.tree};
  files.add_with(kCpuinfo, {"processor", "physical id", "core id"}, kMostCpuinfo);
  if (values_of(cpuinfo, "physical id").empty())
    for (const auto cpu : cpus)
      for (const auto* file : {"/topology/physical_package_id", "/topology/core_id"})
        files.add(cpu_file(cpu, file));
  files.add(cpu_file(0, "/cpufreq/base_frequency"));
  files.print(node.lines, "topology");
  return cpus;
}

/// The first ones of each NUMA node: the kernel's own work and most interrupts are there.
std::set<int> spare_cpus(Node& node, std::uint64_t spare) {
  const std::string root = "/sys/devices/system/node";
  std::set<int> spared;
  std::string list;
  for (const auto& name : numbered(node.tree, root, "node")) {
    const auto all = cpus_in(node.tree.text(root + "/" + name + "/cpulist").value_or(""));
    for (std::size_t i = 0; i < spared_of(all.size(), spare); ++i)
      if (spared.insert(all[i]).second) list += std::to_string(all[i]) + " ";
  }
  FileLines printed{node.tree};
  printed.add_line(list);
  printed.print(node.lines, "spared");
  return spared;
}

/// One for each logical CPU but the spared ones, by the numbers of Programs::start().
std::map<int, std::pair<int, Command>> start_on_each(Node& node, const std::vector<int>& cpus,
                                                     const std::set<int>& spared,
                                                     const CpuOrder& order) {
  std::map<int, std::pair<int, Command>> started;
  for (const auto cpu : cpus) {
    if (spared.contains(cpu)) continue;
    Command command{.limit = seconds{order.limit}, .most = kMostCpuReport};
    if (order.spare > 0) command.argv = {"nice", "-n", "19"};
    for (const auto& word :
         {std::string{"stress-ng"}, std::string{"--cpu"}, std::string{"1"},
          std::string{"--taskset"}, std::to_string(cpu), std::string{"--cpu-method"},
          std::string{"all"}, std::string{"--verify"}, std::string{"--metrics-brief"},
          std::string{"--temp-path"}, std::string{"/tmp"}, std::string{"--timeout"},
          std::to_string(order.seconds) + "s"})
      command.argv.push_back(word);
    const int number = node.programs.start(command);
    started.emplace(number, std::pair{cpu, std::move(command)});
  }
  return started;
}

/// Clocks of all CPUs in one line, and the sensors. Kernels of other than x86 have clocks in /sys
/// alone.
void print_sample(Node& node, const std::vector<int>& cpus,
                  const std::vector<std::string>& sensors) {
  auto clocks = values_of(node.tree.bytes(kCpuinfo, kMostCpuinfo).value_or(""), "cpu MHz");
  const bool mega = !clocks.empty();
  if (!mega)
    for (const auto cpu : cpus)
      if (auto khz = node.tree.text(cpu_file(cpu, "/cpufreq/scaling_cur_freq")))
        clocks.push_back(*std::move(khz));
  std::string line = mega ? "cupel-mhz:" : "cupel-khz:";
  for (const auto& clock : clocks) line += " " + clock;
  FileLines files{node.tree};
  files.add_line(line);
  for (const auto& path : sensors) files.add(path);
  files.print(node.lines, "sample");
}

}  // namespace

Work<GaveUp> run_cpu(Node& node, const JsonValue& asked) {
  OrderReader read{asked};
  const CpuOrder order{read.amount("seconds", 1, kLongestLimit),
                       read.amount("interval", 1, kLongestLimit),
                       read.amount("samples", 0, kMostCpuSamples),
                       read.amount("spare", 0, kMostSpare), read.amount("limit", 1, kLongestLimit)};
  if (!read.why().empty()) co_return read.why();
  if (!node.programs.has("stress-ng")) co_return "stress-ng is not installed on the node";
  node.lines.asked("seconds", static_cast<double>(order.seconds));
  const auto cpus = read_topology(node);
  if (cpus.empty()) co_return "/proc/cpuinfo lists no processor";
  const auto spared = spare_cpus(node, order.spare);
  const auto sensors = find_cpu_sensors(node);
  print_counters(node, "before");
  const Pace pace{.interval = seconds{order.interval},
                  .span = seconds{order.seconds},
                  .samples = order.samples};
  const auto started = start_on_each(node, cpus, spared, order);
  const auto sample = [&] { print_sample(node, cpus, sensors); };
  const auto ended = co_await sample_until_ended(node, started.size(), pace, sample);
  for (const auto& [number, ran] : ended) {
    const auto& [cpu, command] = started.at(number);
    node.lines.evidence("stress-ng", std::to_string(cpu), command, ran);
  }
  print_counters(node, "after");
  co_return {};
}

}  // namespace cupel::agent
