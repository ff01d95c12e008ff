#include "orchestrator/steps/second_look.h"

#include <fmt/format.h>

#include <algorithm>

#include "burnin/criteria/compared_causes.h"
#include "burnin/criteria/fleet_reference.h"
#include "burnin/undo.h"
#include "inventory/node.h"
#include "inventory/node_range.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/engine/fold.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/fleet_codec.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/steps/first_looks.h"
#include "orchestrator/steps/peers.h"
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

/// So many healthy nodes are measured beside one: one is enough, the others are for the case that
/// it fails, or is slow by then.
constexpr std::size_t kBeside = 4;

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
  const auto place = static_cast<std::size_t>(at - steps.begin());
  if (place >= node.steps.size()) return nullptr;
  for (auto step = at + 1; step != end; ++step) {
    const auto i = static_cast<std::size_t>(step - steps.begin());
    const bool skipped = i < node.steps.size() && node.steps[i].phase == StepState::Phase::skipped;
    if (!skipped && !leaves_as_it_is(*step)) return nullptr;
  }
  return &node.steps[place];
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

/// Whether the node has done the stage, its verdict is not given yet, and it can still be measured
/// again in it. `may_be_busy`: it may be doing it just now.
bool is_in_reach(const engine::RunState& run, const std::string& name, std::string_view stage,
                 const PlannedStep& judging, bool may_be_busy) {
  const auto node = run.nodes.find(name);
  if (node == run.nodes.end()) return false;
  const auto* measured = repeatable(node->second, stage, judging);
  const auto* judged = step_of(node->second, judging.name);
  if (measured == nullptr || judged == nullptr || judged->attempt == 0) return false;
  if (went_on(node->second, judging) || judged->over()) return false;
  if (may_be_busy) return true;
  return measured->phase == StepState::Phase::done && judged->phase == StepState::Phase::running;
}

bool is_among(const Strings& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Who is measured beside whom.
class Chooser {
 public:
  Chooser(FleetBoard& board, const engine::StepRequest& request, const EventsOf& events_of)
      : board_{board}, request_{request}, events_of_{events_of} {}

  const std::string& own() const { return request_.node.name; }
  bool reaches(const std::string& node, std::string_view stage, bool may_be_busy = false) const {
    return is_in_reach(*request_.run_state, node, stage, request_.step, may_be_busy);
  }

  /// Healthy nodes to measure beside this one.
  Result<Strings> beside(const std::string& stage, const PassesSoFar& passes) const {
    constexpr std::size_t kMostAsked = 32;
    Strings found;
    std::size_t asked = 0;
    for (const auto& each : nodes_in(stage)) {
      if (found.size() == kBeside || asked == kMostAsked) break;
      if (!each.is_alike || each.node == own() || !reaches(each.node, stage)) continue;
      ++asked;
      TRY(const auto look, look_of(each.node));
      if (look) continue;
      TRY(const bool is_healthy, passes(each.node));
      if (is_healthy) found.push_back(each.node);
    }
    return found;
  }

  /// Nodes that do the stage again, and name this one.
  Result<Strings> named_by(const std::string& stage) const {
    Strings found;
    if (!reaches(own(), stage)) return found;
    for (const auto& each : nodes_in(stage)) {
      if (!each.stands_out || each.node == own() || !reaches(each.node, stage, true)) continue;
      TRY(const auto look, look_of(each.node));
      if (look && !look->stood_out.empty() && is_among(look->stages, stage) &&
          is_among(look->beside, own()))
        found.push_back(each.node);
    }
    return found;
  }

  /// A node that may come to name this one; empty: none.
  Result<std::string> may_be_named_by(const std::string& stage) const {
    const auto nodes = nodes_in(stage);
    const auto self = std::ranges::find(nodes, own(), &burnin::NodeInStage::node);
    if (self == nodes.end() || !self->is_alike || !reaches(own(), stage)) return std::string{};
    for (const auto& each : nodes) {
      if (!each.stands_out || each.node == own() || !reaches(each.node, stage)) continue;
      TRY(const auto look, look_of(each.node));
      if (!look) return each.node;
    }
    return std::string{};
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
  Result<std::optional<SecondLook>> look_of(const std::string& node) const {
    TRY(const auto events, events_of_(node));
    return second_look_of(events);
  }

  FleetBoard& board_;
  const engine::StepRequest& request_;
  const EventsOf& events_of_;
};

void add_new(Strings& to, const Strings& names) {
  for (const auto& each : names)
    if (!is_among(to, each)) to.push_back(each);
}

/// Stands out from other nodes, and was seen so once.
bool is_seen_once(const Compared& compared) {
  return compared.against == burnin::Against::fleet &&
         compared.found == burnin::Likeness::outlier && compared.again.empty();
}

/// What a node read in a stage that its verdict asked for again, beside what its like have: each of
/// its numbers that the reference can judge. Nothing where the stage was not done since.
std::optional<std::vector<Compared>> second_reading(const std::string& node,
                                                    std::span<const Event> of_node,
                                                    const std::string& stage,
                                                    const burnin::FleetReference& reference) {
  bool is_asked = false;
  const Event* newest = nullptr;
  for (const auto& event : of_node) {
    if (is_tried_by_a_person(event)) is_asked = false;
    if (asks_again(event)) {
      is_asked = is_among(names_under(event, engine::kAgain), stage);
      newest = nullptr;
    }
    if (event.kind == engine::EventKind::step_ended && event.step == stage) newest = &event;
  }
  const bool is_done = is_asked && newest != nullptr && newest->data.contains("measurements") &&
                       engine::text_in(*newest, "outcome") == to_string(engine::Outcome::done);
  if (!is_done) return std::nullopt;
  burnin::FindingsByStage findings = record::record_of(node, engine::fold(of_node)).findings;
  findings[stage] = record::findings_from(newest->data);
  auto compared = burnin::compare(reference, findings, true);
  std::erase_if(compared, [&](const Compared& each) { return each.stage != stage; });
  return compared;
}

/// Of a healthy node at its second look: no part stands out in the stage, and none is slow in the
/// measure.
bool is_as_before(const std::vector<Compared>& reading, const std::string& measure) {
  using burnin::Likeness;
  const bool is_measured = std::ranges::find(reading, measure, &Compared::measure) != reading.end();
  return is_measured && std::ranges::none_of(reading, [&](const Compared& each) {
           return each.found == Likeness::outlier || each.found == Likeness::doubtful ||
                  (each.found == Likeness::slow && each.measure == measure);
         });
}

/// What the second look of one node goes by.
struct Looking {
  const SecondLook& look;
  const std::string& node;
  const EventsOf& events_of;
  const burnin::FleetReference& reference;
};

/// A node that was sent back for the sake of this one, and is as it was before; empty: none.
/// Errors: those of `events_of`.
Result<std::string> well_beside(const Looking& looking, const Compared& part) {
  for (const auto& name : looking.look.beside) {
    TRY(const auto events, looking.events_of(name));
    const auto asked = second_look_of(events);
    if (!asked || !asked->stood_out.empty() || !is_among(asked->beside, looking.node)) continue;
    const auto reading = second_reading(name, events, part.stage, looking.reference);
    if (reading && is_as_before(*reading, part.measure)) return name;
  }
  return std::string{};
}

bool is_same_number(const Compared& a, const Compared& b) {
  return a.against == b.against && a.stage == b.stage && a.measure == b.measure && a.part == b.part;
}

/// The same number among those of the node, in place of what is there.
Compared& placed(std::vector<Compared>& compared, const Compared& number) {
  const auto there = std::ranges::find_if(
      compared, [&](const Compared& each) { return is_same_number(each, number); });
  if (there == compared.end()) return compared.emplace_back(number);
  return *there = number;
}

/// "gpu5: hbm.copy".
std::string name_of(const Compared& part) {
  return part.part.empty() ? part.measure : part.part + ": " + part.measure;
}

/// What became of one part at its second look; empty: it stands out again. Errors: those of
/// `events_of`.
Result<std::string> became_of(const Compared& before, const Looking& looking,
                              std::vector<Compared>& compared) {
  const auto first =
      fmt::format("{} stood out at first ({:.6g}{}{}, where {:.6g} was expected)", name_of(before),
                  before.value, before.unit.empty() ? "" : " ", before.unit, before.expected);
  TRY(const auto events, looking.events_of(looking.node));
  const auto reading = second_reading(looking.node, events, before.stage, looking.reference)
                           .value_or(std::vector<Compared>{});
  const auto now = std::ranges::find_if(
      reading, [&](const Compared& each) { return is_same_number(each, before); });
  if (now == reading.end()) {
    placed(compared, before).again.clear();
    return first + ", and was not measured again";
  }
  if (now->found == burnin::Likeness::doubtful)
    return first + ", and was in the worse of two groups when it was measured again";
  if (now->found != burnin::Likeness::outlier)
    return first + ", and not when it was measured again";
  auto& number = placed(compared, *now);
  TRY(const auto well, well_beside(looking, before));
  if (well.empty()) return first + "; it was measured again, and no healthy node beside it";
  burnin::mark_confirmed(
      number, before, fmt::format("its first look of this run, and {} was well beside it", well));
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
    if (is_tried_by_a_person(event)) look.reset();
    if (!asks_again(event)) continue;
    look = SecondLook{names_under(event, engine::kAgain), names_under(event, "along_with"),
                      record::compared_from(event.data.if_contains("stood_out"))};
  }
  return look;
}

Result<std::optional<SecondLook>> second_look_for(FleetBoard& board,
                                                  const engine::StepRequest& request,
                                                  const OtherNodes& others,
                                                  std::span<const Compared> compared,
                                                  const burnin::Verdict& verdict) {
  std::optional<SecondLook> none;
  if (!std::ranges::all_of(verdict.causes, burnin::is_to_be_repeated)) return none;
  const Chooser chooser{board, request, others.events_of};
  SecondLook look;
  for (const auto& each : compared) {
    if (!is_seen_once(each)) continue;
    if (!chooser.reaches(chooser.own(), each.stage)) return none;
    look.stood_out.push_back(each);
    add_new(look.stages, {each.stage});
  }
  for (const auto& stage : look.stages) {
    TRY(const auto beside, chooser.beside(stage, others.passes));
    if (beside.empty()) return none;
    add_new(look.beside, beside);
  }
  return look.stages.empty() ? none : std::optional{look};
}

Result<std::optional<SecondLook>> look_beside_others(FleetBoard& board,
                                                     const engine::StepRequest& request,
                                                     const EventsOf& events_of) {
  const Chooser chooser{board, request, events_of};
  SecondLook look;
  for (const auto& stage : chooser.stages()) {
    TRY(const auto others, chooser.named_by(stage));
    if (others.empty()) continue;
    look.stages.push_back(stage);
    add_new(look.beside, others);
  }
  return look.stages.empty() ? std::nullopt : std::optional{look};
}

Result<std::string> may_be_needed_by(FleetBoard& board, const engine::StepRequest& request,
                                     const EventsOf& events_of) {
  const Chooser chooser{board, request, events_of};
  for (const auto& stage : chooser.stages()) {
    TRY(const auto other, chooser.may_be_named_by(stage));
    if (!other.empty()) return other;
  }
  return std::string{};
}

Result<std::string> looks_again(const engine::StepRequest& request, const EventsOf& events_of,
                                const SecondLook& look) {
  if (look.stood_out.empty()) return std::string{};
  for (const auto& name : look.beside) {
    const auto node = request.run_state->nodes.find(name);
    if (node == request.run_state->nodes.end() || is_held_up(node->second)) continue;
    TRY(const auto events, events_of(name));
    const auto asked = second_look_of(events);
    const auto* judged = step_of(node->second, request.step.name);
    const bool may_be_sent = judged != nullptr && judged->phase == StepState::Phase::running;
    if (!asked && may_be_sent) return name;
    if (!asked || !is_among(asked->beside, request.node.name)) continue;
    const auto is_busy = [&](const std::string& stage) {
      const auto* step = step_of(node->second, stage);
      return is_among(asked->stages, stage) && step != nullptr && !step->over();
    };
    if (std::ranges::any_of(look.stages, is_busy)) return name;
  }
  return std::string{};
}

Result<Strings> hold_against_first_look(const SecondLook& look, const std::string& node,
                                        const EventsOf& events_of,
                                        const burnin::FleetReference& reference,
                                        std::vector<Compared>& compared) {
  for (auto& each : compared) each.again.clear();
  Strings texts;
  for (const auto& before : look.stood_out) {
    TRY(auto words, became_of(before, {look, node, events_of, reference}, compared));
    if (!words.empty()) texts.push_back(std::move(words));
  }
  return texts;
}

void leave_open_what_is_new(const SecondLook& look, burnin::Verdict& verdict) {
  using burnin::Decision;
  if (!look.stood_out.empty() || verdict.causes.empty()) return;
  for (auto& cause : verdict.causes) {
    const bool is_of_look = std::ranges::any_of(look.stages, [&](const std::string& stage) {
      return cause.criterion == "stage " + stage || is_among(cause.stages, stage);
    });
    if (is_of_look) cause.decision = Decision::inconclusive;
  }
  std::ranges::stable_sort(verdict.causes, {}, [](const burnin::Cause& cause) {
    return std::pair{cause.decision != Decision::fail, !cause.consequence_of.empty()};
  });
  verdict.decision = verdict.causes.front().decision;
}

}  // namespace cupel::steps
