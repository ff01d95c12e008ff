#include "orchestrator/report/untested.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "burnin/stage.h"

namespace cupel::report {
namespace {

/// Equal ones of several nodes together, in the order in which each was met first.
class Gathered {
 public:
  void add(std::string what, std::string why, const std::string& node) {
    const auto [found, fresh] = where_.try_emplace(what + "\n" + why, all_.size());
    if (fresh) all_.push_back({std::move(what), std::move(why)});
    auto& nodes = all_[found->second].nodes;
    if (nodes.empty() || nodes.back() != node) nodes.push_back(node);
  }
  void move_to(std::vector<Untested>& all) { std::ranges::move(all_, std::back_inserter(all)); }

 private:
  std::vector<Untested> all_{};
  std::map<std::string, std::size_t> where_{};
};

/// Empty where the step was done.
std::string why_not(const record::StepRecord& step) {
  if (step.outcome == "done") return {};
  if (step.outcome.empty())
    return step.detail.empty() ? "begun, and not ended" : "not ended: " + step.detail;
  if (step.outcome != "skipped") return "it failed: " + step.detail;
  if (step.skipped == record::Skipped::person) return step.detail;
  return step.detail.empty() ? "skipped" : "skipped: " + step.detail;
}

void add_steps(const RunSummary& summary, std::vector<Untested>& all) {
  Gathered gathered, never_begun;
  for (const auto& node : summary.nodes) {
    const auto& steps = node.record.steps;
    std::string missing;
    for (const auto& name : summary.steps) {
      const auto step = std::ranges::find(steps, name, &record::StepRecord::name);
      if (step == steps.end())
        missing += (missing.empty() ? "" : ", ") + name;
      else if (const auto why = why_not(*step); !why.empty())
        gathered.add(name, why, node.record.node);
    }
    if (!missing.empty()) never_begun.add(missing, "not begun", node.record.node);
  }
  gathered.move_to(all);
  never_begun.move_to(all);
}

/// "hbm of gpu5: hbm.copy, hbm.below_best": what one missing part has cost stands in one line a
/// stage.
std::vector<std::string> without_data(const record::NodeRecord& record) {
  std::vector<std::pair<std::string, std::string>> found;
  if (!record.verdict) return {};
  for (const auto& each : record.verdict->checked) {
    if (each.quantity.value) continue;
    auto whose = each.stage + (each.part.empty() ? "" : " of " + each.part);
    const auto known = std::ranges::find(found, whose, &std::pair<std::string, std::string>::first);
    if (known == found.end())
      found.emplace_back(std::move(whose), each.measure);
    else
      known->second += ", " + each.measure;
  }
  std::vector<std::string> all;
  for (const auto& [whose, measures] : found) all.push_back(whose + ": " + measures);
  return all;
}

void add_measures(const RunSummary& summary, std::vector<Untested>& all) {
  Gathered measures, facts;
  for (const auto& node : summary.nodes) {
    const auto& record = node.record;
    for (auto& what : without_data(record))
      measures.add(std::move(what), "no measurement came", record.node);
    for (const auto& [stage, findings] : record.findings)
      for (const auto& unknown : findings.unknown)
        facts.add(stage + ": " + unknown.fact, unknown.source + ": " + unknown.why, record.node);
  }
  measures.move_to(all);
  facts.move_to(all);
}

void add_stages(const RunSummary& summary, std::vector<Untested>& all) {
  for (const auto& stage : burnin::stages()) {
    const bool planned = std::ranges::any_of(
        summary.steps, [&](const auto& step) { return burnin::base_name(step) == stage.name; });
    if (!planned) all.push_back({std::string{stage.name}, std::string{kNotInPlaybook}});
  }
}

}  // namespace

std::vector<Untested> untested_of(const RunSummary& summary) {
  std::vector<Untested> all;
  add_steps(summary, all);
  add_measures(summary, all);
  add_stages(summary, all);
  return all;
}

boost::json::array to_json(std::span<const Untested> untested) {
  boost::json::array all;
  for (const auto& each : untested)
    all.push_back(
        {{"what", each.what}, {"why", each.why}, {"nodes", boost::json::value_from(each.nodes)}});
  return all;
}

}  // namespace cupel::report
