#include "orchestrator/report/hands.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <map>
#include <tuple>

#include "burnin/consequences.h"
#include "burnin/verdict_text.h"
#include "orchestrator/report/advice.h"
#include "orchestrator/report/subject_json.h"

namespace cupel::report {
namespace {

/// One way for one thing: the audit and the verdict may both have asked for it.
Hand* asked_for(std::vector<Hand>& hands, const Hand& hand) {
  const auto found = std::ranges::find_if(hands, [&](const Hand& each) {
    return each.part == hand.part && each.action.starts_with(hand.action);
  });
  return found == hands.end() ? nullptr : &*found;
}

Hand at(const RunSummary& summary, const NodeSummary& node, std::string_view action) {
  Hand hand;
  hand.run = summary.run.id;
  hand.rack = node.position.rack;
  hand.unit = node.position.unit;
  hand.node = node.record.node;
  hand.action = action_for(action, hand.run, hand.node);
  hand.pattern = action_for(action, hand.run, "NODE");
  return hand;
}

/// What the step itself asked for.
void add_needs(const RunSummary& summary, const NodeSummary& node, const record::StepRecord& step,
               std::vector<Hand>& hands) {
  for (const auto& need : step.needs) {
    const auto* again = need.goes_on ? "" : "; then: cupel retry RUN NODE --from bmc-facts";
    auto hand = at(summary, node, need.action + again);
    hand.part = need.part;
    hand.step = step.name;
    hand.why = step.detail.empty() ? step.outcome : step.detail;
    hand.goes_on = need.goes_on;
    hands.push_back(std::move(hand));
  }
}

void add_steps(const RunSummary& summary, const NodeSummary& node, std::vector<Hand>& hands) {
  for (const auto& step : node.record.steps) {
    if (asks_for_hands(step)) {
      add_needs(summary, node, step, hands);
      continue;
    }
    const auto* advice = advice_for(step);
    if (advice == nullptr) continue;
    const bool by_itself = advice->action.empty();
    auto hand = at(summary, node, by_itself ? std::string_view{step.detail} : advice->action);
    hand.step = step.name;
    hand.why = by_itself ? step.outcome : step.detail;
    hand.at_the_rack = advice->at_the_rack;
    hand.goes_on = advice->goes_on;
    hands.push_back(std::move(hand));
  }
}

/// Causes that name a remedy: a part to reseat, to replace, to clean. Consequences name none of
/// their own.
void add_causes(const RunSummary& summary, const NodeSummary& node, std::vector<Hand>& hands) {
  if (!node.record.verdict) return;
  for (auto& [cause, consequences] : burnin::explained(node.causes)) {
    if (cause.decision != burnin::Decision::fail || cause.remedy.empty()) continue;
    auto hand = at(summary, node, cause.remedy);
    hand.part = cause.part;
    hand.step = "verdict";
    hand.why = burnin::to_string(cause);
    hand.consequences = std::move(consequences);
    if (auto* known = asked_for(hands, hand))
      std::ranges::move(hand.consequences, std::back_inserter(known->consequences));
    else
      hands.push_back(std::move(hand));
  }
}

/// The first step that is not over, where that waits for a person's word.
const playbooks::PlannedStep* awaits_approval(const engine::NodeState& node) {
  for (std::size_t i = 0; node.planned && i < node.steps.size(); ++i) {
    if (node.steps[i].over()) continue;
    const auto& step = (*node.planned)[i];
    return playbooks::row_of(step.kind).name == "approval" ? &step : nullptr;
  }
  return nullptr;
}

/// One line each for the run, not one for each node: they are done with one command.
void add_desk(const RunSummary& summary, const engine::RunState& state, std::vector<Hand>& hands) {
  std::map<std::string, std::size_t> waiting;
  std::map<std::string, std::string> told;  // to whoever approves
  for (const auto& [name, node] : state.nodes) {
    const auto* step = awaits_approval(node);
    if (step == nullptr) continue;
    ++waiting[step->name];
    if (const auto message = step->with.find("message"); message != step->with.end())
      told[step->name] = ": " + message->second;
  }
  const auto desk = [&](std::string step, std::string action, std::string why) {
    Hand hand;
    hand.run = summary.run.id;
    hand.step = std::move(step);
    hand.pattern = action;
    hand.action = std::move(action);
    hand.why = std::move(why);
    hand.at_the_rack = false;
    hand.goes_on = true;
    hands.push_back(std::move(hand));
  };
  for (const auto& [step, nodes] : waiting)
    desk(step, fmt::format("cupel approve {} {}", summary.run.id, step),
         fmt::format("{} nodes wait for approval{}", nodes, told[step]));
  for (const auto& [step, why] : state.halts)
    desk(step,
         fmt::format("look at the failures; then: cupel continue {}{}{}", summary.run.id,
                     step.empty() ? "" : " ", step),
         fmt::format("halted{}: {}", step.empty() ? " behind the canary" : "", why));
}

}  // namespace

bool may_be_mended(const record::StepRecord& step) {
  if (asks_for_hands(step)) return std::ranges::all_of(step.needs, &record::Needed::goes_on);
  const auto* advice = advice_for(step);
  return advice != nullptr && advice->goes_on;
}

std::vector<Hand> hands_of(const RunSummary& summary, const engine::RunState& state) {
  std::vector<Hand> hands;
  add_desk(summary, state, hands);
  for (const auto& node : summary.nodes) {
    std::vector<Hand> of_node;
    add_steps(summary, node, of_node);
    add_causes(summary, node, of_node);
    std::ranges::move(of_node, std::back_inserter(hands));
  }
  sort_for_walking(hands);
  return hands;
}

void sort_for_walking(std::vector<Hand>& hands) {
  std::ranges::stable_sort(hands, [](const Hand& a, const Hand& b) {
    return std::tie(a.at_the_rack, a.rack, a.unit) < std::tie(b.at_the_rack, b.rack, b.unit);
  });
}

boost::json::array to_json(const std::vector<Hand>& hands) {
  boost::json::array all;
  for (const auto& hand : hands) {
    boost::json::object object{{"run", hand.run},   {"where", hand.at_the_rack ? "rack" : "desk"},
                               {"step", hand.step}, {"action", hand.action},
                               {"why", hand.why},   {"goes_on_by_itself", hand.goes_on}};
    if (!hand.rack.empty()) object["rack"] = hand.rack;
    if (hand.unit != 0) object["unit"] = hand.unit;
    if (!hand.node.empty()) object["node"] = hand.node;
    if (!hand.part.empty()) object["part"] = hand.part;
    put_subject(object, hand.part);
    boost::json::array explains;
    for (const auto& each : hand.consequences) explains.emplace_back(burnin::cause_name(each));
    if (!explains.empty()) object["explains"] = std::move(explains);
    all.push_back(std::move(object));
  }
  return all;
}

}  // namespace cupel::report
