#include "orchestrator/steps/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "burnin/criteria/compared_causes.h"
#include "burnin/criteria/fleet_measures.h"
#include "burnin/stage.h"
#include "inventory/node.h"
#include "inventory/parts.h"
#include "inventory/subject.h"
#include "orchestrator/record/fleet_codec.h"
#include "orchestrator/record/serials.h"
#include "orchestrator/store/earlier.h"

namespace cupel::steps {
namespace {

using std::chrono::days;
using std::chrono::duration;

double in_days(engine::WallTime time) {
  return duration<double, days::period>{time.time_since_epoch()}.count();
}

std::string words_of(const FleetBoard::Learned& learned, const burnin::FleetCriteria& limits) {
  const auto nodes = learned.nodes + learned.earlier;
  if (learned.reference.series.empty())
    return fmt::format("numbers not compared between nodes: {} measured, {} needed", nodes,
                       limits.fewest_nodes);
  if (learned.earlier > 0)
    return fmt::format("numbers compared with {} nodes of this run and {} of earlier ones",
                       learned.nodes, learned.earlier);
  return {};
}

/// What an earlier run counts for.
struct EarlierRun {
  bool counts = false;
  std::vector<std::string> replaced{};  // parts that are others by now
};

/// A run whose record cannot be read proves nothing of the node, and does not count.
EarlierRun earlier_run(const store::Store& store, engine::RunId run, const std::string& node,
                       const record::NodeRecord& now) {
  const auto record = record::node_record(store, run, node);
  if (!record || !record->verdict || record->verdict->decision != burnin::Decision::pass) return {};
  if (record::is_other_machine(*record, now)) return {};
  return {true, record::replaced_parts(*record, now)};
}

bool is_of_replaced(const EarlierRun& run, std::string_view part) {
  return !part.empty() && std::ranges::any_of(run.replaced, [&](const std::string& each) {
    return inventory::is_about(part, each);
  });
}

/// It stands out, and it is not known whether it does so again.
bool is_open(const burnin::Compared& compared) {
  return compared.found == burnin::Likeness::outlier && compared.again.empty();
}

bool is_of_same_series(const burnin::Compared& a, const burnin::Compared& b) {
  return a.against == b.against && a.measure == b.measure &&
         burnin::base_name(a.stage) == burnin::base_name(b.stage) &&
         burnin::kind_of_part(a.part) == burnin::kind_of_part(b.part);
}

}  // namespace

bool has_rates(const burnin::FindingsByStage& findings) {
  for (const auto& [stage, found] : findings)
    for (const auto& each : found.measurements)
      if (burnin::is_fleet_measure(each.name)) return true;
  return false;
}

burnin::FindingsByStage findings_to_compare(const record::NodeRecord& record) {
  burnin::FindingsByStage findings;
  for (const auto& [stage, found] : record.findings) findings.emplace(stage, found);
  return findings;
}

double day_of(const record::NodeRecord& record) {
  engine::WallTime last{};
  for (const auto& step : record.steps)
    if (record.findings.contains(step.name)) last = std::max(last, step.ended);
  return in_days(last);
}

Result<std::vector<burnin::EarlierValue>> earlier_of(const store::Store& store,
                                                     engine::RunId before,
                                                     const inventory::Node& node,
                                                     const record::NodeRecord& now) {
  constexpr std::size_t kMostRuns = 12;
  constexpr int kMostPages = 4;  // of so many runs, some of which it did not pass
  const auto units = burnin::fleet_units();
  std::vector<burnin::EarlierValue> earlier;
  std::set<engine::RunId> counted;
  for (int page = 0; page < kMostPages && counted.size() < kMostRuns; ++page) {
    TRY(const auto values, store::earlier_values(store.folder(), {.profile = node.profile,
                                                                  .node = node.name,
                                                                  .before = before,
                                                                  .most_runs = kMostRuns,
                                                                  .units = units}));
    if (values.empty()) break;
    before = values.back().run;
    std::map<engine::RunId, EarlierRun> runs;
    for (const auto& each : values) {
      const auto [run, fresh] = runs.try_emplace(each.run);
      if (fresh && counted.size() < kMostRuns)
        run->second = earlier_run(store, each.run, node.name, now);
      const auto subject = inventory::parse_subject(each.subject);
      if (!run->second.counts || !subject || subject->name != node.name) continue;
      if (is_of_replaced(run->second, subject->part)) continue;
      counted.insert(each.run);
      earlier.push_back({.run = each.run,
                         .days = in_days(each.time),
                         .stage = each.stage,
                         .part = subject->part,
                         .measure = each.measure,
                         .unit = each.unit,
                         .value = each.value});
    }
  }
  return earlier;
}

Result<void> mark_repeated(const store::Store& store, engine::RunId before, const std::string& node,
                           const record::NodeRecord& now, std::vector<burnin::Compared>& compared) {
  constexpr std::size_t kMostRuns = 100;  // audits among them, which compare nothing
  burnin::mark_repeated(compared, {}, {});
  if (std::ranges::none_of(compared, is_open)) return ok();
  TRY(const auto runs, store.runs_of(node, kMostRuns, before));
  for (const auto id : runs) {
    TRY(auto earlier, record::compared_of(store, id, node));
    const auto is_one = [&](const burnin::Compared& each) {
      return std::ranges::any_of(compared, [&](const burnin::Compared& one) {
        return is_open(one) && is_of_same_series(one, each);
      });
    };
    if (std::ranges::none_of(earlier, is_one)) continue;
    TRY(const auto was, record::node_record(store, id, node));
    if (record::is_other_machine(was, now)) return ok();
    const EarlierRun run{.counts = true, .replaced = record::replaced_parts(was, now)};
    std::erase_if(earlier,
                  [&](const burnin::Compared& each) { return is_of_replaced(run, each.part); });
    burnin::mark_repeated(compared, earlier, fmt::format("run {}", id));
    return ok();
  }
  return ok();
}

Result<FleetComparison> compared_with_fleet(store::Store& store, FleetBoard& board,
                                            engine::RunId run,
                                            const inventory::Inventory& inventory,
                                            const inventory::Node& node,
                                            const record::NodeRecord& record,
                                            const burnin::FleetCriteria& criteria, bool whole) {
  FleetComparison result;
  const auto findings = findings_to_compare(record);
  if (!has_rates(findings)) return result;
  if (criteria.judge) {
    TRY(result.learned,
        board.learned(store, run, inventory, node.profile, criteria.limits(), whole));
    result.compared = burnin::compare(result.learned->reference, findings);
    result.evidence = result.learned->evidence;
    result.words = words_of(*result.learned, criteria);
  }
  if (criteria.history) {
    TRY(const auto earlier, earlier_of(store, run, node, record));
    auto own = burnin::compare_with_history(earlier, findings, day_of(record), criteria);
    std::ranges::move(own, std::back_inserter(result.compared));
    std::set<engine::RunId> runs;
    for (const auto& each : earlier) runs.insert(each.run);
    result.history.assign(runs.begin(), runs.end());
  }
  TRY(mark_repeated(store, run, node.name, record, result.compared));
  return result;
}

}  // namespace cupel::steps
