#include "orchestrator/ssh/gather.h"

#include <algorithm>
#include <map>

namespace cupel::ssh {

std::vector<Gathered> gather(std::span<const NodeText> texts) {
  std::map<std::string_view, std::size_t> place;
  std::vector<Gathered> groups;
  for (const auto& one : texts) {
    const auto [found, is_new] = place.emplace(one.text, groups.size());
    if (is_new) groups.push_back({{}, one.text});
    groups[found->second].nodes.push_back(one.node);
  }
  const auto larger = [](const Gathered& a, const Gathered& b) {
    return a.nodes.size() > b.nodes.size();
  };
  std::stable_sort(groups.begin(), groups.end(), larger);
  return groups;
}

std::string printed(std::span<const Gathered> groups, const Fold& fold) {
  const std::string rule(15, '-');
  std::string page;
  for (const auto& group : groups) {
    page += rule + "\n" + fold(group.nodes);
    if (group.nodes.size() > 1) page += " (" + std::to_string(group.nodes.size()) + ")";
    page += "\n" + rule + "\n" + group.text;
    if (!group.text.empty() && !group.text.ends_with('\n')) page += "\n";
  }
  return page;
}

}  // namespace cupel::ssh
