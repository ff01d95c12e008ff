#include "orchestrator/cli/plan_prefer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <map>

#include "burnin/stage.h"
#include "inventory/shipped.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/controller/plan_json.h"
#include "orchestrator/report/summary.h"
#include "playbooks/write_playbook.h"

namespace cupel::cli {
namespace {

using inventory::Problem;
using playbooks::PlaybookStep;
using std::chrono::seconds;

bool is_load_step(const PlaybookStep& step) {
  return step.kind == playbooks::StepKind::stage && burnin::is_load(*burnin::stage(step.name));
}

/// With all that `foreach` makes of it, on the machines where it takes longest.
seconds time_of(const PlaybookStep& step, const playbooks::Plan& plan) {
  seconds longest{0};
  for (const auto& [names, steps] : controller::plan_groups(plan)) {
    seconds sum{0};
    for (const auto& each : *steps)
      if (each.name == step.name || (step.each && each.name.starts_with(step.name + "@")))
        sum += each.expected;
    longest = std::max(longest, sum);
  }
  return longest;
}

std::vector<report::FaultNeeds> shipped_faults(std::vector<Problem>& problems) {
  std::vector<report::FaultNeeds> all;
  for (const auto& file : inventory::shipped_files()) {
    if (!file.path.starts_with("rehearsal/catalogue/")) continue;
    auto some = report::parse_fault_needs(file.text, std::string{file.path}, problems);
    std::ranges::move(some, std::back_inserter(all));
  }
  return all;
}

report::Ranking ranked(const controller::Planned& planned, report::Prefer preference,
                       std::vector<Problem>& problems) {
  constexpr std::string_view kShares = "rehearsal/weights.yaml";
  const auto* file = inventory::shipped_file(kShares);
  const auto shares = report::parse_part_shares(file->text, std::string{kShares}, problems);
  const auto faults = shipped_faults(problems);
  if (!shares || !problems.empty()) return {};
  std::vector<std::string> always;
  std::vector<report::LoadStep> loads;
  for (const auto& step : planned.playbook.steps) {
    const auto time = time_of(step, planned.plan);
    if (!is_load_step(step))
      always.push_back(step.name);
    else if (time.count() > 0)  // else no machine does it
      loads.push_back({step.name, time});
  }
  return report::rank_steps(*shares, faults, always, std::move(loads), preference);
}

/// The loads that are kept, in the ranking's order, where loads stood; all other steps as they
/// were.
std::vector<PlaybookStep> reordered(const std::vector<PlaybookStep>& steps,
                                    const report::Ranking& ranking) {
  std::vector<PlaybookStep> result;
  auto next = ranking.steps.begin();
  for (const auto& step : steps) {
    const auto rank = std::ranges::find(ranking.steps, step.name, &report::RankedStep::name);
    if (rank == ranking.steps.end()) {
      result.push_back(step);
      continue;
    }
    if (next == ranking.steps.end() || !next->kept) continue;
    result.push_back(*std::ranges::find(steps, next->name, &PlaybookStep::name));
    ++next;
  }
  return result;
}

}  // namespace

report::Prefer preference_of(std::string_view word) {
  return word == "time" ? report::Prefer::time : report::Prefer::coverage;
}

Result<report::Ranking> prefer(controller::Planned& planned, report::Prefer preference) {
  std::vector<Problem> problems;
  auto ranking = ranked(planned, preference, problems);
  if (!problems.empty()) return Error{Code::kInvalid, to_string(problems)};
  planned.playbook.steps = reordered(planned.playbook.steps, ranking);
  const auto text = playbooks::write_playbook(planned.playbook);
  auto read = playbooks::parse_playbook(text, planned.playbook.name + ", trimmed", problems);
  if (!read) return Error{Code::kInvalid, to_string(problems)};
  std::vector<const inventory::Node*> nodes;
  for (const auto& each : planned.plan.nodes) nodes.push_back(each.node);
  auto plan = playbooks::make_plan(*read, planned.inventory, nodes, problems);
  if (!plan) return Error{Code::kInvalid, to_string(problems)};
  planned.playbook = *std::move(read);
  planned.plan = *std::move(plan);
  return ranking;
}

std::string preference_text(const report::Ranking& ranking) {
  std::vector<Row> rows{{"STEP", "EXPECTED", "SHOWS", "A MINUTE", ""}};
  for (const auto& step : ranking.steps)
    rows.push_back({step.name, report::span_text(step.expected), fmt::format("{:.2f}", step.share),
                    fmt::format("{:.3f}", step.per_minute()), step.kept ? "" : "left out"});
  auto text = fmt::format(
      "{}\nof 100 parts that fail in the first 54 days of a fleet, the whole "
      "playbook shows {:.1f} and this plan {:.1f}: {:.1f} escape by what is "
      "left out\n",
      table(rows), ranking.whole, ranking.kept, ranking.whole - ranking.kept);
  if (!ranking.escaped.empty())
    text +=
        fmt::format("faults of the catalogue that escape: {}\n", fmt::join(ranking.escaped, " "));
  return text;
}

boost::json::object preference_json(const report::Ranking& ranking) {
  boost::json::array steps;
  for (const auto& step : ranking.steps)
    steps.push_back({{"step", step.name},
                     {"expected_s", step.expected.count()},
                     {"share", step.share},
                     {"share_per_minute", step.per_minute()},
                     {"kept", step.kept}});
  return {{"steps", std::move(steps)},
          {"whole", ranking.whole},
          {"kept", ranking.kept},
          {"escaped", boost::json::array(ranking.escaped.begin(), ranking.escaped.end())}};
}

}  // namespace cupel::cli
