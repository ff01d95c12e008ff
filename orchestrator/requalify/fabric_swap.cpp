#include "orchestrator/requalify/fabric_swap.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/node_range.h"
#include "inventory/subject.h"

namespace cupel::requalify {
namespace {

using burnin::fabric::SlowLinks;
using inventory::CableEnd;
using inventory::Subject;
using record::NodeRecord;

/// Of the last of them, where the node did the stage more than once; nullptr: never.
const burnin::Findings* pairs_of(const NodeRecord& record) {
  const burnin::Findings* found = nullptr;
  for (const auto& [name, findings] : record.findings)
    if (name.substr(0, name.find('@')) == burnin::fabric::kExchangeStage) found = &findings;
  return found;
}

/// "mlx5_6" of the node, "port:leaf1-r3/33"; nothing for a whole switch or node.
std::optional<CableEnd> end_of(const std::string& node, const std::string& part,
                               const inventory::Fabric& plan) {
  const auto subject = Subject::part_of(node, part);
  if (subject.kind == Subject::Kind::switch_port) {
    const auto port = number<int>(subject.part);
    return port ? std::optional{CableEnd{subject.name, "", *port}} : std::nullopt;
  }
  for (const auto& cable : plan.cables)
    if (cable.from.device == node && cable.from.hca == part) return cable.from;
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(const inventory::Fabric& plan) : plan_{plan} {}

  void read(const NodeRecord& record) {
    const auto* found = pairs_of(record);
    if (found == nullptr) return;
    if (const auto fact = record.facts.find("fabric.exchanged"); fact != record.facts.end())
      readings_.exchanged = fact->second;
    for (const auto& each : found->measurements) take(record.node, each);
  }

  PairReadings readings() {
    for (auto& [words, links] : undecided_) slow_.insert({links.begin(), links.end()});
    readings_.slow.assign(slow_.begin(), slow_.end());
    return std::move(readings_);
  }

 private:
  void take(const std::string& node, const burnin::Measurement& each) {
    if (each.value <= 0) return;
    if (each.name == "fabric.flows") readings_.measured.insert(node);
    const bool open = each.name == "fabric.undecided";
    if (!open && each.name != "fabric.link.loss" && each.name != "fabric.switch.loss") return;
    const auto end = end_of(node, each.part, plan_);
    if (!end) return;
    readings_.nodes_of[*end].insert(node);
    if (open)
      undecided_[each.traced_to].insert(*end);  // what cannot be told apart has the same words
    else
      slow_.insert({*end});
  }

  const inventory::Fabric& plan_;
  std::map<std::string, std::set<CableEnd>> undecided_{};
  std::set<SlowLinks> slow_{};
  PairReadings readings_{};
};

void add_nodes_of(const inventory::Fabric& plan, const CableEnd& end,
                  std::set<std::string>& nodes) {
  for (const auto& cable : plan.cables)
    if (cable.is_access() && (cable.from == end || cable.to == end))
      nodes.insert(cable.from.device);
}

/// A node that was not measured again may be where the fault is now.
Result<void> all_measured(const PairReadings& before, const PairReadings& after,
                          const inventory::Fabric& plan, const burnin::fabric::Exchange& exchange,
                          const std::vector<burnin::fabric::SwapAnswer>& answers) {
  std::set<std::string> needed;
  for (const auto* end : {&exchange.one, &exchange.other}) add_nodes_of(plan, *end, needed);
  for (const auto& answer : answers)
    for (const auto& end : answer.was)
      if (const auto nodes = before.nodes_of.find(end); nodes != before.nodes_of.end())
        needed.insert(nodes->second.begin(), nodes->second.end());
  std::vector<std::string> missing;
  std::ranges::set_difference(needed, after.measured, std::back_inserter(missing));
  if (missing.empty()) return ok();
  return Error{
      Code::kInvalid,
      fmt::format("not measured after the exchange: {0}. Measure again with them: cupel run "
                  "fabric --nodes ... --set exchanged={1}",
                  inventory::fold(missing), printable(after.exchanged))};
}

}  // namespace

PairReadings pair_readings(std::span<const NodeRecord> records, const inventory::Fabric& plan) {
  Reader reader{plan};
  for (const auto& record : records) reader.read(record);
  return reader.readings();
}

Result<std::vector<burnin::fabric::SwapAnswer>> read_swapped_cables(const PairReadings& before,
                                                                    const PairReadings& after,
                                                                    const inventory::Fabric& plan) {
  if (after.exchanged.empty())
    return Error{Code::kInvalid,
                 "the later run was measured without an exchange: cupel run fabric --set "
                 "exchanged=leaf1-r3/7,leaf1-r3/8"};
  TRY(const auto exchange, burnin::fabric::exchange_of(after.exchanged, plan));
  TRY(auto answers, burnin::fabric::read_exchange(plan, exchange, before.slow, after.slow));
  TRY(all_measured(before, after, plan, exchange, answers));
  return answers;
}

}  // namespace cupel::requalify
