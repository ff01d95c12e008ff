#include "orchestrator/engine/state_codec.h"

#include <algorithm>
#include <limits>

#include "base/json.h"

namespace cupel::engine {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kFields = 15;  // of a step

using std::chrono::milliseconds;

std::int64_t count(WallTime time) { return time.time_since_epoch().count(); }

/// What one does not want to know of a step that never began.
bool untouched(const StepState& step) { return step == StepState{}; }

json::array array_of(std::size_t index, const StepState& step) {
  json::array fields{index,
                     static_cast<int>(step.phase),
                     step.attempt,
                     step.tries,
                     step.retries,
                     to_string(step.outcome),
                     count(step.began),
                     count(step.ended),
                     count(step.until),
                     step.pause.count(),
                     step.spent.count(),
                     step.overdue,
                     step.handle ? json::value(*step.handle) : json::value{},
                     step.detail,
                     step.ssh_lost};
  return fields;
}

std::optional<std::int64_t> whole(const json::value& value) {
  if (value.is_uint64() && value.get_uint64() <= std::numeric_limits<std::int64_t>::max())
    return static_cast<std::int64_t>(value.get_uint64());
  if (value.is_int64()) return value.get_int64();
  return std::nullopt;
}

/// Nothing where a field is not what it has to be: half a step is none.
std::optional<StepState> step_from(const json::array& fields) {
  if (fields.size() != kFields || !fields[5].is_string() || !fields[11].is_bool() ||
      !fields[13].is_string() || !fields[14].is_bool())
    return std::nullopt;
  std::array<std::int64_t, 11> numbers{};
  for (const std::size_t i : {0, 1, 2, 3, 4, 6, 7, 8, 9, 10}) {
    const auto number = whole(fields[i]);
    if (!number) return std::nullopt;
    numbers[i] = *number;
  }
  const auto outcome = outcome_of(std::string_view{fields[5].get_string()});
  const auto most = static_cast<std::int64_t>(StepState::Phase::skipped);
  const bool sound = outcome && numbers[1] >= 0 && numbers[1] <= most &&
                     std::ranges::all_of(std::span{numbers}.subspan(2, 3), [](auto number) {
                       return number >= 0 && number <= std::numeric_limits<int>::max();
                     });
  if (!sound) return std::nullopt;
  StepState step;
  step.phase = static_cast<StepState::Phase>(numbers[1]);
  step.attempt = static_cast<int>(numbers[2]);
  step.tries = static_cast<int>(numbers[3]);
  step.retries = static_cast<int>(numbers[4]);
  step.outcome = *outcome;
  step.began = WallTime{milliseconds{numbers[6]}};
  step.ended = WallTime{milliseconds{numbers[7]}};
  step.until = WallTime{milliseconds{numbers[8]}};
  step.pause = milliseconds{numbers[9]};
  step.spent = milliseconds{numbers[10]};
  step.overdue = fields[11].get_bool();
  if (fields[12].is_string()) step.handle = std::string{fields[12].get_string()};
  step.detail = fields[13].get_string();
  step.ssh_lost = fields[14].get_bool();
  return step;
}

Error malformed() {
  return Error{Code::kMalformed, "the snapshot is not one that this Cupel wrote"};
}

using StepNames = std::vector<std::string>;

Result<std::vector<StepNames>> lists_from(const json::object& text) {
  std::vector<StepNames> lists;
  const auto* all = text.if_contains("lists");
  if (all == nullptr || !all->is_array()) return malformed();
  for (const auto& list : all->get_array()) {
    if (!list.is_array()) return malformed();
    auto& names = lists.emplace_back();
    for (const auto& name : list.get_array()) {
      if (!name.is_string()) return malformed();
      names.emplace_back(name.get_string());
    }
  }
  return lists;
}

/// From a list's indices to the plan's; a step that the plan does not have is nowhere.
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
  if (!text.is_object()) return malformed();
  const auto* list = text.get_object().if_contains("list");
  const auto* steps = text.get_object().if_contains("steps");
  const auto* facts = text.get_object().if_contains("facts");
  const auto of = list == nullptr ? std::nullopt : whole(*list);
  const bool sound = of && *of >= 0 && *of < std::ssize(lists) && steps != nullptr &&
                     steps->is_array() && facts != nullptr && facts->is_object();
  if (!sound) return malformed();
  const auto& place = lists[static_cast<std::size_t>(*of)];
  for (const auto& each : steps->get_array()) {
    if (!each.is_array()) return malformed();
    auto step = step_from(each.get_array());
    if (!step) return malformed();
    const auto index = whole(each.get_array()[0]);
    if (*index < 0 || *index >= std::ssize(place)) return malformed();
    const auto mine = place[static_cast<std::size_t>(*index)];
    if (mine != kNowhere) node.steps[mine] = std::move(*step);
  }
  for (const auto& [name, value] : facts->get_object()) {
    if (!value.is_string()) return malformed();
    node.facts[std::string{name}] = value.get_string();
  }
  return ok();
}

json::object run_level(const RunState& state) {
  json::object halts;
  for (const auto& [step, why] : state.halts) halts[step] = why;
  json::object tallies;
  for (const auto& [step, tally] : state.tallies)
    tallies[step] = json::array{tally.ended, tally.failed};
  json::array strangers;
  for (const auto& name : state.strangers) strangers.emplace_back(name);
  return {{"version", kVersion},
          {"phase", to_string(state.phase)},
          {"began", count(state.began)},
          {"ended", count(state.ended)},
          {"paused", state.paused},
          {"halts", std::move(halts)},
          {"tallies", std::move(tallies)},
          {"wave", state.wave},
          {"pardoned", state.pardoned},
          {"last_command", state.last_command},
          {"last_sequence", state.last_sequence},
          {"strangers", std::move(strangers)}};
}

Result<std::int64_t> whole_at(const json::object& text, std::string_view key) {
  const auto* value = text.if_contains(key);
  const auto number = value == nullptr ? std::nullopt : whole(*value);
  if (!number) return malformed();
  return *number;
}

Result<void> read_circuit(const json::object& text, RunState& state) {
  const auto* halts = text.if_contains("halts");
  const auto* tallies = text.if_contains("tallies");
  const auto* strangers = text.if_contains("strangers");
  const auto* paused = text.if_contains("paused");
  const bool sound = halts != nullptr && halts->is_object() && tallies != nullptr &&
                     tallies->is_object() && strangers != nullptr && strangers->is_array() &&
                     paused != nullptr && paused->is_bool();
  if (!sound) return malformed();
  state.paused = paused->get_bool();
  for (const auto& [step, why] : halts->get_object()) {
    if (!why.is_string()) return malformed();
    state.halts[std::string{step}] = why.get_string();
  }
  for (const auto& [step, tally] : tallies->get_object()) {
    if (!tally.is_array() || tally.get_array().size() != 2) return malformed();
    const auto ended = whole(tally.get_array()[0]);
    const auto failed = whole(tally.get_array()[1]);
    if (!ended || !failed) return malformed();
    state.tallies[std::string{step}] = {static_cast<int>(*ended), static_cast<int>(*failed)};
  }
  for (const auto& name : strangers->get_array()) {
    if (!name.is_string()) return malformed();
    state.strangers.emplace(name.get_string());
  }
  return ok();
}

Result<void> read_run(const json::object& text, RunState& state) {
  TRY(const auto version, whole_at(text, "version"));
  const auto* phase = text.if_contains("phase");
  if (version != kVersion || phase == nullptr || !phase->is_string()) return malformed();
  const auto known = run_phase(std::string_view{phase->get_string()});
  if (!known) return malformed();
  state.phase = *known;
  TRY(const auto began, whole_at(text, "began"));
  TRY(const auto ended, whole_at(text, "ended"));
  TRY(const auto wave, whole_at(text, "wave"));
  TRY(const auto pardoned, whole_at(text, "pardoned"));
  TRY(state.last_command, whole_at(text, "last_command"));
  TRY(state.last_sequence, whole_at(text, "last_sequence"));
  state.began = WallTime{milliseconds{began}};
  state.ended = WallTime{milliseconds{ended}};
  state.wave = static_cast<int>(wave);
  state.pardoned = static_cast<int>(pardoned);
  return read_circuit(text, state);
}

}  // namespace

std::string encode(const RunState& state) {
  auto text = run_level(state);
  std::map<const void*, std::size_t> list_of;
  json::array lists;
  json::object nodes;
  nodes.reserve(state.nodes.size());
  for (const auto& [name, node] : state.nodes) {
    const auto [at, fresh] = list_of.emplace(node.planned.get(), lists.size());
    if (fresh) {
      json::array names;
      for (const auto& step : *node.planned) names.emplace_back(step.name);
      lists.push_back(std::move(names));
    }
    json::array steps;
    for (std::size_t i = 0; i < node.steps.size(); ++i)
      if (!untouched(node.steps[i])) steps.push_back(array_of(i, node.steps[i]));
    json::object facts;
    for (const auto& [fact, value] : node.facts) facts[fact] = value;
    nodes[name] = json::object{
        {"list", at->second}, {"steps", std::move(steps)}, {"facts", std::move(facts)}};
  }
  text["lists"] = std::move(lists);
  text["nodes"] = std::move(nodes);
  return json::serialize(text);
}

Result<RunState> decode(std::string_view text, const playbooks::Plan& plan) {
  auto parsed = parse_json(text);
  if (!parsed || !parsed->is_object()) return malformed();
  const auto& object = parsed->get_object();
  auto state = initial_state(plan);
  TRY(read_run(object, state));
  TRY(const auto lists, lists_from(object));
  std::map<const void*, std::vector<std::vector<std::size_t>>> placed;
  const auto* nodes = object.if_contains("nodes");
  if (nodes == nullptr || !nodes->is_object()) return malformed();
  for (const auto& [name, node] : nodes->get_object()) {
    const auto mine = state.nodes.find(std::string_view{name});
    if (mine == state.nodes.end()) {
      state.strangers.emplace(name);
      continue;
    }
    auto& place = placed[mine->second.planned.get()];
    if (place.empty())
      for (const auto& names : lists) place.push_back(places(names, *mine->second.planned));
    TRY(read_node(node, place, mine->second));
  }
  return state;
}

}  // namespace cupel::engine
