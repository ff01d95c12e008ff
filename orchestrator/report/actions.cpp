#include "orchestrator/report/actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <map>
#include <set>
#include <tuple>

#include "base/json.h"
#include "burnin/consequences.h"
#include "burnin/criteria/causes.h"
#include "burnin/stage.h"
#include "burnin/verdict_text.h"
#include "orchestrator/report/advice.h"
#include "orchestrator/report/subject_json.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::report {
namespace {

/// One way for one thing: the audit and the verdict may both have asked for it.
OperatorAction* asked_for(std::vector<OperatorAction>& actions, const OperatorAction& item) {
  const auto found = std::ranges::find_if(actions, [&](const OperatorAction& each) {
    return each.part == item.part && each.action.starts_with(item.action);
  });
  return found == actions.end() ? nullptr : &*found;
}

OperatorAction at(const RunSummary& summary, const NodeSummary& node, std::string_view action) {
  OperatorAction item;
  item.run = summary.run.id;
  item.rack = node.position.rack;
  item.unit = node.position.unit;
  item.node = node.record.node;
  item.action = action_for(action, item.run, item.node);
  item.pattern = action_for(action, item.run, "NODE");
  return item;
}

/// The audit asks for a part before other nodes say which one it is; the verdict may name it.
bool is_named_by_verdict(const NodeSummary& node, const record::StepRecord& step,
                         const record::Needed& need) {
  const auto kind = inventory::part_kind(need.part);
  if (!kind || burnin::base_name(step.name) != "audit" || !node.record.verdict) return false;
  const auto of_kind = fmt::format(" {}s", need.part);
  return std::ranges::any_of(node.causes, [&](const burnin::Cause& each) {
    return each.criterion == "audit: missing" && each.part != need.part &&
           each.expected.ends_with(of_kind);
  });
}

/// A command in the action takes the node on by itself.
bool goes_on_by_command(std::string_view action) {
  constexpr std::string_view kName = "cupel";
  constexpr std::string_view kCommands[] = {" retry ", " run ", " resume ", " firmware continue ",
                                            " firmware rewrite "};
  for (auto at = action.find(kName); at != action.npos; at = action.find(kName, at + 1)) {
    const auto command = action.substr(at + kName.size());
    if (std::ranges::any_of(kCommands, [&](auto it) { return command.starts_with(it); }))
      return true;
  }
  return false;
}

/// What follows what a person did: what the audit missed is looked for anew; any other step looks
/// by itself.
std::string_view then_of(const record::StepRecord& step, const record::Needed& need) {
  if (need.goes_on || goes_on_by_command(need.action)) return "";
  return burnin::base_name(step.name) == "audit" ? "; then: cupel retry RUN NODE --from bmc-facts"
                                                 : "; then: cupel retry RUN NODE";
}

/// What the step itself asked for.
void add_needs(const RunSummary& summary, const NodeSummary& node, const record::StepRecord& step,
               std::vector<OperatorAction>& actions) {
  for (const auto& need : step.needs) {
    if (is_named_by_verdict(node, step, need)) continue;
    auto item = at(summary, node, need.action + std::string{then_of(step, need)});
    item.part = need.part;
    item.step = step.name;
    item.why = step.detail.empty() ? step.outcome : step.detail;
    item.goes_on = need.goes_on;
    actions.push_back(std::move(item));
  }
}

void add_steps(const RunSummary& summary, const NodeSummary& node,
               std::vector<OperatorAction>& actions) {
  for (const auto& step : node.record.steps) {
    if (asks_for_operator(step)) {
      add_needs(summary, node, step, actions);
      continue;
    }
    const auto* advice = advice_for(step);
    if (advice == nullptr) continue;
    const bool by_itself = advice->action.empty();
    auto item = at(summary, node, by_itself ? std::string_view{step.detail} : advice->action);
    item.step = step.name;
    item.why = by_itself ? step.outcome : step.detail;
    item.at_the_rack = advice->at_the_rack;
    item.goes_on = advice->goes_on;
    actions.push_back(std::move(item));
  }
}

/// The steps in which it was found out: "gpu-burn"; "audit" of "audit: missing".
std::vector<std::string> steps_of(const burnin::Cause& cause) {
  if (!cause.stages.empty()) return cause.stages;
  for (const std::string_view word : {"step ", "stage "})
    if (cause.criterion.starts_with(word)) return {cause.criterion.substr(word.size())};
  const auto colon = cause.criterion.find(": ");
  return colon == cause.criterion.npos ? std::vector<std::string>{}
                                       : std::vector{cause.criterion.substr(0, colon)};
}

/// Whether a retry was accepted of the step that measured it, which is not over yet. `stage` may be
/// a log of the step, or what worked beside it: "kernel-log@gemm".
bool comes_again(const NodeSummary& node, std::string_view stage) {
  return std::ranges::any_of(node.record.steps, [&](const record::StepRecord& step) {
    return step.outcome.empty() && (stage == step.name || stage.ends_with("@" + step.name));
  });
}

/// Without those of which every step is repeated, and without what follows from them: there is
/// nothing to do before it is over.
std::vector<burnin::Cause> standing_causes(const RunSummary& summary, const NodeSummary& node) {
  auto causes = node.causes;
  if (summary.run.phase != engine::RunPhase::running) return causes;
  std::set<std::string> repeated;
  std::erase_if(causes, [&](const burnin::Cause& cause) {
    const auto steps = steps_of(cause);
    const bool all = !steps.empty() && std::ranges::all_of(steps, [&](const std::string& step) {
      return comes_again(node, step);
    });
    if (all) repeated.insert(burnin::cause_name(cause));
    return all;
  });
  for (const auto& cause : causes) repeated.erase(burnin::cause_name(cause));
  std::erase_if(
      causes, [&](const burnin::Cause& cause) { return repeated.contains(cause.consequence_of); });
  return causes;
}

/// Causes that name a remedy: a part to reseat, to replace, to clean. Consequences name none of
/// their own.
void add_causes(const RunSummary& summary, const NodeSummary& node,
                const std::vector<burnin::Cause>& causes, std::vector<OperatorAction>& actions) {
  if (!node.record.verdict) return;
  for (auto& [cause, consequences] : burnin::explained(causes)) {
    if (cause.decision != burnin::Decision::fail || cause.remedy.empty()) continue;
    auto item = at(summary, node, cause.remedy);
    item.part = cause.part;
    item.step = "verdict";
    item.why = burnin::to_string(cause);
    item.consequences = std::move(consequences);
    const auto diagnosis = burnin::causes().diagnose(cause, causes, node.record.findings);
    if (diagnosis && diagnosis->is_open()) {
      item.likely = burnin::suspects_text(*diagnosis);
      item.apart = action_for(diagnosis->apart, item.run, item.node);
    }
    auto* known = asked_for(actions, item);
    if (known == nullptr) {
      actions.push_back(std::move(item));
      continue;
    }
    std::ranges::move(item.consequences, std::back_inserter(known->consequences));
    if (known->likely.empty()) {
      known->likely = std::move(item.likely);
      known->apart = std::move(item.apart);
    }
  }
}

/// A node about which something was not found out is one way to one place: not a part, but what
/// kept it from being read.
void add_open(const RunSummary& summary, const NodeSummary& node,
              const std::vector<burnin::Cause>& causes, std::vector<OperatorAction>& actions) {
  constexpr std::size_t kReasons = 3;
  const bool is_open = node.record.verdict && actions.empty() && !causes.empty() &&
                       node.record.verdict->decision == burnin::Decision::inconclusive;
  if (!is_open) return;
  const auto known =
      std::ranges::find_if(causes, [](const burnin::Cause& each) { return !each.remedy.empty(); });
  auto item =
      at(summary, node,
         known == causes.end()
             ? std::string_view{"find out the reason; then measure the node again in a new run"}
             : std::string_view{known->remedy});
  item.step = "verdict";
  item.at_the_rack = false;
  for (std::size_t i = 0; i < std::min(kReasons, causes.size()); ++i)
    item.why += (i == 0 ? "" : "; ") + burnin::to_string(causes[i]);
  if (causes.size() > kReasons) item.why += fmt::format("; and {} more", causes.size() - kReasons);
  actions.push_back(std::move(item));
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
void add_desk(const RunSummary& summary, const engine::RunState& state,
              std::vector<OperatorAction>& actions) {
  std::map<std::string, std::size_t> waiting;
  std::map<std::string, std::string> reported;  // to whoever approves
  for (const auto& [name, node] : state.nodes) {
    const auto* step = awaits_approval(node);
    if (step == nullptr) continue;
    ++waiting[step->name];
    if (const auto message = step->with.find("message"); message != step->with.end())
      reported[step->name] = ": " + message->second;
  }
  const auto handler = [&](std::string step, std::string action, std::string why) {
    OperatorAction item;
    item.run = summary.run.id;
    item.step = std::move(step);
    item.pattern = action;
    item.action = std::move(action);
    item.why = std::move(why);
    item.at_the_rack = false;
    item.goes_on = true;
    actions.push_back(std::move(item));
  };
  for (const auto& [step, nodes] : waiting)
    handler(step, fmt::format("cupel approve {} {}", summary.run.id, step),
            fmt::format("{} nodes wait for approval{}", nodes, reported[step]));
  for (const auto& [step, why] : state.halts)
    handler(step,
            fmt::format("look at the failures; then: cupel continue {}{}{}", summary.run.id,
                        step.empty() ? "" : " ", step),
            fmt::format("halted{}: {}", step.empty() ? " behind the canary" : "", why));
}

}  // namespace

bool may_be_mended(const record::StepRecord& step) {
  if (asks_for_operator(step)) return std::ranges::all_of(step.needs, &record::Needed::goes_on);
  const auto* advice = advice_for(step);
  return advice != nullptr && advice->goes_on;
}

std::vector<OperatorAction> actions_of(const RunSummary& summary, const engine::RunState& state) {
  std::vector<OperatorAction> actions;
  add_desk(summary, state, actions);
  for (const auto& node : summary.nodes) {
    std::vector<OperatorAction> of_node;
    add_steps(summary, node, of_node);
    const auto causes = standing_causes(summary, node);
    add_causes(summary, node, causes, of_node);
    add_open(summary, node, causes, of_node);
    std::ranges::move(of_node, std::back_inserter(actions));
  }
  sort_for_walking(actions);
  return actions;
}

void sort_for_walking(std::vector<OperatorAction>& actions) {
  std::ranges::stable_sort(actions, [](const OperatorAction& a, const OperatorAction& b) {
    return std::tie(a.at_the_rack, a.rack, a.unit) < std::tie(b.at_the_rack, b.rack, b.unit);
  });
}

boost::json::array to_json(const std::vector<OperatorAction>& actions) {
  boost::json::array all;
  for (const auto& item : actions) {
    boost::json::object object{{"run", item.run},   {"where", item.at_the_rack ? "rack" : "desk"},
                               {"step", item.step}, {"action", item.action},
                               {"why", item.why},   {"goes_on_by_itself", item.goes_on}};
    if (!item.rack.empty()) object["rack"] = item.rack;
    if (item.unit != 0) object["unit"] = item.unit;
    if (!item.node.empty()) object["node"] = item.node;
    if (!item.part.empty()) object["part"] = item.part;
    put_subject(object, item.part);
    boost::json::array explains;
    for (const auto& each : item.consequences) explains.emplace_back(burnin::cause_name(each));
    if (!explains.empty()) object["explains"] = std::move(explains);
    if (!item.likely.empty()) object["equally_likely"] = item.likely;
    if (!item.apart.empty()) object["next_test"] = item.apart;
    all.push_back(std::move(object));
  }
  return all;
}

std::vector<OperatorAction> actions_from(const boost::json::value& array) {
  std::vector<OperatorAction> actions;
  if (!array.is_array()) return actions;
  for (const auto& each : array.get_array()) {
    const auto text = [&](std::string_view key) { return text_at(each, key).value_or(""); };
    OperatorAction item;
    item.run = static_cast<engine::RunId>(number_at(each, "run").value_or(0));
    item.unit = static_cast<int>(number_at(each, "unit").value_or(0));
    item.rack = text("rack");
    item.node = text("node");
    item.part = text("part");
    item.step = text("step");
    item.action = text("action");
    item.why = text("why");
    item.likely = text("equally_likely");
    item.apart = text("next_test");
    item.at_the_rack = text("where") == "rack";
    item.goes_on = flag_at(each, "goes_on_by_itself") == true;
    item.pattern = item.action;
    // In commands of it, the node's name stands for itself.
    for (auto at = item.pattern.find(item.node); !item.node.empty() && at != item.pattern.npos;
         at = item.pattern.find(item.node, at + 4))
      item.pattern.replace(at, item.node.size(), "NODE");
    if (const auto* explains = find(each, "explains"); explains != nullptr && explains->is_array())
      for (const auto& name : explains->get_array()) {
        burnin::Cause cause;
        if (name.is_string()) cause.criterion = name.get_string();
        item.consequences.push_back(std::move(cause));
      }
    actions.push_back(std::move(item));
  }
  return actions;
}

}  // namespace cupel::report
