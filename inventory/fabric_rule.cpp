#include "inventory/fabric_rule.h"

#include <fmt/format.h>

#include <algorithm>

namespace cupel::inventory {
namespace {

std::size_t rails_of(const std::vector<FabricMember>& members) {
  std::size_t rails = 0;
  for (const auto& member : members) rails = std::max(rails, member.hcas.size());
  return rails;
}

void replace(std::string& text, std::string_view word, int number) {
  const auto value = fmt::format("{}", number);
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + value.size()))
    text.replace(at, word.size(), value);
}

struct SwitchPlace {
  int group = 0, rail = 0, plane = 0, spine = 0;
};

std::string name_of(std::string pattern, const SwitchPlace& place) {
  replace(pattern, "{group}", place.group + 1);
  replace(pattern, "{rail}", place.rail + 1);
  replace(pattern, "{plane}", place.plane + 1);
  replace(pattern, "{spine}", place.spine + 1);
  return pattern;
}

/// Makes one fabric; a member function a level.
class Builder {
 public:
  Builder(const FabricRule& rule, const std::vector<FabricMember>& members)
      : rule_{rule}, members_{members}, down_{downlinks_of(rule, members)} {
    const auto group = static_cast<std::size_t>(rule.group);
    groups_ = static_cast<int>((members.size() + group - 1) / group);
    leaves_ = rule.layout == FabricLayout::fat_tree ? 1 : static_cast<int>(rails_of(members));
    uplinks_ = rule.spines > 0 ? std::max(rule.uplinks, 0) : 0;
    if (rule.spines > 0 && uplinks_ == 0) uplinks_ = std::max(1, down_ / rule.spines);
  }

  std::size_t cable_count() const {
    std::size_t count = 0;
    for (const auto& member : members_)
      count += member.hcas.size() * static_cast<std::size_t>(rule_.planes);
    return count + static_cast<std::size_t>(rule_.planes) * static_cast<std::size_t>(groups_) *
                       static_cast<std::size_t>(leaves_) * static_cast<std::size_t>(rule_.spines) *
                       static_cast<std::size_t>(uplinks_);
  }

  void check(std::vector<Problem>& problems) const {
    const auto report = [&](std::string what) {
      problems.push_back({rule_.where, std::move(what)});
    };
    const int up = rule_.spines * uplinks_;
    if (down_ + up > rule_.switch_ports)
      report(
          fmt::format("a leaf has {} ports, and the rule needs {}: {} to nodes and {} to "
                      "spines. Use smaller groups, or fewer uplinks",
                      rule_.switch_ports, down_ + up, down_, up));
    const int of_spine = groups_ * leaves_ * uplinks_;
    if (rule_.spines > 0 && of_spine > rule_.switch_ports)
      report(
          fmt::format("a spine has {} ports, and the rule needs {}: {} from each of {} leaves. "
                      "Use more spines, or fewer uplinks",
                      rule_.switch_ports, of_spine, uplinks_, groups_ * leaves_));
    if (rule_.spines == 0 && groups_ > 1)
      report(
          fmt::format("{} nodes in groups of {} are {} groups, and no spine connects them: "
                      "set spines",
                      members_.size(), rule_.group, groups_));
  }

  Fabric build() {
    for (int plane = 0; plane < rule_.planes; ++plane) add_switches(plane);
    for (std::size_t i = 0; i < members_.size(); ++i) add_node(i);
    for (int plane = 0; plane < rule_.planes; ++plane) add_uplinks(plane);
    return std::move(fabric_);
  }

 private:
  std::string leaf(const SwitchPlace& place) const {
    if (!rule_.leaf.empty()) return name_of(rule_.leaf, place);
    std::string usual =
        rule_.layout == FabricLayout::fat_tree ? "leaf{group}" : "leaf{group}-r{rail}";
    return name_of(rule_.planes > 1 ? "p{plane}-" + usual : usual, place);
  }
  std::string spine(const SwitchPlace& place) const {
    if (!rule_.spine.empty()) return name_of(rule_.spine, place);
    return name_of(rule_.planes > 1 ? "p{plane}-spine{spine}" : "spine{spine}", place);
  }

  FabricSwitch switch_of(std::string name, SwitchLevel level, int plane) const {
    return {.name = std::move(name),
            .level = level,
            .plane = plane,
            .ports = rule_.switch_ports,
            .ports_per_cage = rule_.ports_per_cage,
            .where = rule_.where};
  }

  void add_switches(int plane) {
    for (int group = 0; group < groups_; ++group)
      for (int rail = 0; rail < leaves_; ++rail) {
        auto made = switch_of(leaf({group, rail, plane}), SwitchLevel::leaf, plane);
        made.group = group;
        if (rule_.layout == FabricLayout::rail_optimised) made.rail = rail;
        fabric_.switches.push_back(std::move(made));
      }
    for (int spine_number = 0; spine_number < rule_.spines; ++spine_number)
      fabric_.switches.push_back(
          switch_of(spine({.plane = plane, .spine = spine_number}), SwitchLevel::spine, plane));
  }

  Cable cable(CableEnd from, CableEnd to) const {
    return {.from = std::move(from),
            .to = std::move(to),
            .speed = rule_.speed,
            .width = rule_.width,
            .where = rule_.where};
  }

  void add_node(std::size_t place) {
    const auto& member = members_[place];
    const int group = static_cast<int>(place) / rule_.group;
    const int index = static_cast<int>(place) % rule_.group;
    fabric_.nodes.push_back({member.name, member.hcas, group, index, member.host});
    const int rails = static_cast<int>(rails_of(members_));
    for (int rail = 0; rail < static_cast<int>(member.hcas.size()); ++rail)
      for (int plane = 0; plane < rule_.planes; ++plane) {
        const bool one_leaf = rule_.layout == FabricLayout::fat_tree;
        const int port = one_leaf ? index * rails + rail + 1 : index + 1;
        fabric_.cables.push_back(
            cable({member.name, member.hcas[static_cast<std::size_t>(rail)], plane + 1},
                  {leaf({group, one_leaf ? 0 : rail, plane}), "", port}));
      }
  }

  void add_uplinks(int plane) {
    for (int group = 0; group < groups_; ++group)
      for (int rail = 0; rail < leaves_; ++rail)
        for (int up = 0; up < rule_.spines * uplinks_; ++up) {
          const int to_spine = up / uplinks_;
          const int spine_port = (group * leaves_ + rail) * uplinks_ + up % uplinks_ + 1;
          fabric_.cables.push_back(
              cable({leaf({group, rail, plane}), "", down_ + up + 1},
                    {spine({.plane = plane, .spine = to_spine}), "", spine_port}));
        }
  }

  const FabricRule& rule_;
  const std::vector<FabricMember>& members_;
  int down_ = 0, groups_ = 0, leaves_ = 0, uplinks_ = 0;
  Fabric fabric_{};
};

}  // namespace

int downlinks_of(const FabricRule& rule, const std::vector<FabricMember>& members) {
  if (rule.layout == FabricLayout::rail_optimised) return rule.group;
  return rule.group * static_cast<int>(rails_of(members));
}

Fabric make_fabric(const FabricRule& rule, const std::vector<FabricMember>& members,
                   std::vector<Problem>& problems) {
  Builder builder{rule, members};
  builder.check(problems);
  if (const auto count = builder.cable_count(); count > kMostCables) {
    problems.push_back({rule.where, fmt::format("the rule makes {} cables; at most {} are planned",
                                                count, kMostCables)});
    return {};
  }
  return builder.build();
}

}  // namespace cupel::inventory
