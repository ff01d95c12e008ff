#include "orchestrator/report/standing.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <set>

#include "orchestrator/engine/event_data.h"
#include "orchestrator/report/summary.h"

namespace cupel::report {
namespace {

using engine::Event;
using engine::EventKind;
using engine::text_in;

constexpr std::size_t kMostLate = 20;

/// What one step of one node is at.
struct Now {
  enum class At { running, between_tries, done, failed } at = At::running;
  engine::WallTime began{};
  bool overdue = false;
};

using Steps = std::map<std::pair<std::string, std::string>, Now>;

void take_step(Steps& steps, const Event& event) {
  auto& now = steps[{event.node, event.step}];
  if (event.kind == EventKind::step_began) now = {Now::At::running, event.time, false};
  if (event.kind == EventKind::step_retried) now.at = Now::At::between_tries;
  if (event.kind == EventKind::step_overdue) now.overdue = true;
  if (event.kind == EventKind::step_ended)
    now.at = text_in(event, "outcome") == "done" ? Now::At::done : Now::At::failed;
  if (event.kind == EventKind::step_skipped) now.at = Now::At::done;
  if (event.kind == EventKind::step_shed) now.at = Now::At::between_tries;
  if (event.kind == EventKind::step_stopped) steps.erase({event.node, event.step});
}

void take_run(Standing& standing, const Event& event) {
  if (event.kind == EventKind::run_paused) {
    standing.paused = true;
    const auto by = text_in(event, "by");
    standing.paused_by = by.empty() ? by : " by " + by;
  }
  if (event.kind == EventKind::run_unpaused) standing.paused = false;
  if (event.kind == EventKind::run_halted)
    standing.halts[text_in(event, "step")] = text_in(event, "why");
  if (event.kind != EventKind::run_released) return;
  const auto step = text_in(event, "step");
  if (step.empty())
    standing.halts.clear();
  else
    standing.halts.erase(step);
}

void count(Standing& standing, const Steps& steps, engine::WallTime now) {
  std::set<std::string_view> failed;
  for (const auto& [where, step] : steps) {
    if (step.at == Now::At::between_tries) ++standing.between_tries;
    if (step.at == Now::At::failed) {
      failed.insert(where.first);
      ++standing.failed_steps;
    }
    if (step.at != Now::At::running) continue;
    ++standing.running[where.second];
    if (step.overdue && standing.overdue.size() < kMostLate)
      standing.overdue.push_back(
          {where.first, where.second, std::max(now - step.began, std::chrono::milliseconds{0})});
  }
  standing.failed = failed.size();
}

}  // namespace

Standing standing_of(engine::RunId run, std::span<const Event> events, engine::WallTime now) {
  Standing standing;
  standing.run = run;
  Steps steps;
  for (const auto& event : events) {
    if (event.data.contains("refused")) continue;
    if (event.kind == EventKind::node_retried) {
      // What failed is wanted again: it counts anew when it begins.
      for (auto& [where, step] : steps)
        if (where.first == event.node && step.at == Now::At::failed) step.at = Now::At::done;
    } else if (!event.node.empty() && !event.step.empty()) {
      take_step(steps, event);
    } else {
      take_run(standing, event);
    }
  }
  count(standing, steps, now);
  return standing;
}

std::string to_text(const Standing& standing) {
  std::string line;
  for (const auto& [step, nodes] : standing.running)
    line += fmt::format("{}{} at {}", line.empty() ? "" : ", ", nodes, step);
  if (line.empty()) line = "nothing runs";
  if (standing.between_tries > 0) line += fmt::format("; {} between tries", standing.between_tries);
  if (!standing.overdue.empty()) line += fmt::format("; {} overdue", standing.overdue.size());
  if (standing.failed > 0)
    line += fmt::format("; {} node{} failed", standing.failed, standing.failed == 1 ? "" : "s");
  return line;
}

boost::json::object to_json(const Standing& standing) {
  boost::json::object running, halts;
  for (const auto& [step, nodes] : standing.running) running[step] = nodes;
  for (const auto& [step, why] : standing.halts) halts[step] = why;
  boost::json::array overdue;
  for (const auto& each : standing.overdue)
    overdue.push_back(
        {{"node", each.node}, {"step", each.step}, {"running_ms", each.running.count()}});
  return {{"running", std::move(running)}, {"between_tries", standing.between_tries},
          {"failed", standing.failed},     {"failed_steps", standing.failed_steps},
          {"paused", standing.paused},     {"halted", std::move(halts)},
          {"overdue", std::move(overdue)}};
}

engine::WallTime wall_now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

}  // namespace cupel::report
