// Most of the memory of each NUMA node written and compared by a stress-ng of its own, then its
// bandwidth; how much of it is in use at once meanwhile. A GPU's memory is a NUMA node on some
// machines, one without CPUs: other stages test that. Paths: Linux,
// Documentation/ABI/stable/sysfs-devices-node.
#include <algorithm>

#include "base/text.h"
#include "burnin/agent/node/stages/beside.h"
#include "burnin/agent/node/stages/counters.h"
#include "burnin/agent/node/stages/cpu_lists.h"
#include "burnin/agent/node/stages/file_lines.h"
#include "burnin/agent/node/stages/order.h"

namespace cupel::agent {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kMostShare = 95;  // the rest is for the kernel, sshd and the stage
constexpr std::size_t kMostNumaNodes = 256;
constexpr std::uint64_t kMostMemorySamples = 10'000;
constexpr std::size_t kMostMemoryReport = 1u << 18;  // hundreds of instances have a line each
constexpr const char* kNodes = "/sys/devices/system/node";

struct MemoryOrder {
  std::uint64_t seconds, stream, percent, interval, samples, spare, limit;
};

/// One with CPUs.
struct NumaNode {
  std::string number{}, cpus{};  // "1", "64-127": those that are not left to others
  std::size_t count = 0;         // of those CPUs
};

std::string meminfo_of(std::string_view number) {
  return std::string{kNodes} + "/node" + std::string{number} + "/meminfo";
}

std::vector<NumaNode> numa_nodes(const Node& node, std::uint64_t spare) {
  std::vector<NumaNode> all;
  for (const auto& name : numbered(node.tree, kNodes, "node")) {
    auto cpus = cpus_in(node.tree.text(std::string{kNodes} + "/" + name + "/cpulist").value_or(""));
    if (cpus.empty() || all.size() == kMostNumaNodes) continue;
    cpus.erase(cpus.begin(),
               cpus.begin() + static_cast<std::ptrdiff_t>(spared_of(cpus.size(), spare)));
    all.push_back({name.substr(4), list_of(cpus), cpus.size()});
  }
  return all;
}

/// KiB by "Node 0 MemTotal:  1056 kB"; 0 where that is not there.
std::uint64_t kib_of(std::string_view meminfo, std::string_view what) {
  for (const auto line : lines(meminfo)) {
    const auto cells = words(line);
    if (cells.size() == 5 && cells[2] == what) return number<std::uint64_t>(cells[3]).value_or(0);
  }
  return 0;
}

/// What it is asked for, and no more than what is free or can be had from the page cache.
std::uint64_t kib_to_test(const Node& node, const NumaNode& one, std::uint64_t percent) {
  const auto meminfo = node.tree.text(meminfo_of(one.number)).value_or("");
  const auto room = kib_of(meminfo, "MemFree:") + kib_of(meminfo, "Active(file):") +
                    kib_of(meminfo, "Inactive(file):");
  return std::min(kib_of(meminfo, "MemTotal:") / 100 * percent, room / 100 * 97);
}

/// How the instances are kept at their memory: "numactl"; "cpus" alone, near which the kernel gives
/// memory; "one" NUMA node has nothing to choose.
Work<std::string> find_binding(Node& node, const std::vector<NumaNode>& nodes) {
  if (node.programs.has("numactl")) {
    const Command probe{.argv = {"numactl", "--membind=" + nodes.front().number, "true"}};
    const auto ran = co_await node.programs.run(probe);
    if (ran.status == 0) co_return "numactl";
  }
  co_return nodes.size() == 1 ? "one" : "cpus";
}

void print_line(Node& node, std::string_view name, std::string_view part, const std::string& line) {
  FileLines printed{node.tree};
  printed.add_line(line);
  printed.print(node.lines, name, part);
}

void print_resident(Node& node, std::string_view part) {
  FileLines files{node.tree};
  for (const auto& name : numbered(node.tree, kNodes, "node"))
    files.add_with(std::string{kNodes} + "/" + name + "/meminfo", {"AnonPages:"});
  files.print(node.lines, "resident", part);
}

/// What stress-ng has of every kind, bound to one NUMA node.
Command stress_command(const NumaNode& one, const MemoryOrder& order, const std::string& binding,
                       const std::vector<std::string>& work, std::uint64_t timeout) {
  Command command{.limit = seconds{order.limit}, .most = kMostMemoryReport};
  const auto add = [&](const std::vector<std::string>& words) {
    command.argv.insert(command.argv.end(), words.begin(), words.end());
  };
  if (binding == "numactl")
    add({"numactl", "--cpunodebind=" + one.number, "--membind=" + one.number});
  if (order.spare > 0) add({"nice", "-n", "19"});
  add({"stress-ng"});
  add(work);
  add({"--taskset", one.cpus, "--temp-path", "/tmp", "--timeout", std::to_string(timeout) + "s"});
  return command;
}

/// One for each NUMA node at a time; evidence by `name`. Samples at the pace what is resident.
Work<bool> stress_all(Node& node, std::string name, std::map<std::string, Command> commands,
                      Pace pace) {
  std::map<int, std::string> numbers;
  for (const auto& [part, command] : commands) numbers[node.programs.start(command)] = part;
  const auto sample = [&] { print_resident(node, ""); };
  const auto ended = co_await sample_until_ended(node, numbers.size(), pace, sample);
  for (const auto& [number, ran] : ended) {
    const auto& part = numbers.at(number);
    node.lines.evidence(name, part, commands.at(part), ran);
  }
  co_return true;
}

Work<bool> verify_memory(Node& node, const std::vector<NumaNode>& nodes, const MemoryOrder& order,
                         const std::string& binding) {
  std::map<std::string, Command> commands;
  for (const auto& one : nodes) {
    const auto kib = std::to_string(kib_to_test(node, one, order.percent));
    print_line(node, "asked", one.number, kib);
    const std::vector<std::string> work{"--vm",
                                        std::to_string(one.count),
                                        "--vm-bytes",
                                        kib + "k",
                                        "--vm-keep",
                                        "--vm-method",
                                        "all",
                                        "--verify",
                                        "--metrics-brief"};
    commands[one.number] = stress_command(one, order, binding, work, order.seconds);
  }
  print_resident(node, "before");
  const Pace pace{.interval = seconds{order.interval},
                  .span = seconds{order.seconds},
                  .samples = order.samples};
  co_return co_await stress_all(node, "vm", std::move(commands), pace);
}

/// 16 MiB of cache are a core's share of none: the arrays are four times as large.
Work<bool> measure_bandwidth(Node& node, const std::vector<NumaNode>& nodes,
                             const MemoryOrder& order, const std::string& binding) {
  std::map<std::string, Command> commands;
  for (const auto& one : nodes) {
    const std::vector<std::string> work{"--stream", std::to_string(one.count), "--stream-l3-size",
                                        "16m", "--metrics"};
    commands[one.number] = stress_command(one, order, binding, work, order.stream);
  }
  co_return co_await stress_all(node, "stream", std::move(commands), Pace{});
}

}  // namespace

Work<GaveUp> run_memory(Node& node, const JsonValue& asked) {
  OrderReader read{asked};
  const MemoryOrder order{
      read.amount("seconds", 1, kLongestLimit),      read.amount("stream", 1, kLongestLimit),
      read.amount("percent", 1, kMostShare),         read.amount("interval", 1, kLongestLimit),
      read.amount("samples", 0, kMostMemorySamples), read.amount("spare", 0, kMostSpare),
      read.amount("limit", 1, kLongestLimit)};
  if (!read.why().empty()) co_return read.why();
  if (!node.programs.has("stress-ng")) co_return "stress-ng is not installed on the node";
  node.lines.asked("seconds", static_cast<double>(order.seconds));
  const auto nodes = numa_nodes(node, order.spare);
  if (nodes.empty()) co_return "the kernel lists no NUMA node with CPUs in " + std::string{kNodes};
  const auto binding = co_await find_binding(node, nodes);
  node.lines.note("binding", binding);
  print_counters(node, "before");
  co_await verify_memory(node, nodes, order, binding);
  co_await measure_bandwidth(node, nodes, order, binding);
  print_counters(node, "after");
  co_return {};
}

}  // namespace cupel::agent
