#include "orchestrator/cli/seen_cables.h"

#include <algorithm>

#include "orchestrator/record/node_record.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kMostRunsBack = 500;
constexpr std::string_view kWrong = "fabric.cable.wrong", kUndecided = "fabric.undecided";

using Ports = std::map<std::string, dcim::SeenCable>;

/// Whether it could not be decided there. What was not compared has a number of 0, too.
bool is_open(const burnin::Findings& found, const std::string& hca) {
  const bool whole = std::ranges::any_of(
      found.unknown, [](const inventory::Unknown& each) { return each.fact == kWrong; });
  return whole || std::ranges::any_of(found.measurements, [&](const auto& each) {
           const bool meant = each.part == hca || each.part == "all";
           return each.name == kUndecided && meant && each.value != 0;
         });
}

void take(const burnin::Findings& found, engine::RunId run, Ports& ports) {
  for (const auto& each : found.measurements) {
    if (each.name != kWrong || each.part.empty() || is_open(found, each.part)) continue;
    auto& port = ports[each.part];
    const bool wrong = each.value != 0;
    const bool known_wrong = port.run == run && !port.as_planned;
    if (known_wrong) continue;  // of two looks in one run the one that found something counts
    port = {static_cast<std::int64_t>(run), !wrong, each.traced_to};
  }
}

}  // namespace

Result<std::map<std::string, Ports>> seen_cables(const store::Store& store,
                                                 const std::set<std::string, std::less<>>& nodes) {
  std::map<std::string, Ports> seen;
  TRY(const auto runs, store.runs(kMostRunsBack));
  for (const auto& run : runs)
    for (const auto& node : run.nodes) {
      if (!nodes.contains(node) || seen.contains(node)) continue;
      TRY(const auto record, record::node_record(store, run.id, node));
      Ports ports;
      for (const auto& [step, found] : record.findings) take(found, run.id, ports);
      if (!ports.empty()) seen.emplace(node, std::move(ports));
    }
  return seen;
}

}  // namespace cupel::cli
