#include "orchestrator/steps/inlets.h"

#include <algorithm>
#include <cmath>

#include "base/for_each_of.h"
#include "base/text.h"
#include "burnin/node/inlet.h"
#include "inventory/model.h"
#include "inventory/node.h"

namespace cupel::steps {
namespace {

using engine::StepRequest;
using std::chrono::seconds;

constexpr std::size_t kNeighbours = 4;
constexpr seconds kPatience{60};
/// Air changes within minutes. Where a whole rack ends its soak together, each BMC is asked once.
constexpr seconds kFresh{120};

/// The coldest of those whose name says that air comes in there.
std::optional<double> inlet_of(const bmc::Sensors& sensors) {
  std::optional<double> coldest;
  for (const auto& each : sensors.sensors) {
    const bool right = each.kind == bmc::SensorKind::temperature && each.value &&
                       std::isfinite(*each.value) && burnin::is_inlet(each.name);
    if (right) coldest = std::min(coldest.value_or(*each.value), *each.value);
  }
  return coldest;
}

/// Asks its BMC, and puts the answer onto the board. Errors: as Bmc::sensors(); kUnsupported.
Task<Result<double>> ask(StepEnvironment& environment, const inventory::Node& node,
                         Deadline deadline) {
  const auto bmc = environment.bmc(node);
  const auto reported = co_await bmc->sensors.read(deadline);
  co_await bmc->log_out();
  if (!reported) co_return reported.error();
  const auto celsius = inlet_of(*reported);
  if (!celsius) co_return Error{Code::kUnsupported, "its BMC tells no inlet temperature"};
  environment.board->inlets[node.name] = {*celsius, std::chrono::steady_clock::now()};
  co_return *celsius;
}

std::optional<double> on_board(const StepEnvironment& environment, const std::string& node) {
  const auto found = environment.board->inlets.find(node);
  const bool fresh = found != environment.board->inlets.end() &&
                     std::chrono::steady_clock::now() - found->second.when < kFresh;
  return fresh ? std::optional{found->second.celsius} : std::nullopt;
}

}  // namespace

std::vector<const inventory::Node*> neighbours_of(const inventory::Inventory& inventory,
                                                  const inventory::Node& node) {
  std::vector<const inventory::Node*> all;
  if (node.rack.empty()) return all;
  for (const auto& each : inventory.nodes)
    if (each.rack == node.rack && each.name != node.name) all.push_back(&each);
  std::ranges::stable_sort(all, {},
                           [&](const auto* each) { return std::abs(each->unit - node.unit); });
  if (all.size() > kNeighbours) all.resize(kNeighbours);
  return all;
}

Task<std::string> inlets_around(StepEnvironment& environment, const StepRequest& request) {
  boost::json::object reported;
  const auto own = co_await ask(environment, request.node, request.deadline.sooner(kPatience));
  if (!own) {
    reported["failed"] = valid_utf8(own.error().what);
    co_return boost::json::serialize(reported);
  }
  reported["inlet"] = *own;
  const auto neighbours = neighbours_of(environment.inventory, request.node);
  std::vector<const inventory::Node*> silent;
  for (const auto* each : neighbours)
    if (!on_board(environment, each->name)) silent.push_back(each);
  const auto deadline = request.deadline.sooner(kPatience);
  const auto verb = [&environment, deadline](const inventory::Node* each) {
    return ask(environment, *each, deadline);
  };
  [[maybe_unused]] const auto asked =
      co_await for_each_of<double>(std::move(silent), kNeighbours, verb);
  boost::json::array others;
  for (const auto* each : neighbours)
    if (const auto celsius = on_board(environment, each->name))
      others.push_back({{"node", each->name}, {"celsius", *celsius}});
  reported["neighbours"] = std::move(others);
  co_return boost::json::serialize(reported);
}

}  // namespace cupel::steps
