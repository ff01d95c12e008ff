#include "orchestrator/report/action_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "inventory/node_range.h"
#include "orchestrator/report/clusters.h"
#include "orchestrator/report/fold_equal.h"
#include "orchestrator/report/wrapped.h"

namespace cupel::report {
namespace {

/// Commands that take a list of nodes.
constexpr std::string_view kForMany[] = {"cupel bmc NODE ", "cupel exec NODE "};

std::string action_on(const OperatorAction& item, const std::vector<std::string>& nodes) {
  if (nodes.size() < 2) return item.action;
  auto text = item.pattern;
  for (const auto command : kForMany) {
    const auto at = text.find(command);
    if (at == text.npos) continue;
    text.replace(at + command.size() - 5, 4, "'" + inventory::fold(nodes) + "'");
  }
  return text;
}

/// What hands must have in common to be one; of the reason, all but numbers and names.
std::string key_of(const OperatorAction& item) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", item.run, item.step, item.pattern, item.at_the_rack,
                     cause_of(item.why, item.node));
}

/// The parts of one node that want the same.
struct OnOneNode {
  OperatorAction first{};
  std::vector<std::string> parts{};
};

std::vector<OnOneNode> by_node(const std::vector<OperatorAction>& actions) {
  std::vector<OnOneNode> all;
  std::map<std::string, std::size_t> where;
  for (const auto& item : actions) {
    const auto [found, fresh] = where.try_emplace(item.node + "\n" + key_of(item), all.size());
    if (fresh) all.push_back({item, {}});
    auto& one = all[found->second];
    if (!item.part.empty()) one.parts.push_back(item.part);
    if (!fresh)
      one.first.consequences.insert(one.first.consequences.end(), item.consequences.begin(),
                                    item.consequences.end());
  }
  return all;
}

ActionGroup group_of(const OnOneNode& one) {
  ActionGroup group{.first = one.first, .parts = inventory::fold(one.parts)};
  group.action = one.first.action;
  if (!one.first.node.empty()) group.nodes = {one.first.node};
  if (!one.first.rack.empty()) group.racks = {one.first.rack};
  return group;
}

/// 0: at a desk; 1: what nodes have in common at the racks; 2: of one node there.
int rank_of(const ActionGroup& group) {
  if (group.nodes.empty() || !group.first.at_the_rack) return 0;
  return group.nodes.size() > 1 ? 1 : 2;
}

/// "a01 U13".
std::string place_of(const OperatorAction& item) {
  if (item.rack.empty()) return "unknown rack";
  return item.unit == 0 ? item.rack : fmt::format("{} U{}", item.rack, item.unit);
}

using Row = std::array<std::string, 3>;

/// Without a place where no action has one: the inventory names no racks.
Row row_of(const ActionGroup& group, bool racks_known) {
  const auto& item = group.first;
  const bool many = group.nodes.size() > 1;
  std::string where = "desk";
  if (item.at_the_rack && !racks_known)
    where = "";
  else if (item.at_the_rack && group.racks.size() > 1)
    where = fmt::format("{} racks", group.racks.size());
  else if (item.at_the_rack && many && !item.rack.empty())
    where = item.rack;
  else if (item.at_the_rack)
    where = place_of(item);
  return {where, many ? fmt::format("{} nodes", group.nodes.size()) : item.node, group.parts};
}

/// Of so many that one can walk to them, with their places.
std::string nodes_of(const ActionGroup& group) {
  constexpr std::size_t kMostPlaces = 16;
  if (!group.first.at_the_rack || group.racks.empty() || group.nodes.size() > kMostPlaces)
    return inventory::fold(group.nodes);
  return fmt::format("{}", fmt::join(group.places, ", "));
}

/// The lines below an action.
std::vector<std::string> remarks_on(const ActionGroup& group, bool runs_named) {
  const auto& item = group.first;
  std::vector<std::string> lines;
  if (group.nodes.size() > 1) lines.push_back(printable(nodes_of(group)));
  std::string why = runs_named ? fmt::format("run {}: ", item.run) : "";
  if (!item.step.empty()) why += item.step + ": ";
  if (group.nodes.size() > 1) why += fmt::format("{}: ", item.node);
  lines.push_back(printable(why + item.why));
  if (!item.likely.empty() && group.nodes.size() < 2)
    lines.push_back(
        printable(fmt::format("either {}; to tell them apart: {}", item.likely, item.apart)));
  if (!item.consequences.empty())
    lines.push_back(printable("explains " + consequences_text(item.consequences)));
  return lines;
}

std::string below(const std::vector<Row>& rows, const std::vector<const ActionGroup*>& groups,
                  bool runs_named, std::size_t width) {
  std::array<std::size_t, 3> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  const auto indent = widths[0] + widths[1] + widths[2] + 6;
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [where, node, part] = rows[i];
    const auto action = i == 0 ? "what to do" : printable(groups[i - 1]->action);
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", where, widths[0], node, widths[1], part,
                        widths[2], wrapped(action, indent, width));
    if (i == 0) continue;
    for (const auto& line : remarks_on(*groups[i - 1], runs_named))
      text += std::string(indent, ' ') + wrapped(line, indent, width) + "\n";
  }
  return text;
}

}  // namespace

std::vector<ActionGroup> grouped(const std::vector<OperatorAction>& actions) {
  const auto ones = by_node(actions);
  std::map<std::string, std::vector<std::size_t>> alike;
  const auto key = [](const OnOneNode& one) {
    return inventory::fold(one.parts) + "\n" + key_of(one.first);
  };
  for (std::size_t i = 0; i < ones.size(); ++i) alike[key(ones[i])].push_back(i);
  std::vector<ActionGroup> groups;
  for (std::size_t i = 0; i < ones.size(); ++i) {
    const auto& same = alike[key(ones[i])];
    const bool many = same.size() >= kLeastAlike && !ones[i].first.node.empty();
    if (many && same.front() != i) continue;
    auto group = group_of(ones[i]);
    if (many) {
      std::set<std::string> racks;
      group.nodes.clear();
      for (const auto each : same) {
        group.nodes.push_back(ones[each].first.node);
        group.places.push_back(
            fmt::format("{} ({})", ones[each].first.node, place_of(ones[each].first)));
        if (!ones[each].first.rack.empty()) racks.insert(ones[each].first.rack);
      }
      group.racks = {racks.begin(), racks.end()};
      group.action = action_on(group.first, group.nodes);
    }
    groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(groups, [](const ActionGroup& a, const ActionGroup& b) {
    if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
    return rank_of(a) == 1 && a.nodes.size() > b.nodes.size();
  });
  return groups;
}

std::string to_text(const std::vector<OperatorAction>& actions, const ActionsText& how) {
  std::vector<ActionGroup> groups;
  if (how.all)
    for (const auto& item : actions)
      groups.push_back(group_of({item, item.part.empty() ? std::vector<std::string>{}
                                                         : std::vector<std::string>{item.part}}));
  else
    groups = grouped(actions);
  const bool racks_known =
      std::ranges::any_of(actions, [](const OperatorAction& item) { return !item.rack.empty(); });
  std::vector<Row> rows{{"where", "node", "part"}};
  std::vector<const ActionGroup*> shown;
  std::set<std::string> left_nodes;
  for (const auto& group : groups) {
    if (how.all || shown.size() < how.most) {
      shown.push_back(&group);
      rows.push_back(row_of(group, racks_known));
    } else {
      left_nodes.insert(group.nodes.begin(), group.nodes.end());
    }
  }
  std::set<engine::RunId> runs;
  for (const auto& item : actions) runs.insert(item.run);
  auto text = below(rows, shown, runs.size() > 1, how.width);
  if (shown.size() < groups.size())
    text +=
        fmt::format("and {} more on {} node{}: --all shows each\n", groups.size() - shown.size(),
                    left_nodes.size(), left_nodes.size() == 1 ? "" : "s");
  return text;
}

}  // namespace cupel::report
