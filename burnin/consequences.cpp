#include "burnin/consequences.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "burnin/common_faults.h"
#include "burnin/consequence_rules.h"

namespace cupel::burnin {
namespace {

/// '*' stands for any text.
bool fits(std::string_view pattern, std::string_view text) {
  const auto star = pattern.find('*');
  if (star == pattern.npos) return pattern == text;
  const auto tail = pattern.substr(star + 1);
  return text.size() >= star + tail.size() && text.starts_with(pattern.substr(0, star)) &&
         text.ends_with(tail);
}

bool is_of(const CauseKind& kind, const Cause& cause) {
  const auto one_of = [](const auto& patterns, auto has) {
    return patterns.empty() || std::ranges::any_of(patterns, has);
  };
  const auto& value = cause.quantity.value;
  if (kind.reported == Sourced::a_number && !value) return false;
  if (kind.reported == Sourced::nothing && value) return false;
  if (kind.reported == Sourced::missing && !is_missing(cause.quantity)) return false;
  if (!one_of(kind.values, [&](double each) { return value == each; })) return false;
  if (!one_of(kind.says, [&](auto text) { return cause.measured.contains(text); })) return false;
  return fits(kind.part, cause.part) &&
         one_of(kind.criteria, [&](auto each) { return fits(each, cause.criterion); });
}

/// "mlx5_7/1" and "gpu4-gpu5" are about mlx5_7, gpu4 and gpu5; "gpu44" is not about gpu4.
bool is_about(std::string_view place, std::string_view part) {
  if (part.empty()) return false;
  for (auto at = place.find(part); at != place.npos; at = place.find(part, at + 1)) {
    const auto end = at + part.size();
    const bool begins = at == 0 || place[at - 1] == '-';
    const bool ends = end == place.size() || place[end] == '-' || place[end] == '/';
    if (begins && ends) return true;
  }
  return false;
}

class Marker {
 public:
  Marker(std::vector<Cause>& causes, std::span<const Checked> checked)
      : causes_{causes}, checked_{checked}, by_(causes.size()) {}

  void apply(const ConsequenceRule& rule) {
    if (!rule.unless.criteria.empty() && any_of(rule.unless)) return;
    for (std::size_t i = 0; i < causes_.size(); ++i)
      if (!by_[i] && is_of(rule.effect, causes_[i])) explain(i, rule);
  }

  void write() {
    for (std::size_t i = 0; i < causes_.size(); ++i)
      causes_[i].consequence_of = by_[i] ? cause_name(causes_[root(i)]) : std::string{};
  }

 private:
  bool any_of(const CauseKind& kind) const {
    return std::ranges::any_of(causes_, [&](const Cause& each) { return is_of(kind, each); });
  }

  std::size_t root(std::size_t of) const {
    while (by_[of]) of = *by_[of];
    return of;
  }

  void explain(std::size_t effect, const ConsequenceRule& rule) {
    if (!accounts_for(rule, causes_[effect])) return;
    for (std::size_t i = 0; i < causes_.size(); ++i) {
      const auto& cause = causes_[i];
      const auto& other = causes_[effect];
      // What nobody could find out explains no failure.
      const bool may = cause.decision == Decision::fail || cause.decision == other.decision;
      const bool linked = rule.link == Link::group || is_about(other.part, cause.part);
      if (!may || !linked || root(i) == effect || !is_of(rule.cause, cause)) continue;
      by_[effect] = i;
      return;
    }
  }

  bool accounts_for(const ConsequenceRule& rule, const Cause& effect) const {
    if (rule.in_common) return is_common(rule, effect);
    if (rule.beside != ComparedWith::nothing) return is_by_others(rule, effect);
    if (rule.for_each == 0) return true;
    const auto &value = effect.quantity.value, &at_least = effect.quantity.at_least;
    return value && at_least && *at_least - *value == rule.for_each * gone(rule.counted);
  }

  /// Of a pair both ends were measured: it tells of itself. So does a part with such a fault.
  bool is_by_others(const ConsequenceRule& rule, const Cause& effect) const {
    const auto gpus =
        gpus_measured(checked_, rule.beside == ComparedWith::partners ? effect.criterion : "");
    const bool is_sick = std::ranges::any_of(causes_, [&](const Cause& each) {
      return each.part == effect.part &&
             std::ranges::any_of(rule.counted, [&](const auto& kind) { return is_of(kind, each); });
    });
    if (gpus == 0 || is_sick || !is_gpu(effect.part)) return false;
    const auto sick = static_cast<std::size_t>(gone(rule.counted));
    if (rule.beside == ComparedWith::partners) return is_limited_by_partners(gpus, sick);
    return rule.beside == ComparedWith::any || 2 * sick + 1 >= gpus;
  }

  /// How many parts of these kinds there are. An audit that can't say which ones are missing says
  /// how many there are: "7" of "8 gpus".
  double gone(const std::vector<CauseKind>& kinds) const {
    std::set<std::string_view> parts;
    double unnamed = 0;
    for (const auto& each : causes_) {
      if (std::ranges::none_of(kinds, [&](const auto& kind) { return is_of(kind, each); }))
        continue;
      parts.insert(each.part);
      const auto &there = each.quantity.value, &expected = each.quantity.at_least;
      const bool counted = each.criterion.starts_with("audit") && expected && there;
      if (counted) unnamed = std::max(unnamed, *expected - *there);
    }
    return std::max(unnamed, static_cast<double>(parts.size()));
  }

  bool is_common(const ConsequenceRule& rule, const Cause& effect) const {
    std::map<double, std::size_t> parts;
    std::set<std::string_view> all;
    for (const auto& each : causes_) {
      if (!is_of(rule.effect, each)) continue;
      ++parts[each.quantity.value.value_or(0)];
      all.insert(each.part);
    }
    const bool are_all = all.size() > 1 && all.size() >= gpus_measured(checked_, effect.criterion);
    if (rule.highest && are_all) return effect.quantity.value == parts.rbegin()->first;
    const auto most =
        *std::ranges::max_element(parts, {}, [](const auto& each) { return each.second; });
    return most.second > 1 && effect.quantity.value == most.first;
  }

  std::vector<Cause>& causes_;
  std::span<const Checked> checked_;
  std::vector<std::optional<std::size_t>> by_;  // the cause that explains each
};

}  // namespace

void mark_consequences(std::vector<Cause>& causes, std::span<const Checked> checked) {
  static const auto rules = consequence_rules();
  Marker marker{causes, checked};
  for (const auto& rule : rules) marker.apply(rule);
  marker.write();
}

std::string cause_name(const Cause& cause) {
  return cause.part.empty() ? cause.criterion : cause.part + ": " + cause.criterion;
}

std::vector<Explained> explained(std::span<const Cause> causes) {
  std::vector<Explained> all;
  std::map<std::string, std::size_t> where;
  for (const auto& cause : causes)
    if (cause.consequence_of.empty()) {
      where.try_emplace(cause_name(cause), all.size());
      all.push_back({cause, {}});
    }
  for (const auto& cause : causes) {
    if (cause.consequence_of.empty()) continue;
    const auto root = where.find(cause.consequence_of);
    if (root == where.end())
      all.push_back({cause, {}});
    else
      all[root->second].consequences.push_back(cause);
  }
  return all;
}

}  // namespace cupel::burnin
