#include "burnin/criteria/compared_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "burnin/common_faults.h"
#include "burnin/consequences.h"
#include "burnin/stage.h"
#include "inventory/node_range.h"

namespace cupel::burnin {
namespace {

using Group = std::vector<const Compared*>;

/// "gpu0" and "gpu1" of "gpu0-gpu1"; itself of any other part.
std::vector<std::string> ends_of(const std::string& part) {
  const auto dash = part.find('-');
  if (dash == part.npos) return {part};
  return {part.substr(0, dash), part.substr(dash + 1)};
}

/// One measurement that stands out may be a mistake of that measurement.
bool is_seen_once(const Compared& compared) {
  return compared.found == Likeness::outlier && compared.again.empty();
}

/// "run 12 (2900 GB/s, where 3310 was expected)": what the other look read of the part, and of what
/// it was held against there.
std::string look_text(const std::string& where, const Compared& look) {
  return fmt::format("{} ({:.6g}{}{}, where {:.6g} was expected)", where, look.value,
                     look.unit.empty() ? "" : " ", look.unit, look.expected);
}

bool is_pair(const std::string& part) { return part.contains('-'); }

bool is_worse(const Compared* a, const Compared* b) { return margin(*a) < margin(*b); }

std::string remedy_for(const Compared& worst) {
  if (is_seen_once(worst))
    return "run this stage on it again in a run with another machine of its kind (cupel run "
           "PLAYBOOK --nodes ...): what stands out twice fails";
  switch (worst.against) {
    case Against::fleet:
      if (worst.found == Likeness::doubtful)
        return "find what differs between the two groups: firmware, settings, cooling, cabling";
      return "compare its clocks, heat, link and firmware with a faster machine; exchange it with "
             "the same part of one, and see which of the two is slow then";
    case Against::history:
      return "find what has changed since its last pass: firmware, settings, cooling, seating";
    case Against::trend:
      return "it wears out or clogs up: plan its cleaning or replacement";
  }
  __builtin_unreachable();
}

Cause cause_of(const Compared& worst, std::string part) {
  Cause cause;
  const bool open = worst.found == Likeness::doubtful || is_seen_once(worst);
  cause.decision = open ? Decision::inconclusive : Decision::fail;
  cause.part = std::move(part);
  cause.criterion = fmt::format("{}: {}", to_string(worst.against), worst.measure);
  cause.expected = expected_text(worst);
  cause.remedy = remedy_for(worst);
  cause.stages = {worst.stage};
  cause.quantity.value = worst.value;
  // Where nothing says which of two groups is right, there is no limit.
  if (worst.found != Likeness::doubtful)
    (worst.less_is_better ? cause.quantity.at_most : cause.quantity.at_least) = worst.limit;
  cause.quantity.unit = worst.unit;
  cause.criterion_id =
      fmt::format("{}/{}/{}", to_string(worst.against), worst.stage, worst.measure);
  return cause;
}

/// The one end that all of several pairs have.
std::string common_end(const Group& pairs) {
  std::map<std::string, std::size_t> seen;
  for (const auto* each : pairs)
    for (const auto& end : ends_of(each->part)) ++seen[end];
  for (const auto& [end, times] : seen)
    if (pairs.size() > 1 && times == pairs.size()) return end;
  return {};
}

/// What is unlike in one measure of one stage.
void add(const Group& group, std::vector<Cause>& causes) {
  constexpr std::size_t kMany = 4;
  const auto* worst = *std::ranges::min_element(group, is_worse);
  if (const auto end = is_pair(worst->part) ? common_end(group) : std::string{}; !end.empty()) {
    causes.push_back(cause_of(*worst, end));
    return;
  }
  if (group.size() < kMany) {
    for (const auto* each : group) causes.push_back(cause_of(*each, each->part));
    return;
  }
  auto cause = cause_of(*worst, {});
  std::vector<std::string> parts;
  for (const auto* each : group) parts.push_back(each->part);
  cause.place = fmt::format("{}, the worst of {}", worst->part, inventory::fold(parts));
  causes.push_back(std::move(cause));
}

bool is_compared(const Cause& cause) { return !compared_measure(cause.criterion).empty(); }

/// Whether what is wrong with `known` may show in numbers of `part`.
bool shows_in(const std::string& known, const std::string& part) {
  if (known.empty() || part.empty() || known == part) return true;
  const auto ends = ends_of(part);
  return is_pair(part) && std::ranges::find(ends, known) != ends.end();
}

std::string root_of(const Cause& cause) {
  return cause.consequence_of.empty() ? cause_name(cause) : cause.consequence_of;
}

}  // namespace

std::string_view compared_measure(std::string_view criterion) {
  constexpr std::string_view kMark = ": ";
  for (const auto against : {Against::fleet, Against::history, Against::trend}) {
    const auto word = to_string(against);
    if (criterion.starts_with(word) && criterion.substr(word.size()).starts_with(kMark))
      return criterion.substr(word.size() + kMark.size());
  }
  return {};
}

std::vector<Cause> causes_of(const std::vector<Compared>& compared) {
  std::map<std::tuple<Against, Likeness, std::string, std::string>, Group> groups;
  for (const auto& each : compared)
    if (each.found == Likeness::outlier || each.found == Likeness::doubtful)
      groups[{each.against, each.found, each.stage, each.measure}].push_back(&each);
  std::vector<Cause> causes;
  // By stage and measure: which of several rates of one part is off by most, is chance.
  for (const auto& [key, group] : groups) add(group, causes);
  // A part explains its pairs, and both explain what the node does as a whole.
  std::ranges::stable_sort(causes, {}, [](const Cause& cause) {
    return std::tuple{cause.decision != Decision::fail, cause.part.empty(), is_pair(cause.part)};
  });
  return causes;
}

bool is_to_be_repeated(const Cause& cause) {
  return cause.decision == Decision::inconclusive && is_compared(cause) &&
         (cause.quantity.at_least || cause.quantity.at_most);
}

void mark_repeated(std::vector<Compared>& compared, std::span<const Compared> before,
                   const std::string& when) {
  const auto is_same = [](const Compared& a, const Compared& b) {
    return a.found == Likeness::outlier && b.found == Likeness::outlier && a.against == b.against &&
           a.measure == b.measure && a.part == b.part && base_name(a.stage) == base_name(b.stage);
  };
  for (auto& each : compared) {
    if (!is_seen_once(each)) continue;
    for (const auto& other : compared)
      if (other.stage != each.stage && is_same(each, other))
        each.again = look_text(other.stage, other);
    for (const auto& other : before)
      if (is_same(each, other)) each.again = look_text(when, other);
  }
}

void mark_confirmed(Compared& now, const Compared& before, const std::string& when) {
  now.again = look_text(when, before);
}

void put_below_known(std::vector<Cause>& causes) {
  std::erase_if(causes, [&](const Cause& each) {
    return is_compared(each) && std::ranges::any_of(causes, [&](const Cause& known) {
             return !is_compared(known) && known.decision == Decision::fail &&
                    (known.part == each.part || known.part == kLinksOfAllGpus) &&
                    known.criterion == compared_measure(each.criterion);
           });
  });
  for (std::size_t i = 0; i < causes.size(); ++i) {
    auto& cause = causes[i];
    if (!is_compared(cause)) continue;
    for (std::size_t k = 0; k < causes.size(); ++k) {
      const auto& known = causes[k];
      const bool bad = known.decision == Decision::fail ||
                       (is_to_be_repeated(known) && cause.decision != Decision::fail);
      const bool may = bad && (!is_compared(known) || k < i);
      if (k == i || !may || !shows_in(known.part, cause.part)) continue;
      if (root_of(known) == cause_name(cause)) continue;
      cause.consequence_of = root_of(known);
      break;
    }
  }
}

}  // namespace cupel::burnin
