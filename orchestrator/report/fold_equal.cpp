#include "orchestrator/report/fold_equal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "burnin/verdict_text.h"
#include "inventory/node_range.h"

namespace cupel::report {
namespace {

/// Things with equal keys together, in the order in which each key was met first.
template <class Thing, class Key>
std::vector<std::vector<const Thing*>> grouped(std::span<const Thing> things, Key key) {
  std::vector<std::vector<const Thing*>> groups;
  std::map<std::string, std::size_t> where;
  for (const auto& thing : things) {
    const auto [found, fresh] = where.try_emplace(key(thing), groups.size());
    if (fresh) groups.emplace_back();
    groups[found->second].push_back(&thing);
  }
  return groups;
}

template <class Thing>
std::string parts_of(const std::vector<const Thing*>& group) {
  std::vector<std::string> names;
  for (const auto* each : group)
    if (!each->part.empty()) names.push_back(each->part);
  return inventory::fold(names);
}

/// All but the part.
std::string key_of_cause(const burnin::Cause& each) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", to_string(each.decision), each.criterion,
                     measured_text(each), expectation_text(each), each.remedy,
                     fmt::join(each.stages, ","), each.consequence_of);
}

/// "52 to 54 C" of 52, 54 and 53 C; with its place where all are the same.
std::string measured_of(const std::vector<const burnin::Checked*>& group) {
  std::vector<burnin::Quantity> quantities;
  for (const auto* each : group) quantities.push_back(each->quantity);
  const bool met = group.front()->met == burnin::Met::met;
  return met ? measured_text(quantities) : measured_text(*group.front());
}

/// Parts without any number, though they were to have more than a few.
std::set<std::string, std::less<>> silent_names(std::span<const burnin::Checked> checked) {
  constexpr std::size_t kFew = 3;
  std::map<std::string, std::size_t> missing;
  std::set<std::string, std::less<>> heard;
  for (const auto& each : checked) {
    if (each.met == burnin::Met::missing)
      ++missing[each.part];
    else
      heard.insert(each.part);
  }
  std::set<std::string, std::less<>> silent;
  for (const auto& [part, count] : missing)
    if (!part.empty() && count > kFew && !heard.contains(part)) silent.insert(part);
  return silent;
}

/// The silent part that a number is of: "gpu5" of "gpu5" and of the pair "gpu4-gpu5"; empty: none.
std::string_view silent_part_of(const burnin::Checked& each,
                                const std::set<std::string, std::less<>>& silent) {
  const std::string_view part = each.part;
  if (each.met != burnin::Met::missing) return {};
  for (auto at = part.find('-'); at != part.npos; at = part.find('-', at + 1))
    for (const auto end : {part.substr(0, at), part.substr(at + 1)})
      if (silent.contains(end)) return end;
  return silent.contains(part) ? part : std::string_view{};
}

void add_once(std::vector<std::string>& to, const std::string& name) {
  if (std::ranges::find(to, name) == to.end()) to.push_back(name);
}

}  // namespace

std::vector<burnin::Cause> fold_equal(std::span<const burnin::Cause> causes) {
  const auto groups = grouped(causes, key_of_cause);
  std::vector<burnin::Cause> reported;
  for (const auto& group : groups) {
    reported.push_back(*group.front());
    reported.back().part = parts_of(group);
  }
  return reported;
}

std::vector<burnin::Explained> fold_equal(std::span<const burnin::Explained> causes) {
  const auto groups =
      grouped(causes, [](const burnin::Explained& each) { return key_of_cause(each.cause); });
  std::vector<burnin::Explained> reported;
  for (const auto& group : groups) {
    reported.push_back({group.front()->cause, {}});
    std::vector<std::string> parts;
    for (const auto* each : group) {
      if (!each->cause.part.empty()) parts.push_back(each->cause.part);
      auto& into = reported.back().consequences;
      into.insert(into.end(), each->consequences.begin(), each->consequences.end());
    }
    reported.back().cause.part = inventory::fold(parts);
  }
  return reported;
}

std::vector<CheckedRow> fold_equal(std::span<const burnin::Checked> checked) {
  const auto groups = grouped(checked, [](const burnin::Checked& each) {
    const bool met = each.met == burnin::Met::met;
    return fmt::format("{}\n{}\n{}\n{}\n{}", each.stage, each.measure, expectation_text(each),
                       each.source, met ? std::string{} : measured_text(each));
  });
  std::vector<CheckedRow> reported;
  for (const auto& group : groups) {
    const auto& first = *group.front();
    reported.push_back({first.stage, parts_of(group), first.measure, measured_of(group),
                        expectation_text(first), first.met == burnin::Met::met, first.source});
  }
  return reported;
}

Heard without_silent(std::span<const burnin::Checked> checked) {
  const auto names = silent_names(checked);
  Heard heard;
  std::vector<std::pair<std::string, SilentParts>> silent;
  for (const auto& each : checked) {
    const auto part = silent_part_of(each, names);
    if (part.empty()) {
      heard.others.push_back(each);
      continue;
    }
    auto at = std::ranges::find(silent, part, &std::pair<std::string, SilentParts>::first);
    if (at == silent.end()) at = silent.insert(at, {std::string{part}, {}});
    add_once(at->second.stages, each.stage);
    add_once(at->second.measures, each.measure);
    ++at->second.criteria;
  }
  std::map<std::string, std::vector<std::string>> alike;
  const auto key_of = [](const SilentParts& each) {
    return fmt::format("{}\n{}\n{}", fmt::join(each.stages, ","), fmt::join(each.measures, ","),
                       each.criteria);
  };
  for (const auto& [part, each] : silent) alike[key_of(each)].push_back(part);
  for (auto& [part, each] : silent) {
    const auto parts = alike.extract(key_of(each));
    if (parts.empty()) continue;
    each.parts = inventory::fold(parts.mapped());
    heard.silent.push_back(std::move(each));
  }
  return heard;
}

std::vector<Reading> fold_equal(std::span<const burnin::Measurement> measurements) {
  const auto groups = grouped(measurements, [](const burnin::Measurement& each) {
    return fmt::format("{}\n{}", each.name, each.unit);
  });
  std::vector<Reading> reported;
  for (const auto& group : groups) {
    const auto [low, high] =
        std::ranges::minmax(group, {}, [](const burnin::Measurement* each) { return each->value; });
    auto value = plain(low->value);
    if (high->value > low->value) value += " to " + plain(high->value);
    if (!low->unit.empty() && low->unit != "count") value += " " + low->unit;
    reported.push_back({low->name, parts_of(group), std::move(value)});
  }
  return reported;
}

std::string consequences_text(std::span<const burnin::Cause> consequences) {
  constexpr std::size_t kMost = 4;
  const auto groups =
      grouped(consequences, [](const burnin::Cause& each) { return each.criterion; });
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.size(), kMost); ++i) {
    const auto parts = parts_of(groups[i]);
    text += fmt::format("{}{}{}{}", i == 0 ? "" : ", ", groups[i].front()->criterion,
                        parts.empty() ? "" : " of ", parts);
  }
  if (groups.size() > kMost) text += fmt::format(" and {} more", groups.size() - kMost);
  return text;
}

std::string stages_text(std::span<const std::string> stages) {
  constexpr std::size_t kMost = 4;
  const auto shown = stages.first(std::min(stages.size(), kMost));
  auto text = fmt::format("{}", fmt::join(shown, ", "));
  if (stages.size() > kMost) text += fmt::format(" and {} more", stages.size() - kMost);
  return text;
}

}  // namespace cupel::report
