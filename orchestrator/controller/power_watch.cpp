#include "orchestrator/controller/power_watch.h"

#include <set>

#include "base/for_each_of.h"
#include "base/log.h"
#include "inventory/node.h"
#include "playbooks/plan.h"

namespace cupel::controller {
namespace {

constexpr std::size_t kWidth = 8;
constexpr std::chrono::seconds kPatience{30};

/// Nodes whose power could not be read at the last look.
using Unread = std::set<std::string, std::less<>>;

/// A BMC that never tells would fill the log: said when it changes.
void note(const PowerWatch& watch, Unread& unread, const std::string& node, std::string_view why) {
  const log::About about{.run = watch.run, .node = node};
  if (!why.empty() && unread.insert(node).second) log::info(about, "power-not-measured", why);
  if (why.empty() && unread.erase(node) > 0) log::info(about, "power-measured", "again");
}

/// One look at one node. Whatever fails is left aside.
Task<Result<void>> look(const PowerWatch& watch, Unread& unread, const inventory::Node& node) {
  const auto bmc = watch.bmc(node);
  const auto reported = co_await bmc->sensors.read(Deadline::in(kPatience));
  co_await bmc->log_out();
  if (reported && reported->watts) watch.measured(node.name, *reported->watts);
  if (reported && watch.sensed) watch.sensed(node.name, *reported);
  const bool stopped = !reported && reported.error().code == Code::kCancelled;
  if (stopped) co_return ok();
  const auto none =
      reported && !reported->watts ? std::string{"its BMC reports no power"} : std::string{};
  note(watch, unread, node.name, reported ? none : reported.error().what);
  co_return ok();
}

}  // namespace

std::vector<const inventory::Node*> loaded_nodes(const playbooks::Plan& plan,
                                                 const engine::RunState& state) {
  std::vector<const inventory::Node*> nodes;
  for (const auto& each : plan.nodes) {
    const auto known = state.nodes.find(each.node->name);
    if (known == state.nodes.end()) continue;
    const auto& steps = known->second.steps;
    for (std::size_t i = 0; i < steps.size() && i < each.steps->size(); ++i) {
      const bool runs = steps[i].phase == engine::StepState::Phase::running;
      if (!runs || (*each.steps)[i].load <= 0) continue;
      nodes.push_back(each.node);
      break;
    }
  }
  return nodes;
}

Task<Result<void>> watch_power(PowerWatch watch) {
  Unread unread;
  const auto verb = [&](const inventory::Node* node) { return look(watch, unread, *node); };
  for (;;) {
    CO_TRY(co_await pause_for(watch.pause));
    auto nodes = watch.loaded();
    co_await for_each_of<void>(std::move(nodes), kWidth, verb);
    const bool stop = co_await cancelled();
    if (stop) co_return ok();
  }
}

}  // namespace cupel::controller
