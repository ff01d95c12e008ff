#include "orchestrator/report/hands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <map>
#include <tuple>

#include "base/text.h"
#include "orchestrator/report/wrapped.h"

namespace cupel::report {
namespace {

/// The one action for a step that ended so, where the step itself names none.
struct Row {
  std::string_view step;     // empty: any
  std::string_view outcome;  // empty: any that is not done
  std::string_view error;    // empty: any
  std::string_view action;
  bool at_the_rack;
  bool goes_on;
};

constexpr Row kRows[] = {
    {"", "", "untrusted",
     "find out who has replaced it, or its key; then: cupel bmc NODE accept-certificate", false,
     true},
    {"", "", "refused", "put the right credentials into the inventory's secret, or into the BMC",
     false, true},
    {"ssh-wait", "", "", "look at the machine: its screen, its network cables", true, true},
    {"", "", "unreachable", "look at the BMC: its network cable, its power, its lights", true,
     true},
    {"", "", "timeout", "look at the machine: its power, its cables, its screen; then: cupel retry",
     true, false},
    {"", "suspect BMC", "",
     "look at the BMC; pull its power for a minute where it does not recover", true, true},
    {"", "needs hands", "", "", true, true},  // as the step itself tells it
};

const Row* row_of(std::string_view step, std::string_view outcome, std::string_view error) {
  const bool failed = outcome == "reject" || outcome == "needs hands" || outcome == "suspect BMC";
  if (!failed) return nullptr;
  for (const auto& row : kRows) {
    const bool fits = (row.step.empty() || row.step == step) &&
                      (row.outcome.empty() || row.outcome == outcome) &&
                      (row.error.empty() || row.error == error);
    if (fits) return &row;
  }
  return nullptr;
}

std::string for_node(std::string_view action, const std::string& node) {
  std::string text{action};
  const auto at = text.find("NODE");
  if (at != text.npos) text.replace(at, 4, node);
  return text;
}

bool asks_for_hands(const record::StepRecord& step) {
  return !step.needs.empty() && (step.outcome == "needs hands" || step.outcome == "suspect BMC");
}

/// One way for one thing: the audit and the verdict may both have asked for it.
bool is_asked_for(const std::vector<Hand>& hands, const Hand& hand) {
  return std::ranges::any_of(hands, [&](const Hand& each) {
    return each.node == hand.node && each.part == hand.part && each.action.starts_with(hand.action);
  });
}

Hand at(const RunSummary& summary, const NodeSummary& node) {
  Hand hand;
  hand.run = summary.run.id;
  hand.rack = node.position.rack;
  hand.unit = node.position.unit;
  hand.node = node.record.node;
  return hand;
}

/// What the step itself asked for.
void add_needs(const RunSummary& summary, const NodeSummary& node, const record::StepRecord& step,
               std::vector<Hand>& hands) {
  for (const auto& need : step.needs) {
    auto hand = at(summary, node);
    hand.part = need.part;
    hand.step = step.name;
    hand.action = need.action;
    if (!need.goes_on)
      hand.action += fmt::format("; then: cupel retry {} {} --from bmc-facts", hand.run, hand.node);
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
    const auto* row = row_of(step.name, step.outcome, step.error);
    if (row == nullptr) continue;
    auto hand = at(summary, node);
    hand.step = step.name;
    hand.action = row->action.empty() ? step.detail : for_node(row->action, node.record.node);
    hand.why = row->action.empty() ? step.outcome : step.detail;
    hand.at_the_rack = row->at_the_rack;
    hand.goes_on = row->goes_on;
    hands.push_back(std::move(hand));
  }
}

/// Causes that name a remedy: a part to reseat, to replace, to clean.
void add_causes(const RunSummary& summary, const NodeSummary& node, std::vector<Hand>& hands) {
  if (!node.record.verdict) return;
  for (const auto& cause : node.causes) {
    if (cause.decision != burnin::Decision::fail || cause.remedy.empty()) continue;
    auto hand = at(summary, node);
    hand.part = cause.part;
    hand.step = "verdict";
    hand.action = cause.remedy;
    hand.why = burnin::to_string(cause);
    if (!is_asked_for(hands, hand)) hands.push_back(std::move(hand));
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
    if (const auto say = step->with.find("say"); say != step->with.end())
      told[step->name] = ": " + say->second;
  }
  const auto desk = [&](std::string step, std::string action, std::string why) {
    Hand hand;
    hand.run = summary.run.id;
    hand.step = std::move(step);
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
         fmt::format("look at the failures; then: cupel release {}{}{}", summary.run.id,
                     step.empty() ? "" : " ", step),
         "halted: " + why);
}

}  // namespace

bool may_be_mended(const record::StepRecord& step) {
  if (asks_for_hands(step)) return std::ranges::all_of(step.needs, &record::Needed::goes_on);
  const auto* row = row_of(step.name, step.outcome, step.error);
  return row != nullptr && row->goes_on;
}

std::vector<Hand> hands_of(const RunSummary& summary, const engine::RunState& state) {
  std::vector<Hand> hands;
  add_desk(summary, state, hands);
  for (const auto& node : summary.nodes) {
    add_steps(summary, node, hands);
    add_causes(summary, node, hands);
  }
  std::ranges::stable_sort(hands, [](const Hand& a, const Hand& b) {
    return std::tie(a.at_the_rack, a.rack, a.unit) < std::tie(b.at_the_rack, b.rack, b.unit);
  });
  return hands;
}

std::string to_text(const std::vector<Hand>& hands, std::size_t width) {
  std::vector<std::array<std::string, 3>> places{{"where", "node", "part"}};
  for (const auto& hand : hands) {
    const auto place = hand.at_the_rack && !hand.rack.empty()
                           ? fmt::format("{} U{}", hand.rack, hand.unit)
                           : std::string{hand.at_the_rack ? "rack not told" : "desk"};
    places.push_back({place, hand.node, hand.part});
  }
  std::array<std::size_t, 3> widths{};
  for (const auto& place : places)
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], place[i].size());
  const auto indent = widths[0] + widths[1] + widths[2] + 6;
  std::string text;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [where, node, part] = places[i];
    const auto action = i == 0 ? "what to do" : printable(hands[i - 1].action);
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", where, widths[0], node, widths[1], part,
                        widths[2], wrapped(action, indent, width));
    if (i == 0) continue;
    const auto& hand = hands[i - 1];
    const auto why = printable(hand.step) + ": " + printable(hand.why);
    text += std::string(indent, ' ') + wrapped(why, indent, width) + "\n";
  }
  return text;
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
    all.push_back(std::move(object));
  }
  return all;
}

}  // namespace cupel::report
