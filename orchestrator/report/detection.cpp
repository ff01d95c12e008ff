#include "orchestrator/report/detection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "burnin/verdict_text.h"

namespace cupel::report {
namespace {

using burnin::Decision;
using record::StepRecord;

/// The step that reported what the cause says.
const StepRecord* reported_by(const NodeSummary& node, const burnin::Cause& cause) {
  const auto& record = node.record;
  const StepRecord* audit = nullptr;
  for (const auto& step : record.steps) {
    if (cause.criterion == "step " + step.name || cause.criterion == "stage " + step.name)
      return &step;
    if (step.name == "audit") audit = &step;
    const auto findings = record.findings.find(step.name);
    if (findings == record.findings.end()) continue;
    const auto& all = findings->second.measurements;
    const bool here = std::ranges::any_of(all, [&](const burnin::Measurement& each) {
      return each.name == cause.criterion &&
             (each.part == cause.part || each.traced_to == cause.part);
    });
    if (here) return &step;
  }
  return audit;
}

bool is_done(const StepRecord& step) { return !step.outcome.empty() && step.outcome != "skipped"; }

void time_it(const NodeSummary& node, const burnin::Cause& cause, double speed, Detection& into) {
  const auto& steps = node.record.steps;
  const auto* last = reported_by(node, cause);
  if (last == nullptr || steps.empty()) return;
  const std::chrono::duration<double, std::milli> ours = last->ended - steps.front().began;
  into.took = std::chrono::milliseconds{std::llround(std::max(ours.count(), 0.0) * speed)};
  for (const auto& step : steps) {
    into.tests += is_done(step) ? 1 : 0;
    if (&step == last) break;
  }
}

double share(int part, int whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

bool to_be_found(const Detection& each) {
  return each.planted.needs.empty() &&
         (each.planted.slow || each.planted.verdict != Decision::pass);
}

/// "c22-n09 *": whatever follows that name, such as why nothing was heard of it.
bool is_named(std::string_view part, std::string_view expected) {
  if (!expected.ends_with(" *")) return part == expected;
  return part.starts_with(expected.substr(0, expected.size() - 1));
}

/// Whether any of the causes says so.
bool says(const NodeSummary& node, const std::string& text) {
  return text.empty() || std::ranges::any_of(node.causes, [&](const burnin::Cause& cause) {
           return measured_text(cause).contains(text);
         });
}

/// Named as slow, or as what stands out, which is more.
Detection detected_slow(const Planted& planted, const NodeSummary& node) {
  Detection found{.planted = planted, .verdict = node.decision};
  const auto take = [&](const std::string& part, const std::string& check, std::string measured) {
    if (found.right) return;
    found.found = true;
    found.part = part;
    found.check = check;
    found.measured = std::move(measured);
    found.right = check == planted.check && (planted.part.empty() || is_named(part, planted.part));
  };
  for (const auto& cause : node.causes)
    if (cause.criterion == planted.check) take(cause.part, cause.criterion, measured_text(cause));
  if (node.record.verdict)
    for (const auto& each : node.record.verdict->slow)
      take(each.part, fmt::format("{}: {}", to_string(each.against), each.measure),
           slow_text(each));
  return found;
}

}  // namespace

Detection detected(const Planted& planted, const NodeSummary& node, double speed) {
  if (planted.slow) return detected_slow(planted, node);
  Detection found{.planted = planted, .verdict = node.decision};
  found.found = node.decision == planted.verdict;
  found.right = found.found;
  if (node.causes.empty()) return found;
  const auto& first = node.causes.front();
  found.part = first.part;
  found.check = first.criterion;
  found.measured = measured_text(first);
  found.right =
      found.found && is_named(first.part, planted.part) && first.criterion == planted.check &&
      found.measured.find(planted.like) != std::string::npos && says(node, planted.because);
  time_it(node, first, speed, found);
  return found;
}

double Score::recall() const { return share(found, looked_for); }
double Score::precision() const { return share(found, found + blamed + to_bear - borne); }
double Score::right_part() const { return share(right, found); }
bool Score::whole() const {
  return right == looked_for && found == looked_for && borne == to_bear && blamed == 0;
}

Score score_of(std::span<const Detection> detections, std::span<const NodeSummary> healthy) {
  Score score;
  for (const auto& each : detections) {
    if (!each.planted.needs.empty()) {
      ++score.not_yet;
    } else if (to_be_found(each)) {
      ++score.looked_for;
      score.found += each.found ? 1 : 0;
      score.right += each.right ? 1 : 0;
    } else {
      ++score.to_bear;
      score.borne += each.found ? 1 : 0;
    }
  }
  for (const auto& node : healthy) {
    ++score.healthy;
    score.blamed += node.decision == Decision::pass ? 0 : 1;
  }
  return score;
}

std::string_view outcome_of(const Detection& detection) {
  if (!detection.planted.needs.empty()) return "not looked for yet";
  if (!to_be_found(detection)) return detection.found ? "borne" : "not borne";
  if (!detection.found) return "missed";
  return detection.right ? "found" : "wrong part";
}

boost::json::object to_json(const Detection& detection) {
  const auto& planted = detection.planted;
  boost::json::object object{{"fault", planted.fault},
                             {"node", planted.node},
                             {"outcome", outcome_of(detection)},
                             {"expected",
                              {{"verdict", planted.slow ? "slow" : to_string(planted.verdict)},
                               {"part", planted.part},
                               {"check", planted.check}}},
                             {"verdict", to_string(detection.verdict)},
                             {"part", detection.part},
                             {"check", detection.check},
                             {"measured", detection.measured},
                             {"seconds", static_cast<double>(detection.took.count()) / 1000},
                             {"tests", detection.tests}};
  if (!planted.needs.empty()) object["needs"] = planted.needs;
  return object;
}

boost::json::object to_json(const Score& score) {
  return {{"looked_for", score.looked_for},
          {"found", score.found},
          {"right_part", score.right},
          {"to_bear", score.to_bear},
          {"borne", score.borne},
          {"healthy", score.healthy},
          {"healthy_blamed", score.blamed},
          {"not_looked_for_yet", score.not_yet},
          {"recall", score.recall()},
          {"precision", score.precision()},
          {"right_part_share", score.right_part()}};
}

}  // namespace cupel::report
