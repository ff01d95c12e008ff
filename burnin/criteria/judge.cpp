#include "burnin/criteria/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "burnin/criteria/sorted_numbers.h"
#include "burnin/measures/measure.h"
#include "burnin/stage.h"
#include "inventory/criterion.h"
#include "inventory/profile.h"

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

const Measurement* worst_of(const Criterion& criterion, NumbersOfSome of_one_part) {
  const Measurement* worst = nullptr;
  for (const auto* each : of_one_part)
    if (worst == nullptr || excess(criterion, *each) > excess(criterion, *worst)) worst = each;
  return worst;
}

/// Whether what the number of the node as a whole was traced to is a part.
bool is_traced_to_a_part(const Measurement& found) {
  if (found.traced_to.empty()) return false;
  const auto* row = measure_row(found.name);
  return row == nullptr || !row->of_node;
}

/// A criterion of a profile, and what it goes by in records.
struct Named {
  const Criterion& criterion;
  std::string id;
};

/// `numbers`: what the step has of the criterion's measure.
Checked compare(const Named& named, const std::string& step, const std::string& part,
                NumbersOfSome numbers) {
  const auto& criterion = named.criterion;
  Checked result{.stage = step,
                 .part = part,
                 .measure = criterion.measure,
                 .quantity = {{}, criterion.at_least, criterion.at_most, criterion.unit, {}},
                 .met = Met::missing,
                 .source = criterion.source,
                 .criterion_id = named.id,
                 .remedy = criterion.remedy};
  const auto* found = worst_of(criterion, of_part(numbers, part));
  if (found == nullptr) return result;
  const bool names_part = part.empty() && is_traced_to_a_part(*found);
  if (names_part) result.part = found->traced_to;
  if (std::isfinite(found->value)) result.quantity.value = found->value;
  if (!found->unit.empty()) result.quantity.unit = found->unit;
  if (!same_unit(criterion, *found)) result.quantity.unit_of_limits = criterion.unit;
  if (!is_plausible(found->value, result.quantity.unit) || !same_unit(criterion, *found))
    return result;
  result.met = meets(criterion, found->value) ? Met::met : Met::failed;
  if (result.met == Met::met) result.remedy.clear();
  if (result.met == Met::failed && !names_part) result.place = found->traced_to;
  return result;
}

/// "dimm *": every part of such a name that reported this number.
void judge_all_like(const Named& named, const std::string& step, std::string_view pattern,
                    NumbersOfSome numbers, std::vector<Checked>& checked) {
  const auto head = pattern.substr(0, pattern.size() - 1);
  for (auto rest = numbers; !rest.empty();) {
    const auto& part = take_first_part(rest).front()->part;
    if (part.size() > head.size() && part.starts_with(head))
      checked.push_back(compare(named, step, part, numbers));
  }
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

/// A step with what it found.
struct Step {
  const std::string& name;
  /// In the order of stages(): what the node's parts tell comes before what its BMC logs of them.
  std::ptrdiff_t place = 0;
  SortedNumbers numbers{};
};

Step step_of(const std::string& name, const FindingsByStage& findings) {
  const auto place = std::ranges::find(stages(), base_name(name), &Stage::name) - stages().begin();
  const auto found = findings.find(name);
  return {name, place, found == findings.end() ? SortedNumbers{} : sorted_numbers(found->second)};
}

/// "node-facts" is every reading of them, "node-facts@new" the one that goes by that name.
bool is_for(const Criterion& criterion, const Step& step) {
  return base_name(step.name) == criterion.stage || step.name == criterion.stage;
}

void judge_one(const Named& named, const Step& step, std::vector<Checked>& checked) {
  const auto numbers = of_measure(step.numbers, named.criterion.measure);
  for (const auto& part : named.criterion.parts)
    if (part.ends_with('*'))
      judge_all_like(named, step.name, part, numbers, checked);
    else
      checked.push_back(compare(named, step.name, part, numbers));
}

}  // namespace

std::vector<Checked> judge(const inventory::Profile& profile,
                           const std::set<std::string, std::less<>>& stages,
                           const FindingsByStage& findings) {
  std::vector<Step> steps;
  for (const auto& name : stages) steps.push_back(step_of(name, findings));
  // Whichever profile of a chain asked first.
  std::map<std::ptrdiff_t, std::vector<Checked>> by_place;
  for (const auto& named : named_criteria(profile))
    for (const auto& step : steps)
      if (is_for(named.criterion, step)) judge_one(named, step, by_place[step.place]);
  std::vector<Checked> checked;
  std::size_t count = 0;
  for (const auto& [place, some] : by_place) count += some.size();
  checked.reserve(count);
  for (auto& [place, some] : by_place) std::ranges::move(some, std::back_inserter(checked));
  return checked;
}

}  // namespace cupel::burnin
