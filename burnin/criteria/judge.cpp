#include "burnin/criteria/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "burnin/measures/measure.h"
#include "burnin/stage.h"

namespace cupel::burnin {
namespace {

using inventory::Criterion;

bool same_unit(const Criterion& criterion, const Measurement& found) {
  return criterion.unit.empty() || found.unit.empty() || criterion.unit == found.unit;
}

bool meets(const Criterion& criterion, double value) {
  if (!std::isfinite(value) || (!criterion.at_least && !criterion.at_most)) return false;
  // Written so that a limit that is no number is never met.
  if (criterion.at_least && !(value >= *criterion.at_least)) return false;
  return !criterion.at_most || value <= *criterion.at_most;
}

/// How far a measurement lies outside; negative inside; infinite for one that cannot be compared.
/// Only for choosing the worst of several.
double excess(const Criterion& criterion, const Measurement& found) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const auto& unit = found.unit.empty() ? criterion.unit : found.unit;
  if (!is_plausible(found.value, unit) || !same_unit(criterion, found)) return kInfinite;
  double worst = -kInfinite;
  if (criterion.at_least) worst = std::max(worst, *criterion.at_least - found.value);
  if (criterion.at_most) worst = std::max(worst, found.value - *criterion.at_most);
  return worst;
}

const Measurement* worst_of(const Criterion& criterion, const std::string& part,
                            const Findings& findings) {
  const Measurement* worst = nullptr;
  for (const auto& each : findings.measurements) {
    if (each.name != criterion.measure || each.part != part) continue;
    if (worst == nullptr || excess(criterion, each) > excess(criterion, *worst)) worst = &each;
  }
  return worst;
}

/// A criterion of a profile, and what it goes by in records.
struct Named {
  const Criterion& criterion;
  std::string id;
};

Checked compare(const Named& named, const std::string& step, const std::string& part,
                const Findings* findings) {
  const auto& criterion = named.criterion;
  Checked result{.stage = step,
                 .part = part,
                 .measure = criterion.measure,
                 .quantity = {{}, criterion.at_least, criterion.at_most, criterion.unit, {}},
                 .met = Met::missing,
                 .source = criterion.source,
                 .criterion_id = named.id,
                 .remedy = criterion.remedy};
  const auto* found = findings == nullptr ? nullptr : worst_of(criterion, part, *findings);
  if (found == nullptr) return result;
  if (part.empty()) result.part = found->traced_to;
  if (std::isfinite(found->value)) result.quantity.value = found->value;
  if (!found->unit.empty()) result.quantity.unit = found->unit;
  if (!same_unit(criterion, *found)) result.quantity.unit_of_limits = criterion.unit;
  if (!is_plausible(found->value, result.quantity.unit) || !same_unit(criterion, *found))
    return result;
  result.met = meets(criterion, found->value) ? Met::met : Met::failed;
  if (result.met == Met::met) result.remedy.clear();
  if (result.met == Met::failed && !part.empty()) result.place = found->traced_to;
  return result;
}

/// "dimm *": every part of such a name that told this number.
void judge_all_like(const Named& named, const std::string& step, const std::string& pattern,
                    const Findings* findings, std::vector<Checked>& checked) {
  if (findings == nullptr) return;
  const auto head = std::string_view{pattern}.substr(0, pattern.size() - 1);
  std::set<std::string, std::less<>> parts;
  for (const auto& each : findings->measurements)
    if (each.name == named.criterion.measure && each.part.size() > head.size() &&
        each.part.starts_with(head))
      parts.insert(each.part);
  for (const auto& part : parts) checked.push_back(compare(named, step, part, findings));
}

/// "gemm/gemm.bf16.rate"; a second one of that name in the profile is "gemm/gemm.bf16.rate#2".
std::vector<Named> named_criteria(const inventory::Profile& profile) {
  std::vector<Named> all;
  std::map<std::string, int> seen;
  for (const auto& each : profile.criteria) {
    auto id = each.stage + "/" + each.measure;
    const auto count = ++seen[id];
    if (count > 1) id += fmt::format("#{}", count);
    all.push_back({each, std::move(id)});
  }
  return all;
}

/// In the order of stages(): what the node's parts tell comes before what its BMC logs of them.
std::ptrdiff_t place_of(const Checked& checked) {
  return std::ranges::find(stages(), base_name(checked.stage), &Stage::name) - stages().begin();
}

}  // namespace

std::vector<Checked> judge(const inventory::Profile& profile,
                           const std::set<std::string, std::less<>>& stages,
                           const FindingsByStage& findings) {
  std::vector<Checked> checked;
  for (const auto& named : named_criteria(profile)) {
    for (const auto& step : stages) {
      // "node-facts" is every reading of them, "node-facts@new" the one that goes by that name.
      if (base_name(step) != named.criterion.stage && step != named.criterion.stage) continue;
      const auto found = findings.find(step);
      const auto* known = found == findings.end() ? nullptr : &found->second;
      for (const auto& part : named.criterion.parts)
        if (part.ends_with('*'))
          judge_all_like(named, step, part, known, checked);
        else
          checked.push_back(compare(named, step, part, known));
    }
  }
  // Whichever profile of a chain asked first.
  std::ranges::stable_sort(checked, {}, place_of);
  return checked;
}

}  // namespace cupel::burnin
