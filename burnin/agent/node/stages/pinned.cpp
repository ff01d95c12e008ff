#include "burnin/agent/node/stages/pinned.h"

#include "base/text.h"
#include "burnin/agent/node/stages/cpu_lists.h"
#include "burnin/agent/node/stages/idle_gpus.h"
#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/reported.h"

namespace cupel::agent {
namespace {

constexpr int kMostNodes = 1024;

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

Work<Result<Pin>> pin_on_idle_gpus(Node& node, const JsonValue& order) {
  auto why = co_await wait_for_idle_gpus(node);
  if (!why.empty()) co_return Error{Code::kNoMeasurement, std::move(why)};
  co_return pin_of(node, order);
}

Work<GaveUp> run_pinned(Node& node, Pin pin, std::string name, Command command) {
  command.cpus = pin.cpus;
  const auto ran = co_await run_reported(node, std::move(name), std::move(command));
  if (ran.cpus != pin.cpus)
    co_return "numa " + pin.node + " is CPUs " + pin.list + ", and it may run on " +
        list_of(ran.cpus) + ": look at the control group of its user" +
        (ran.err.empty() ? "" : " (" + ran.err + ")");
  if (!pin.node.empty()) node.lines.note("pinned", "NUMA node " + pin.node + ", CPUs " + pin.list);
  co_return {};
}

}  // namespace cupel::agent
