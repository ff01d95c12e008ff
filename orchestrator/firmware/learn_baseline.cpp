#include "orchestrator/firmware/learn_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "inventory/judge_firmware.h"

namespace cupel::firmware {
namespace {

using inventory::ExpectedFirmware;
using inventory::Part;
using Parts = std::vector<const Part*>;

constexpr std::size_t kLongestVersion = 128;
constexpr std::size_t kShortestVersionInId = 3;  // shorter ones stand in Ids by chance
constexpr std::size_t kLongestName = 60;
constexpr std::size_t kMostIds = 256;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

std::string version_of(const Part& part) { return printable(trimmed(part.firmware)); }

/// "Installed-25227-*__iDRAC.Embedded.1-1": the Id without the version that it holds.
std::string without_version(const Part& part) {
  auto id = part.name;
  const auto version = trimmed(part.firmware);
  if (version.size() < kShortestVersionInId) return id;
  if (const auto at = id.find(version); at != id.npos) id.replace(at, version.size(), "*");
  return id;
}

/// What an entry goes by: its Id, or its Name where the Id is a place in a list.
std::string called(const Part& part) {
  return is_number(part.name) && !part.model.empty() ? part.model : without_version(part);
}

/// Runs of digits and what stands between them, in turns, the first of them no digits.
std::vector<std::string> runs_of(std::string_view text) {
  std::vector<std::string> runs{""};
  bool digits = false;
  for (const char c : text) {
    if (is_digit(c) != digits) runs.emplace_back();
    digits = is_digit(c);
    runs.back() += c;
  }
  return runs;
}

std::string skeleton_of(std::string_view text) {
  std::string skeleton;
  for (const auto& run : runs_of(text)) skeleton += is_number(run) ? "#" : run;
  return skeleton;
}

/// One pattern for names of one skeleton: a star where their numbers differ.
std::string pattern_of(const std::vector<std::string>& names) {
  auto pattern = runs_of(names.front());
  for (const auto& name : names) {
    const auto runs = runs_of(name);
    for (std::size_t i = 0; i < pattern.size(); ++i)
      if (runs[i] != pattern[i]) pattern[i] = "*";
  }
  return fmt::format("{}", fmt::join(pattern, ""));
}

/// Letters, digits, '-', '_' and '.' of the pattern, once in the baseline.
std::string component_name(std::string_view pattern, std::set<std::string>& taken) {
  std::string name;
  for (const char c : pattern) {
    const bool good =
        is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
    if (good) name += c;
    if (!good && !name.empty() && name.back() != '-') name += '-';
  }
  while (!name.empty() && (name.back() == '-' || name.back() == '_' || name.back() == '.'))
    name.pop_back();
  name = name.empty() ? "component" : name.substr(0, kLongestName);
  auto unique = name;
  for (int i = 2; !taken.insert(lower_case(unique)).second; ++i)
    unique = fmt::format("{}-{}", name, i);
  return unique;
}

/// Whether all that the component covers is of its version: no pattern may take in a stranger.
bool holds(const ExpectedFirmware& component, const Parts& all) {
  return std::ranges::all_of(all, [&](const Part* part) {
    return !inventory::covers(component, *part) ||
           inventory::is_expected_version(component, part->firmware);
  });
}

class Learner {
 public:
  explicit Learner(const std::vector<Part>& reported) {
    for (const auto& part : reported)
      if (part.kind == inventory::PartKind::firmware && !trimmed(part.firmware).empty())
        all_.push_back(&part);
  }

  LearnedBaseline learn() {
    std::map<std::pair<std::string, std::string>, Parts> groups;
    std::vector<std::pair<std::string, std::string>> order;  // as the machine lists them
    for (const auto* part : all_) {
      const std::pair key{skeleton_of(called(*part)), version_of(*part)};
      if (!groups.contains(key)) order.push_back(key);
      groups[key].push_back(part);
    }
    for (const auto& key : order) add(groups[key]);
    for (const auto* part : all_)
      if (std::ranges::none_of(learned_.components, [&](const auto& component) {
            return inventory::covers(component, *part);
          }))
        learned_.left_out.push_back(*part);
    return std::move(learned_);
  }

 private:
  /// By one pattern; by the names themselves where that takes in others; by the Ids as they are.
  void add(const Parts& group) {
    std::vector<std::string> names, ids;
    for (const auto* part : group) {
      names.push_back(called(*part));
      ids.push_back(part->name);
    }
    if (put({pattern_of(names)}, *group.front()) || put(names, *group.front())) return;
    put(ids, *group.front());
  }

  bool put(std::vector<std::string> ids, const Part& like) {
    std::ranges::sort(ids);
    const auto doubles = std::ranges::unique(ids);
    ids.erase(doubles.begin(), doubles.end());
    const bool readable = std::ranges::all_of(
        ids, [](const auto& id) { return printable(id) == id && trimmed(id) == id; });
    const auto version = version_of(like);
    if (!readable || version.empty() || version.size() > kLongestVersion || ids.size() > kMostIds)
      return false;
    ExpectedFirmware component{.component = "", .version = version, .ids = ids};
    if (!holds(component, all_)) return false;
    component.component = component_name(ids.front(), taken_);
    if (ids.size() == 1 && ids.front() == component.component) component.ids.clear();
    learned_.components.push_back(std::move(component));
    return true;
  }

  Parts all_{};
  std::set<std::string> taken_{};
  LearnedBaseline learned_{};
};

/// A double-quoted scalar. Source: YAML 1.2.2, 7.3.1.
std::string in_quotes(std::string_view text) {
  std::string scalar = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') scalar += '\\';
    scalar += c;
  }
  return scalar + '"';
}

}  // namespace

LearnedBaseline learn_baseline(const std::vector<Part>& reported) {
  return Learner{reported}.learn();
}

std::string to_yaml(const LearnedBaseline& baseline) {
  std::string text = "firmware:\n";
  if (baseline.components.empty()) text = "firmware: []\n";
  for (const auto& each : baseline.components) {
    text += fmt::format("  - {{component: {}, version: {}", in_quotes(each.component),
                        in_quotes(each.version));
    std::vector<std::string> ids;
    for (const auto& id : each.ids) ids.push_back(in_quotes(id));
    if (!ids.empty()) text += fmt::format(", ids: [{}]", fmt::join(ids, ", "));
    text += "}\n";
  }
  for (const auto& part : baseline.left_out)
    text += fmt::format("  # {} {}: not learned, another entry of that name has another version\n",
                        printable(part.name), version_of(part));
  return text;
}

}  // namespace cupel::firmware
