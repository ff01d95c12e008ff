#include "orchestrator/report/run_progress.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <utility>

#include "base/json.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/engine/fold.h"

namespace cupel::report {
namespace {

constexpr std::size_t kMostLate = 20;

using Phase = engine::StepState::Phase;

std::size_t count_of(const boost::json::value& value) {
  constexpr double kMost = 1e15;
  const auto number = value.is_number() ? value.to_number<double>() : 0;
  return number > 0 && number < kMost ? static_cast<std::size_t>(number) : 0;
}

std::size_t count_at(const boost::json::value& value, std::string_view key) {
  const auto* found = find(value, key);
  return found == nullptr ? 0 : count_of(*found);
}

void count_running(RunProgress& standing, const std::string& node, const engine::StepTrace& step,
                   bool overdue, engine::WallTime now) {
  ++standing.running[step.name];
  if (!overdue || standing.overdue.size() >= kMostLate) return;
  const auto running = std::max(now - step.moved->time, std::chrono::milliseconds{0});
  standing.overdue.push_back({node, step.name, running});
}

void count(RunProgress& standing, const std::string& name, const engine::NodeState& node,
           const engine::NodeTrace& trace, engine::WallTime now) {
  bool failed = false;
  for (std::size_t i = 0; i < node.steps.size(); ++i) {
    const auto& step = node.steps[i];
    const auto& traced = trace.steps[i];
    if (traced.between_tries)
      ++standing.between_tries;
    else if (step.phase == Phase::running)
      count_running(standing, name, traced, step.overdue, now);
    if (step.phase != Phase::failed) continue;
    failed = true;
    ++standing.failed_steps;
  }
  standing.failed += failed ? 1 : 0;
}

}  // namespace

RunProgress progress_of(engine::RunId id, std::span<const engine::Event> events,
                        engine::WallTime now) {
  const auto run = engine::fold(events);
  RunProgress standing;
  standing.run = id;
  standing.paused = run.state.paused;
  standing.halts.insert(run.state.halts.begin(), run.state.halts.end());
  if (run.trace.paused != nullptr)
    if (const auto by = text_in(*run.trace.paused, "by"); !by.empty())
      standing.paused_by = " by " + by;
  for (const auto& [name, node] : run.state.nodes)
    count(standing, name, node, run.trace.nodes.at(name), now);
  return standing;
}

std::string to_text(const RunProgress& standing) {
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

boost::json::object to_json(const RunProgress& standing) {
  boost::json::object running, halts;
  for (const auto& [step, nodes] : standing.running) running[step] = nodes;
  for (const auto& [step, why] : standing.halts) halts[step] = why;
  boost::json::array overdue;
  for (const auto& each : standing.overdue)
    overdue.push_back(
        {{"node", each.node}, {"step", each.step}, {"running_ms", each.running.count()}});
  boost::json::object object{
      {"running", std::move(running)}, {"between_tries", standing.between_tries},
      {"failed", standing.failed},     {"failed_steps", standing.failed_steps},
      {"paused", standing.paused},     {"halted", std::move(halts)},
      {"overdue", std::move(overdue)}};
  if (!standing.paused_by.empty()) object["paused_by"] = standing.paused_by;
  return object;
}

RunProgress progress_from(engine::RunId run, const boost::json::value& value) {
  RunProgress progress;
  progress.run = run;
  progress.between_tries = count_at(value, "between_tries");
  progress.failed = count_at(value, "failed");
  progress.failed_steps = count_at(value, "failed_steps");
  progress.paused = flag_at(value, "paused") == true;
  if (const auto by = text_at(value, "paused_by")) progress.paused_by = " " + *by;
  if (const auto* running = find(value, "running"); running != nullptr && running->is_object())
    for (const auto& [step, nodes] : running->get_object())
      progress.running[std::string{step}] = count_of(nodes);
  if (const auto* halted = find(value, "halted"); halted != nullptr && halted->is_object())
    for (const auto& [step, why] : halted->get_object())
      if (why.is_string()) progress.halts[std::string{step}] = why.get_string();
  if (const auto* overdue = find(value, "overdue"); overdue != nullptr && overdue->is_array())
    for (const auto& each : overdue->get_array())
      progress.overdue.push_back(
          {.node = text_at(each, "node").value_or(""),
           .step = text_at(each, "step").value_or(""),
           .running = std::chrono::milliseconds{count_at(each, "running_ms")}});
  return progress;
}

engine::WallTime wall_now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

}  // namespace cupel::report
