#include "orchestrator/report/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/text.h"
#include "inventory/node.h"
#include "orchestrator/report/wrapped.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::report {
namespace {

using engine::NodeState;
using engine::StepState;
using std::chrono::milliseconds;
using Phase = StepState::Phase;

constexpr std::size_t kMostBlocked = 3;  // reasons that are reported of the run as a whole

const NodeState& state_of(const RunTable& table, std::size_t node) {
  static const NodeState kNone{};
  const auto known = table.state.nodes.find(table.plan.nodes[node].node->name);
  return known == table.state.nodes.end() ? kNone : known->second;
}

/// What is done of all nodes before the canary is no beginning.
bool is_fresh(const NodeState& node) {
  for (std::size_t i = 0; i < node.steps.size(); ++i) {
    const auto& step = node.steps[i];
    const bool for_all = node.planned && (*node.planned)[i].before_canary && step.over();
    if (step.phase != Phase::waiting && !for_all) return false;
  }
  return true;
}

bool is_through(const NodeState& node) {
  return std::ranges::all_of(node.steps, [](const StepState& step) { return step.over(); });
}

bool has_failed_step(const NodeState& node) {
  return std::ranges::find(node.steps, Phase::failed, &StepState::phase) != node.steps.end();
}

const StepState* running_step(const NodeState& node) {
  const auto at = std::ranges::find(node.steps, Phase::running, &StepState::phase);
  return at == node.steps.end() ? nullptr : &*at;
}

std::string find_words(const NodeWords& words, const std::string& node) {
  const auto at = words.find(node);
  return at == words.end() ? std::string{} : at->second;
}

std::string verdict_of(const NodeState& node) {
  const auto fact = node.facts.find(std::string{engine::kVerdictFact});
  return fact == node.facts.end() ? std::string{} : fact->second;
}

/// Nodes that are to do the step together with this one and have yet to come to it.
std::size_t partners_to_come(const RunTable& table, std::size_t node, std::size_t step) {
  const auto& name = (*table.plan.nodes[node].steps)[step].name;
  for (const auto& group : table.plan.groups) {
    if (group.step != name || std::ranges::find(group.members, node) == group.members.end())
      continue;
    return static_cast<std::size_t>(
        std::ranges::count_if(group.members, [&](const std::size_t member) {
          const auto what = engine::next(table.plan.nodes[member], state_of(table, member));
          const auto& steps = *table.plan.nodes[member].steps;
          const bool there = what.kind == engine::Next::Kind::nothing ||
                             (what.step < steps.size() && steps[what.step].name == name);
          return !there;
        }));
  }
  return 0;
}

/// `command` names the run: "cupel continue {}".
std::string advised(const RunTable& table, fmt::format_string<const engine::RunId&> command) {
  return cupel_command(fmt::format(command, table.run), table.state_to_name);
}

/// Of a node that has not begun: the canary, or no place. Empty where neither holds it.
std::string before_its_beginning(const RunTable& table, std::size_t node) {
  const auto wave = static_cast<std::size_t>(table.state.wave);
  if (!table.plan.canary.empty() && node >= wave) {
    if (table.state.halts.contains("")) return "halted: " + advised(table, "cupel continue {}");
    return fmt::format("canary: the first {} of {}", std::max<std::size_t>(wave, 1),
                       table.plan.nodes.size());
  }
  int working = 0;
  for (std::size_t i = 0; i < table.plan.nodes.size(); ++i) {
    const auto& other = state_of(table, i);
    working += !is_fresh(other) && !is_through(other) ? 1 : 0;
  }
  if (working < table.plan.nodes_at_once) return {};
  return fmt::format("a slot: {} nodes work", table.plan.nodes_at_once);
}

/// Step -> nodes that wait at it for a person's word.
std::map<std::string, std::size_t> approvals_of(const RunTable& table) {
  std::map<std::string, std::size_t> waiting;
  for (std::size_t i = 0; i < table.plan.nodes.size(); ++i) {
    const auto what = engine::next(table.plan.nodes[i], state_of(table, i));
    if (what.kind == engine::Next::Kind::await_approval)
      ++waiting[(*table.plan.nodes[i].steps)[what.step].name];
  }
  return waiting;
}

/// What the playbook says to whoever approves the step; empty where it says nothing.
std::string say_of(const playbooks::Plan& plan, std::string_view step) {
  for (const auto& node : plan.nodes)
    for (const auto& each : *node.steps)
      if (each.name == step && each.with.contains("message")) return each.with.at("message");
  return {};
}

std::string s_of(std::size_t count) { return count == 1 ? "" : "s"; }

/// "4:05", "71:59:59": as narrow as a time can be.
std::string clock_text(milliseconds span) {
  const auto seconds = std::chrono::round<std::chrono::seconds>(std::max(span, milliseconds{0}));
  const auto count = seconds.count();
  if (count < 3600) return fmt::format("{}:{:02}", count / 60, count % 60);
  return fmt::format("{}:{:02}:{:02}", count / 3600, count % 3600 / 60, count % 60);
}

/// What is left of the node; "+": its step is late, so at least so much.
std::string eta_of(const RunTable& table, std::size_t node, std::size_t open) {
  const auto& steps = state_of(table, node).steps;
  const auto& planned = *table.plan.nodes[node].steps;
  const auto rest = std::chrono::duration_cast<milliseconds>(planned[open].expected) -
                    (table.now - steps[open].began);
  auto left = std::max(rest, milliseconds{0});
  for (std::size_t i = open + 1; i < steps.size(); ++i)
    if (!steps[i].over()) left += planned[i].expected;
  return clock_text(left) + (rest < milliseconds{0} ? "+" : "");
}

struct Row {
  std::string node{};
  std::string step{};
  std::string elapsed{};
  std::string eta{};
  std::string what{};
  bool is_through = false;
};

/// What a step that runs says, else why it waits for another try.
std::string words_of(const RunTable& table, const std::string& node, const StepState& step) {
  auto shown = find_words(table.doing, node);
  if (!shown.empty() || step.until == engine::WallTime{} || step.detail.empty()) return shown;
  return "another try: " + step.detail;
}

/// Failed first, though it may go on, then running, then waiting, then done.
int rank_of(const RunTable& table, std::size_t node) {
  const auto& state = state_of(table, node);
  if (has_failed_step(state)) return 0;
  if (running_step(state) != nullptr) return 1;
  if (!is_through(state)) return 2;
  const auto verdict = verdict_of(state);
  return verdict.empty() || verdict == "pass" ? 3 : 0;
}

std::size_t steps_over(const NodeState& node) {
  return static_cast<std::size_t>(
      std::ranges::count_if(node.steps, [](const StepState& step) { return step.over(); }));
}

/// By which rows are sorted; what is equal stays as the run names its nodes.
std::size_t place_of(const RunTable& table, std::size_t node) {
  switch (table.view.order) {
    case Order::failed_first:
      return static_cast<std::size_t>(rank_of(table, node));
    case Order::by_name:
      return node;
    case Order::by_step:
      return steps_over(state_of(table, node));
  }
  std::unreachable();
}

std::string_view words_of(Order order) {
  switch (order) {
    case Order::failed_first:
      return "failed first";
    case Order::by_name:
      return "by name";
    case Order::by_step:
      return "furthest behind first";
  }
  std::unreachable();
}

/// "nodes 1 to 17 of 300, failed first; arrows scroll, s sorts, ? keys".
std::string more_of(const RunTable& table, std::size_t first, std::size_t shown) {
  auto text = shown == 0 ? fmt::format("{} nodes", table.plan.nodes.size())
                         : fmt::format("nodes {} to {} of {}, {}", first + 1, first + shown,
                                       table.plan.nodes.size(), words_of(table.view.order));
  if (table.view.has_keys) text += "; arrows scroll, s sorts, ? keys";
  return text;
}

/// The verdict's words where there is one, else the last failure's.
std::string last_word(const RunTable& table, std::size_t node) {
  const auto& state = state_of(table, node);
  const auto& planned = *table.plan.nodes[node].steps;
  std::string last;
  for (std::size_t i = 0; i < state.steps.size(); ++i) {
    const bool judged = planned[i].kind == playbooks::StepKind::verdict;
    if (judged && !state.steps[i].detail.empty()) return state.steps[i].detail;
    if (state.steps[i].phase == Phase::failed) last = state.steps[i].detail;
  }
  if (last.empty() && !state.steps.empty()) last = state.steps.back().detail;
  return last;
}

/// Without the name that the row begins with anyhow: "step bmc-facts a01-n07: timed out".
std::string without_name(std::string words, const std::string& name) {
  const auto named = name + ": ";
  for (auto at = words.find(named); at != words.npos; at = words.find(named, at)) {
    const bool begins_word = at == 0 || words[at - 1] == ' ';
    if (begins_word) words.erase(at, named.size());
    if (!begins_word) at += named.size();
  }
  return words;
}

Row row_of(const RunTable& table, std::size_t node) {
  const auto& state = state_of(table, node);
  const auto& name = table.plan.nodes[node].node->name;
  Row row;
  const auto open =
      std::ranges::find_if(state.steps, [](const StepState& step) { return !step.over(); });
  if (open == state.steps.end()) {
    row.step = "through";
    row.is_through = true;
    row.what = without_name(last_word(table, node), name);
  } else {
    const auto index = static_cast<std::size_t>(open - state.steps.begin());
    row.step = fmt::format("{}/{} {}", index + 1, state.steps.size(),
                           (*table.plan.nodes[node].steps)[index].name);
    row.what =
        open->phase == Phase::running ? words_of(table, name, *open) : waits_for(table, node);
    if (open->phase == Phase::running) {
      row.elapsed = clock_text(table.now - open->began);
      row.eta = eta_of(table, node, index);
      if (open->overdue) row.what = "overdue" + (row.what.empty() ? "" : ": " + row.what);
    }
  }
  row.node = name;
  return row;
}

/// Which columns a terminal has room for, and how wide they are.
struct Columns {
  std::size_t node = 14;
  std::size_t step = 18;
  std::size_t time = 8;
  bool elapsed = true;
  bool eta = true;
};

Columns columns_of(const RunTable& table, std::size_t wide) {
  Columns columns;
  std::size_t longest = 4;
  for (const auto& node : table.plan.nodes) longest = std::max(longest, node.node->name.size());
  columns.node = std::min<std::size_t>(longest, wide < 100 ? 14 : 30);
  columns.step = wide < 60 ? 14 : wide < 120 ? 18 : 26;
  columns.eta = wide >= 72;
  columns.elapsed = wide >= 50;
  return columns;
}

std::string line_of(const Row& row, const Columns& columns, std::size_t wide) {
  auto text = fmt::format("{:<{}} {:<{}}", shortened(row.node, columns.node), columns.node,
                          shortened(row.step, columns.step), columns.step);
  // A node that is through has no times: the room is the reason's.
  if (columns.elapsed && !row.is_through) text += fmt::format(" {:>{}}", row.elapsed, columns.time);
  if (columns.eta && !row.is_through) text += fmt::format(" {:>{}}", row.eta, columns.time);
  text += "  " + printable(row.what);
  while (text.ends_with(' ')) text.pop_back();
  return shortened(text, wide);
}

/// "run 5 new-rack: 3 of 8 nodes through: 2 pass, 1 fail, 1 with a failed step".
std::string heading(const RunTable& table) {
  std::map<std::string, std::size_t> judged;
  std::size_t through = 0, failed = 0;
  for (std::size_t i = 0; i < table.plan.nodes.size(); ++i) {
    const auto& node = state_of(table, i);
    const bool over = is_through(node);
    through += over ? 1 : 0;
    if (const auto verdict = verdict_of(node); over && !verdict.empty())
      ++judged[verdict];
    else
      failed += has_failed_step(node) ? 1 : 0;
  }
  auto text = fmt::format("run {} {}: {} of {} nodes through", table.run, table.plan.playbook,
                          through, table.plan.nodes.size());
  std::string totals;
  for (const auto* verdict : {"pass", "fail", "inconclusive"})
    if (const auto at = judged.find(verdict); at != judged.end())
      totals += fmt::format("{}{} {}", totals.empty() ? "" : ", ", at->second, verdict);
  if (failed > 0)
    totals += fmt::format("{}{} with a failed step", totals.empty() ? "" : ", ", failed);
  return totals.empty() ? text : text + ": " + totals;
}

/// "at work 5: 4 gpu-burn, 1 power-on; 2 wait".
std::string at_work(const RunTable& table) {
  std::map<std::string, std::size_t> steps;
  std::size_t working = 0, waiting = 0, late = 0;
  for (std::size_t i = 0; i < table.plan.nodes.size(); ++i) {
    const auto& node = state_of(table, i);
    if (is_through(node)) continue;
    const auto* running = running_step(node);
    if (running == nullptr) {
      ++waiting;
      continue;
    }
    ++working;
    late += running->overdue ? 1 : 0;
    const auto index = static_cast<std::size_t>(running - node.steps.data());
    ++steps[(*table.plan.nodes[i].steps)[index].name];
  }
  if (working + waiting == 0) return {};
  auto text = fmt::format("{} at work", working);
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const auto& [step, nodes] : steps) order.emplace_back(nodes, step);
  std::ranges::sort(order, std::greater{});
  std::string parts;
  for (const auto& [nodes, step] : order)
    parts += fmt::format("{}{} {}", parts.empty() ? ": " : ", ", nodes, step);
  text += parts;
  if (late > 0) text += fmt::format("; {} overdue", late);
  if (waiting > 0) text += fmt::format("; {} wait{}", waiting, waiting == 1 ? "s" : "");
  return text;
}

/// Who types "q" wants to leave, and must know what that does to the run.
std::string keys_of(const RunTable& table) {
  return fmt::format(
      "keys: arrows, PgUp, PgDn, Home, End scroll, s sorts, ? hides this; Ctrl-C ends this table, "
      "and interrupts a run that this process drives ({} goes on)",
      advised(table, "cupel resume {}"));
}

void add_wrapped(std::vector<std::string>& lines, const std::string& text, std::size_t wide) {
  const auto whole = wrapped(text, 2, wide);
  for (const auto line : cupel::lines(whole)) lines.push_back(shortened(line, wide));
}

}  // namespace

Try try_of(const engine::NodeState& node) {
  const auto open =
      std::ranges::find_if(node.steps, [](const StepState& step) { return !step.over(); });
  if (open == node.steps.end()) return {.step = node.steps.size()};
  return {static_cast<std::size_t>(open - node.steps.begin()), open->attempt, open->tries};
}

std::string waits_for(const RunTable& table, std::size_t node) {
  const auto& state = state_of(table, node);
  if (running_step(state) != nullptr || is_through(state)) return {};
  const auto& plan = table.plan.nodes[node];
  const auto what = engine::next(plan, state);
  if (what.kind == engine::Next::Kind::nothing) return {};
  const auto& step = (*plan.steps)[what.step].name;
  if (what.kind == engine::Next::Kind::await_approval)
    return "approval: " + advised(table, "cupel approve {}");
  if (table.state.paused) return "paused: " + advised(table, "cupel unpause {}");
  if (table.state.halts.contains(step))
    return "halted: " + advised(table, "cupel continue {} ") + step;
  if (is_fresh(state))
    if (auto why = before_its_beginning(table, node); !why.empty()) return why;
  if (auto why = find_words(table.held, plan.node->name); !why.empty()) return why;
  if (const auto others = partners_to_come(table, node, what.step); others > 0)
    return fmt::format("{} partner{} of {}", others, s_of(others), step);
  return {};
}

std::vector<std::string> notes_of(const RunTable& table) {
  std::vector<std::string> notes;
  if (table.state.paused) notes.push_back("paused: " + advised(table, "cupel unpause {}"));
  for (const auto& [step, why] : table.state.halts)
    notes.push_back(fmt::format(
        "halted {}: {}; look, then: {}{}", step.empty() ? "behind the canary" : "at " + step, why,
        advised(table, "cupel continue {}"), step.empty() ? "" : " " + step));
  for (const auto& [step, nodes] : approvals_of(table)) {
    const auto say = say_of(table.plan, step);
    notes.push_back(fmt::format("{} node{} wait{} for approval: {}{}{}", nodes, s_of(nodes),
                                nodes == 1 ? "s" : "", say.empty() ? say : say + ": ",
                                advised(table, "cupel approve {} "), step));
  }
  std::map<std::string, std::vector<std::string>> blocked;
  for (const auto& [node, why] : table.held) blocked[why].push_back(node);
  std::size_t shown = 0;
  for (const auto& [why, nodes] : blocked)
    if (shown++ < kMostBlocked)
      notes.push_back(fmt::format("blocked: {} ({} node{}, {} first)", why, nodes.size(),
                                  s_of(nodes.size()), nodes.front()));
  if (!table.note.empty()) notes.push_back(table.note);
  for (auto& note : notes) note = printable(note);
  return notes;
}

DrawnTable drawn(const RunTable& table, std::size_t rows, std::size_t columns) {
  DrawnTable reported;
  auto& lines = reported.lines;
  add_wrapped(lines, printable(heading(table)), columns);
  if (const auto work = at_work(table); !work.empty()) add_wrapped(lines, work, columns);
  if (table.view.help && table.view.has_keys) add_wrapped(lines, keys_of(table), columns);
  for (const auto& note : notes_of(table)) add_wrapped(lines, note, columns);
  // A few nodes are shown in any case: what is reported of the whole run is cut before them.
  const std::size_t least = std::min<std::size_t>(table.plan.nodes.size() + 1, rows / 3);
  if (lines.size() + least > rows) lines.resize(std::max<std::size_t>(rows - least, 1));
  const auto widths = columns_of(table, columns);
  if (lines.size() < rows)
    lines.push_back(line_of({"node", "step", "elapsed", "ETA", "waits for"}, widths, columns));
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (std::size_t i = 0; i < table.plan.nodes.size(); ++i) all.emplace_back(place_of(table, i), i);
  std::ranges::sort(all);
  const auto room = rows - std::min(rows, lines.size());
  const bool fits = all.size() <= room;
  reported.shown = fits ? all.size() : room - std::min<std::size_t>(room, 1);
  reported.first = std::min(table.view.first, all.size() - reported.shown);
  for (const auto& [place, node] : std::span{all}.subspan(reported.first, reported.shown))
    lines.push_back(line_of(row_of(table, node), widths, columns));
  if (!fits && room > 0)
    lines.push_back(shortened(more_of(table, reported.first, reported.shown), columns));
  return reported;
}

}  // namespace cupel::report
