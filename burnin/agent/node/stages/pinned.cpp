#include "burnin/agent/node/stages/pinned.h"

#include <algorithm>

#include "base/text.h"
#include "burnin/agent/node/stages/order.h"

namespace cupel::agent {
namespace {

constexpr int kMostCpus = 8192, kMostNodes = 1024;

/// Of "28-55,84-111", in order; none where it is no list of CPUs.
std::vector<int> cpus_in(std::string_view list) {
  std::vector<int> cpus;
  for (const auto range : split(list, ',')) {
    const auto bounds = split(range, '-');
    const auto first = number<int>(bounds.front()), last = number<int>(bounds.back());
    const bool good = bounds.size() <= 2 && first && last && *first >= 0 && *first <= *last &&
                      *last < kMostCpus && (cpus.empty() || *first > cpus.back());
    if (!good) return {};
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

/// The other way round.
std::string list_of(const std::vector<int>& cpus) {
  std::string list;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    const auto first = cpus[i];
    while (i + 1 < cpus.size() && cpus[i + 1] == cpus[i] + 1) ++i;
    list += (list.empty() ? "" : ",") + std::to_string(first);
    if (cpus[i] > first) list += "-" + std::to_string(cpus[i]);
  }
  return list;
}

}  // namespace

Result<Pin> pin_of(const Node& node, const JsonValue& order) {
  Pin pin;
  if (order.find("numa") == nullptr) return pin;
  OrderReader reader{order};
  pin.node = std::to_string(reader.amount("numa", 0, kMostNodes - 1));
  if (!reader.why().empty()) return Error{Code::kInvalid, reader.why()};
  const auto list = node.tree.text("/sys/devices/system/node/node" + pin.node + "/cpulist");
  pin.cpus = cpus_in(list.value_or(""));
  if (pin.cpus.empty())
    return Error{Code::kNoMeasurement, "the node has no NUMA node " + pin.node + " with CPUs"};
  pin.list = list_of(pin.cpus);
  return pin;
}

Work<GaveUp> run_pinned(Node& node, Pin pin, std::string name, Command command) {
  command.cpus = pin.cpus;
  const auto ran = co_await node.programs.run(command);
  if (ran.cpus != pin.cpus)
    co_return "numa " + pin.node + " is CPUs " + pin.list + ", and it may run on " +
        list_of(ran.cpus) + ": look at the control group of its user" +
        (ran.err.empty() ? "" : " (" + ran.err + ")");
  if (!pin.node.empty()) node.lines.note("pinned", "NUMA node " + pin.node + ", CPUs " + pin.list);
  node.lines.evidence(name, "", command, ran);
  co_return {};
}

}  // namespace cupel::agent
