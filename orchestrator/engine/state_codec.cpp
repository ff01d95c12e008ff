#include "orchestrator/engine/state_codec.h"

#include <algorithm>
#include <limits>

#include "base/json.h"
#include "base/strict_json.h"
#include "playbooks/plan.h"

namespace cupel::engine {
namespace {

/// A step of a node: where it stands in the list of the node's steps, and its
/// state.
struct SnapshotStep {
  std::size_t index = 0;
  StepState state{};
};

using StepNames = std::vector<std::string>;

struct SnapshotNode {
  std::size_t list = 0;  // of its steps
  std::vector<SnapshotStep> steps{};
  std::map<std::string, std::string> facts{};
};

BOOST_DESCRIBE_STRUCT(SnapshotStep, (), (index, state))
BOOST_DESCRIBE_STRUCT(SnapshotNode, (), (list, steps, facts))

}  // namespace

// In the order in which the fields stand. Another order, or another field, is
// another version.
BOOST_DESCRIBE_STRUCT(StepState, (),
                      (phase, attempt, tries, retries, outcome, began, ended, until, pause, spent,
                       overdue, handle, detail, ssh_lost, counted))
BOOST_DESCRIBE_STRUCT(Tally, (), (ended, failed))
BOOST_DESCRIBE_STRUCT(RunState, (),
                      (phase, began, ended, paused, halts, tallies, wave, pardoned, last_command,
                       last_sequence, strangers))

}  // namespace cupel::engine

namespace cupel::strict {

using engine::Outcome;
using engine::RunPhase;
using engine::StepState;

template <>
inline constexpr bool kFlat<StepState> = true;

template <>
struct Field<StepState::Phase> : NumberedField<StepState::Phase, StepState::Phase::skipped> {};

template <>
struct Field<StepState::Counted> : NumberedField<StepState::Counted, StepState::Counted::failed> {};

template <>
struct Field<Outcome> {
  static json::value put(Outcome outcome) { return json::value(to_string(outcome)); }
  static Read<Outcome> take(const json::value& value) {
    const auto word = Field<std::string>::take(value);
    return word ? engine::outcome_of(*word) : std::nullopt;
  }
};

template <>
struct Field<RunPhase> {
  static json::value put(RunPhase phase) { return json::value(to_string(phase)); }
  static Read<RunPhase> take(const json::value& value) {
    const auto word = Field<std::string>::take(value);
    return word ? engine::run_phase(*word) : std::nullopt;
  }
};

}  // namespace cupel::strict

namespace cupel::engine {
namespace {

constexpr std::int64_t kVersion = 2;

Error malformed() {
  return Error{Code::kMalformed, "the snapshot is not one that this Cupel wrote"};
}

/// What stands under a key; nothing where it is absent or not sound.
template <class T>
std::optional<T> field(const json::object& text, std::string_view key) {
  const auto* value = text.if_contains(key);
  return value == nullptr ? std::nullopt : strict::Field<T>::take(*value);
}

/// From a list's indices to the plan's; a step that the plan does not have is
/// nowhere.
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
std::vector<std::size_t> places(const StepNames& names,
                                const std::vector<playbooks::PlannedStep>& planned) {
  std::vector<std::size_t> found;
  for (const auto& name : names) {
    const auto at = std::ranges::find(planned, name, &playbooks::PlannedStep::name);
    found.push_back(at == planned.end() ? kNowhere
                                        : static_cast<std::size_t>(at - planned.begin()));
  }
  return found;
}

Result<void> read_node(const json::value& text, const std::vector<std::vector<std::size_t>>& lists,
                       NodeState& node) {
  SnapshotNode read;
  const bool sound =
      text.is_object() && strict::take_keys(text.get_object(), read) && read.list < lists.size();
  if (!sound) return malformed();
  const auto& place = lists[read.list];
  for (auto& step : read.steps) {
    if (step.index >= place.size()) return malformed();
    const auto mine = place[step.index];
    if (mine != kNowhere) node.steps[mine] = std::move(step.state);
  }
  node.facts = std::move(read.facts);
  return ok();
}

/// As SnapshotNode, without a copy of each state.
json::object node_text(const NodeState& node, std::size_t list) {
  json::array steps;
  for (std::size_t i = 0; i < node.steps.size(); ++i) {
    if (node.steps[i] == StepState{}) continue;
    json::array fields{i};
    strict::put_fields(fields, node.steps[i]);
    steps.push_back(std::move(fields));
  }
  return {{"list", list},
          {"steps", std::move(steps)},
          {"facts", strict::Field<std::map<std::string, std::string>>::put(node.facts)}};
}

}  // namespace

std::string encode(const RunState& state) {
  json::object text{{"version", kVersion}};
  strict::put_keys(text, state);
  std::map<const void*, std::size_t> list_of;
  std::vector<StepNames> lists;
  json::object nodes;
  nodes.reserve(state.nodes.size());
  for (const auto& [name, node] : state.nodes) {
    const auto [at, fresh] = list_of.emplace(node.planned.get(), lists.size());
    if (fresh) {
      auto& names = lists.emplace_back();
      for (const auto& step : *node.planned) names.push_back(step.name);
    }
    nodes[name] = node_text(node, at->second);
  }
  text["lists"] = strict::Field<std::vector<StepNames>>::put(lists);
  text["nodes"] = std::move(nodes);
  return json::serialize(text);
}

Result<RunState> decode(std::string_view text, const playbooks::Plan& plan) {
  const auto parsed = parse_json(text);
  if (!parsed || !parsed->is_object()) return malformed();
  const auto& object = parsed->get_object();
  auto state = initial_state(plan);
  const auto lists = field<std::vector<StepNames>>(object, "lists");
  const auto* nodes = object.if_contains("nodes");
  const bool sound = field<std::int64_t>(object, "version") == kVersion && lists &&
                     nodes != nullptr && nodes->is_object() && strict::take_keys(object, state);
  if (!sound) return malformed();
  std::map<const void*, std::vector<std::vector<std::size_t>>> placed;
  for (const auto& [name, node] : nodes->get_object()) {
    const auto mine = state.nodes.find(std::string_view{name});
    if (mine == state.nodes.end()) {
      state.strangers.emplace(name);
      continue;
    }
    auto& place = placed[mine->second.planned.get()];
    if (place.empty())
      for (const auto& names : *lists) place.push_back(places(names, *mine->second.planned));
    TRY(read_node(node, place, mine->second));
  }
  return state;
}

}  // namespace cupel::engine
