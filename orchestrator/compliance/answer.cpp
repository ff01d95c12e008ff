#include "orchestrator/compliance/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/node_range.h"

namespace cupel::compliance {
namespace {

constexpr std::size_t kMostNames = 200;  // bytes of a list of names

enum class OfNode { proven, failed, unmeasured };

OfNode of_node(const Demand& demand, const NodeEvidence& evidence, std::set<engine::RunId>& runs) {
  auto state = OfNode::proven;
  const auto lower_to = [&](OfNode other) {
    if (state != OfNode::failed) state = other;
  };
  for (const auto& name : demand.measures) {
    const auto known = evidence.measures.find(name);
    if (known == evidence.measures.end() || known->second.met == burnin::Met::missing) {
      lower_to(OfNode::unmeasured);
      continue;
    }
    runs.insert(known->second.run);
    if (known->second.met == burnin::Met::failed) lower_to(OfNode::failed);
  }
  const auto look = [&](const std::vector<std::string>& names, const auto& all) {
    for (const auto& name : names) {
      const auto known = all.find(name);
      if (known == all.end()) {
        lower_to(OfNode::unmeasured);
        continue;
      }
      runs.insert(known->second.run);
      if (!known->second.passed) lower_to(OfNode::failed);
    }
  };
  look(demand.stages, evidence.stages);
  look(demand.floor, evidence.floor);
  return state;
}

/// "gemm.bf16.rate 651 to 702 TFLOP/s" over all nodes; empty where no number came.
std::string range_of(const std::string& measure, const Evidence& evidence) {
  std::optional<double> least, most;
  std::string unit;
  for (const auto& [node, of] : evidence) {
    const auto known = of.measures.find(measure);
    if (known == of.measures.end() || !known->second.least) continue;
    least = std::min(least.value_or(*known->second.least), *known->second.least);
    most = std::max(most.value_or(*known->second.most), *known->second.most);
    unit = known->second.unit;
  }
  if (!least) return {};
  const auto value = [](double number) { return fmt::format("{:.4g}", number); };
  const auto numbers =
      *least == *most ? value(*least) : fmt::format("{} to {}", value(*least), value(*most));
  return fmt::format("{} {}{}{}", measure, numbers, unit.empty() ? "" : " ", unit);
}

std::string names_of(const std::vector<std::string>& nodes) {
  return shortened(inventory::fold(nodes), kMostNames);
}

std::string says(const Answer& row, const Demand& demand, const Evidence& evidence) {
  const auto all = evidence.size();
  const auto proven = all - row.failed.size() - row.unmeasured.size();
  auto text = fmt::format("{} of {} nodes", proven, all);
  if (!row.runs.empty())
    text += fmt::format(", run{} {}", row.runs.size() == 1 ? "" : "s", fmt::join(row.runs, ", "));
  std::vector<std::string> ranges;
  for (const auto& measure : demand.measures)
    if (auto range = range_of(measure, evidence); !range.empty())
      ranges.push_back(std::move(range));
  if (!ranges.empty()) text += fmt::format(": {}", fmt::join(ranges, "; "));
  if (!row.failed.empty()) text += "; not met: " + names_of(row.failed);
  if (!row.unmeasured.empty()) text += "; not measured: " + names_of(row.unmeasured);
  return text;
}

void measure(const Demand& demand, const Evidence& evidence, Answer& row) {
  std::set<engine::RunId> runs;
  for (const auto& [node, of] : evidence) {
    const auto state = of_node(demand, of, runs);
    if (state == OfNode::failed) row.failed.push_back(node);
    if (state == OfNode::unmeasured) row.unmeasured.push_back(node);
  }
  row.runs.assign(runs.begin(), runs.end());
  row.status = !row.failed.empty()                           ? Status::not_met
               : !row.unmeasured.empty() || evidence.empty() ? Status::not_run
                                                             : Status::proven;
  row.says = says(row, demand, evidence);
  if (row.status == Status::proven) return;
  const auto& wanting = row.failed.empty() ? row.unmeasured : row.failed;
  // As few words as select them.
  const auto nodes =
      wanting.size() == evidence.size() ? std::string{"all"} : inventory::fold(wanting);
  row.command = fmt::format("cupel run {} --nodes {}", demand.playbook, nodes);
}

}  // namespace

std::string_view to_string(Status status) {
  constexpr std::string_view kWords[] = {"proven", "not met", "not run yet", "not provable here"};
  return kWords[static_cast<std::size_t>(status)];
}

std::size_t Answers::count(Status status) const {
  return static_cast<std::size_t>(std::ranges::count(rows, status, &Answer::status));
}

Answers answer(const DemandList& list, const Evidence& evidence) {
  Answers answers{.list = list.name,
                  .title = list.title,
                  .source = list.source,
                  .date = list.date,
                  .covers = list.covers,
                  .nodes = evidence.size()};
  for (const auto& demand : list.demands) {
    Answer row{.id = demand.id, .asks = demand.asks};
    if (!demand.not_here.empty()) {
      row.status = Status::not_here;
      row.says = demand.not_here;
    } else if (!demand.command.empty()) {
      row.status = Status::not_run;
      row.says = "a person looks at what the command shows";
      row.command = demand.command;
    } else {
      measure(demand, evidence, row);
    }
    answers.rows.push_back(std::move(row));
  }
  return answers;
}

}  // namespace cupel::compliance
