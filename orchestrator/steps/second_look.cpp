#include "orchestrator/steps/second_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "burnin/criteria/compared_causes.h"
#include "burnin/criteria/fleet_measures.h"
#include "burnin/criteria/robust.h"
#include "burnin/undo.h"
#include "inventory/node.h"
#include "inventory/node_range.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/fleet_codec.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {
namespace {

using burnin::Compared;
using engine::Event;
using engine::NodeState;
using engine::StepState;
using playbooks::PlannedStep;
using playbooks::StepKind;
using Strings = std::vector<std::string>;

/// So many healthy nodes are measured beside one: the second is for the case that the first fails.
constexpr std::size_t kBeside = 2;

/// What is over when this step begins, and changes nothing of the machine.
bool leaves_as_it_is(const PlannedStep& step) {
  if (step.kind == StepKind::stage) return burnin::undone_by(step.name) == nullptr;
  return step.kind == StepKind::bmc_facts || step.kind == StepKind::audit ||
         step.kind == StepKind::verdict;
}

/// The stage as it was planned, where it can be done again in front of the verdict `judging`.
const StepState* repeatable(const NodeState& node, std::string_view stage,
                            const PlannedStep& judging) {
  if (node.planned == nullptr) return nullptr;
  const auto& steps = *node.planned;
  const auto at = std::ranges::find(steps, stage, &PlannedStep::name);
  const auto end = std::ranges::find(steps, judging.name, &PlannedStep::name);
  const bool is_planned = at < end && end != steps.end() && at->kind == StepKind::stage;
  if (!is_planned || at->together != playbooks::Together::alone) return nullptr;
  if (!std::all_of(at + 1, end, leaves_as_it_is)) return nullptr;
  const auto place = static_cast<std::size_t>(at - steps.begin());
  return place < node.steps.size() ? &node.steps[place] : nullptr;
}

const StepState* step_of(const NodeState& node, std::string_view name) {
  if (node.planned == nullptr) return nullptr;
  for (std::size_t i = 0; i < std::min(node.planned->size(), node.steps.size()); ++i)
    if ((*node.planned)[i].name == name) return &node.steps[i];
  return nullptr;
}

/// What comes behind a verdict may have given the machine away: it stays so where the verdict alone
/// is made again.
bool went_on(const NodeState& node, const PlannedStep& judging) {
  const auto& steps = *node.planned;
  const auto at = std::ranges::find(steps, judging.name, &PlannedStep::name);
  const auto behind = static_cast<std::size_t>(at - steps.begin()) + 1;
  return std::any_of(
      node.steps.begin() + static_cast<std::ptrdiff_t>(std::min(behind, node.steps.size())),
      node.steps.end(), [](const StepState& each) { return each.attempt > 0; });
}

enum class Reach {
  none,       // handed over, not measured, or the stage cannot be done again
  judged,     // its verdict is being made
  sent_back,  // it does the stage again
};

/// Whether a node can still be measured again in the stage.
Reach reach_of(const engine::RunState& run, const std::string& name, std::string_view stage,
               const PlannedStep& judging) {
  const auto node = run.nodes.find(name);
  if (node == run.nodes.end()) return Reach::none;
  const auto* measured = repeatable(node->second, stage, judging);
  const auto* judged = step_of(node->second, judging.name);
  if (measured == nullptr || judged == nullptr || judged->attempt == 0) return Reach::none;
  if (went_on(node->second, judging)) return Reach::none;
  if (!measured->over()) return Reach::sent_back;
  const bool is_open =
      measured->phase == StepState::Phase::done && judged->phase == StepState::Phase::running;
  return is_open ? Reach::judged : Reach::none;
}

/// Who is measured beside whom: every node comes to the same by itself.
class Chooser {
 public:
  Chooser(FleetBoard& board, const engine::StepRequest& request)
      : board_{board}, request_{request} {}

  const std::string& own() const { return request_.node.name; }
  Reach reach(const std::string& node, std::string_view stage) const {
    return reach_of(*request_.run_state, node, stage, request_.step);
  }

  /// Healthy nodes to measure beside `other`.
  Strings beside(const std::string& stage, const std::string& other) const {
    Strings found;
    for (const auto& each : nodes_in(stage)) {
      if (found.size() == kBeside) break;
      if (each.is_alike && each.node != other && reach(each.node, stage) != Reach::none)
        found.push_back(each.node);
    }
    return found;
  }

  /// Nodes that stand out in the stage, are so far, and beside which this one is to be measured.
  Strings needed_by(const std::string& stage, Reach so_far) const {
    Strings found;
    for (const auto& each : nodes_in(stage)) {
      if (!each.stands_out || each.node == own() || reach(each.node, stage) != so_far) continue;
      const auto healthy = beside(stage, each.node);
      if (std::ranges::find(healthy, own()) != healthy.end()) found.push_back(each.node);
    }
    return found;
  }

  /// The stages of this node's plan.
  Strings stages() const {
    Strings names;
    const auto node = request_.run_state->nodes.find(own());
    if (node == request_.run_state->nodes.end() || node->second.planned == nullptr) return names;
    for (const auto& step : *node->second.planned)
      if (step.kind == StepKind::stage) names.push_back(step.name);
    return names;
  }

 private:
  std::span<const burnin::NodeInStage> nodes_in(const std::string& stage) const {
    return board_.nodes_in(request_.node.profile, stage);
  }

  FleetBoard& board_;
  const engine::StepRequest& request_;
};

void add_new(Strings& to, const Strings& names) {
  for (const auto& each : names)
    if (std::ranges::find(to, each) == to.end()) to.push_back(each);
}

/// Stands out from other nodes, and was seen so once.
bool is_seen_once(const Compared& compared) {
  return compared.against == burnin::Against::fleet &&
         compared.found == burnin::Likeness::outlier && compared.again.empty();
}

Strings names_in(const Event& event, std::string_view key) {
  constexpr std::size_t kMost = 1000;
  Strings names;
  const auto* list = event.data.if_contains(key);
  if (list == nullptr || !list->is_array()) return names;
  for (const auto& each : list->get_array())
    if (each.is_string() && names.size() < kMost)
      names.emplace_back(std::string_view{each.get_string()});
  return names;
}

bool asks_again(const Event& event) {
  return event.kind == engine::EventKind::step_ended && event.data.contains(engine::kAgain);
}

bool is_by_a_person(const Event& event) {
  return event.kind == engine::EventKind::node_retried && !event.data.contains("refused") &&
         engine::text_in(event, "by") != engine::kByItself;
}

using Rates = std::map<std::pair<std::string, std::string>, double>;  // by measure and part

Rates rates_of(const Event& event) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> all;
  for (const auto& each : record::findings_from(event.data).measurements)
    if (burnin::is_fleet_measure(each.name) && each.value > 0)
      all[{each.name, each.part}].push_back(each.value);
  Rates values;
  for (auto& [key, some] : all) values[key] = burnin::median(std::move(some));
  return values;
}

/// What a healthy node lost between its two looks, as a factor.
struct Loss {
  std::string node{};
  double factor = 1;  // never for the better
};

/// Of the healthy nodes the one that lost most; nothing where none was measured again. Errors:
/// those of `events_of`.
Result<std::optional<Loss>> loss_beside(const SecondLook& look, const EventsOf& events_of,
                                        const Compared& part) {
  std::optional<Loss> most;
  for (const auto& node : look.beside) {
    TRY(const auto events, events_of(node));
    const auto changes = change_of(events, part.stage);
    const auto change = changes.find(part.measure);
    if (change == changes.end()) continue;
    const double factor =
        part.less_is_better ? std::max(1.0, change->second) : std::min(1.0, change->second);
    const bool is_more =
        !most || (part.less_is_better ? factor > most->factor : factor < most->factor);
    if (is_more) most = Loss{node, factor};
  }
  return most;
}

bool is_same_number(const Compared& a, const Compared& b) {
  return a.against == b.against && a.stage == b.stage && a.measure == b.measure && a.part == b.part;
}

/// Against what a healthy part would have reached now.
void allow_for(Compared& part, double factor) {
  part.expected *= factor;
  part.limit *= factor;
  if (part.less_is_better ? part.value <= part.limit : part.value >= part.limit)
    part.found = burnin::Likeness::slow;
}

/// "gpu5: hbm.copy".
std::string name_of(const Compared& part) {
  return part.part.empty() ? part.measure : part.part + ": " + part.measure;
}

/// What became of one part at its second look; empty: it stands out again. Errors: those of
/// `events_of`.
Result<std::string> became_of(const Compared& before, const SecondLook& look,
                              const EventsOf& events_of, std::vector<Compared>& compared) {
  const auto now = std::ranges::find_if(
      compared, [&](const Compared& each) { return is_same_number(each, before); });
  const auto first =
      fmt::format("{} stood out at first ({:.6g}{}{}, where {:.6g} was expected)", name_of(before),
                  before.value, before.unit.empty() ? "" : " ", before.unit, before.expected);
  if (now == compared.end() || now->found != burnin::Likeness::outlier)
    return first + ", and not when it was measured again";
  if (!is_seen_once(*now)) return std::string{};
  TRY(const auto loss, loss_beside(look, events_of, before));
  if (!loss) return first + "; it was measured again, and no healthy node beside it";
  allow_for(*now, loss->factor);
  if (now->found != burnin::Likeness::outlier)
    return fmt::format(
        "{}; when it was measured again, {} beside it was {:.2g} % worse than before", first,
        loss->node, 100 * std::abs(1 - loss->factor));
  const auto when =
      fmt::format("its first look of this run, and {} was well beside it", loss->node);
  burnin::mark_repeated(compared, std::span{&before, 1}, when);
  return std::string{};
}

}  // namespace

std::string SecondLook::words() const {
  const auto others = inventory::fold(beside);
  if (stood_out.empty())
    return fmt::format("measured again ({}) beside {}, where a part stands out",
                       fmt::join(stages, ", "), others);
  const auto more = stood_out.size() - 1;
  return fmt::format("{} stands out{}: measured again ({}) beside {}", name_of(stood_out.front()),
                     more == 0 ? "" : fmt::format(", and {} more", more), fmt::join(stages, ", "),
                     others);
}

json::object to_json(const SecondLook& look) {
  json::object object;
  object[engine::kAgain] = boost::json::value_from(look.stages);
  object["along_with"] = boost::json::value_from(look.beside);
  if (!look.stood_out.empty()) object["stood_out"] = record::to_json(look.stood_out);
  return object;
}

std::optional<SecondLook> second_look_of(std::span<const Event> of_node) {
  std::optional<SecondLook> look;
  for (const auto& event : of_node) {
    if (is_by_a_person(event)) look.reset();
    if (!asks_again(event)) continue;
    look = SecondLook{names_in(event, engine::kAgain), names_in(event, "along_with"),
                      record::compared_from(event.data.if_contains("stood_out"))};
  }
  return look;
}

std::optional<SecondLook> second_look_for(FleetBoard& board, const engine::StepRequest& request,
                                          std::span<const Compared> compared,
                                          const burnin::Verdict& verdict) {
  if (!std::ranges::all_of(verdict.causes, burnin::is_to_be_repeated)) return std::nullopt;
  const Chooser chooser{board, request};
  SecondLook look;
  for (const auto& each : compared) {
    if (!is_seen_once(each)) continue;
    const auto beside = chooser.beside(each.stage, chooser.own());
    if (beside.empty() || chooser.reach(chooser.own(), each.stage) != Reach::judged)
      return std::nullopt;
    look.stood_out.push_back(each);
    add_new(look.stages, {each.stage});
    add_new(look.beside, beside);
  }
  if (look.stages.empty()) return std::nullopt;
  return look;
}

std::optional<SecondLook> look_beside_others(FleetBoard& board,
                                             const engine::StepRequest& request) {
  const Chooser chooser{board, request};
  SecondLook look;
  for (const auto& stage : chooser.stages()) {
    const auto others = chooser.needed_by(stage, Reach::sent_back);
    if (others.empty()) continue;
    look.stages.push_back(stage);
    add_new(look.beside, others);
  }
  if (look.stages.empty()) return std::nullopt;
  return look;
}

std::string may_be_needed_by(FleetBoard& board, const engine::StepRequest& request) {
  const Chooser chooser{board, request};
  for (const auto& stage : chooser.stages())
    if (const auto others = chooser.needed_by(stage, Reach::judged); !others.empty())
      return others.front();
  return {};
}

std::string looks_again(const engine::RunState& run, const SecondLook& look) {
  for (const auto& name : look.beside) {
    const auto node = run.nodes.find(name);
    if (node == run.nodes.end() || node->second.planned == nullptr) continue;
    const auto is_busy = [&](const std::string& stage) {
      const auto* step = step_of(node->second, stage);
      return step != nullptr && !step->over();
    };
    if (std::ranges::any_of(look.stages, is_busy)) return name;
    const auto& steps = *node->second.planned;
    for (std::size_t i = 0; i < std::min(steps.size(), node->second.steps.size()); ++i)
      if (steps[i].kind == StepKind::verdict &&
          node->second.steps[i].phase == StepState::Phase::running)
        return name;
  }
  return {};
}

std::map<std::string, double> change_of(std::span<const Event> of_node, const std::string& stage) {
  Rates first, newest;
  bool is_second = false;
  for (const auto& event : of_node) {
    if (is_by_a_person(event)) is_second = false;
    if (asks_again(event)) {
      const auto stages = names_in(event, engine::kAgain);
      if (std::ranges::find(stages, stage) == stages.end()) continue;
      first = std::exchange(newest, {});
      is_second = true;
    }
    const bool measured = event.kind == engine::EventKind::step_ended && event.step == stage &&
                          event.data.contains("measurements");
    if (measured) newest = rates_of(event);
  }
  std::map<std::string, std::vector<double>> shares;
  if (is_second)
    for (const auto& [key, value] : newest)
      if (const auto before = first.find(key); before != first.end())
        shares[key.first].push_back(value / before->second);
  std::map<std::string, double> change;
  for (auto& [measure, all] : shares) change[measure] = burnin::median(std::move(all));
  return change;
}

Result<Strings> hold_against_first_look(const SecondLook& look, const EventsOf& events_of,
                                        std::vector<Compared>& compared) {
  Strings said;
  for (const auto& before : look.stood_out) {
    TRY(auto words, became_of(before, look, events_of, compared));
    if (!words.empty()) said.push_back(std::move(words));
  }
  return said;
}

}  // namespace cupel::steps
