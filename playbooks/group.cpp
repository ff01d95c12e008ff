#include "playbooks/group.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "inventory/node.h"
#include "playbooks/left_out.h"
#include "playbooks/playbook.h"
#include "playbooks/step_kind.h"

namespace cupel::playbooks {
namespace {

using inventory::Problem;

/// Who may be in one group: the step, the profile (whose steps are the same), and the rack.
using Joint = std::tuple<std::string, std::string, std::string>;

struct Joined {
  Together together{};
  std::vector<std::size_t> members{};
};

void add_groups(const std::string& step, const Joined& joined, std::vector<Group>& groups) {
  const auto& members = joined.members;
  const auto size = joined.together == Together::pairs ? std::size_t{2} : members.size();
  if (size < 2) return;
  for (std::size_t from = 0; from + size <= members.size(); from += size)
    groups.push_back({step,
                      {members.begin() + static_cast<std::ptrdiff_t>(from),
                       members.begin() + static_cast<std::ptrdiff_t>(from + size)}});
}

}  // namespace

bool needs_partner(const PlannedStep& step) {
  return step.together != Together::alone && step.kind != StepKind::slurm_job;
}

std::vector<Group> groups_of(const std::vector<NodePlan>& nodes, std::vector<Problem>& problems) {
  std::map<Joint, Joined> joined;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = *nodes[i].node;
    for (const auto& step : *nodes[i].steps) {
      if (step.together == Together::alone || left_out(step.when)) continue;
      if (step.together == Together::rack && node.rack.empty())
        problems.push_back({node.where, "'" + step.name + "' is done by whole racks, and node '" +
                                            node.name + "' has none"});
      const auto rack = step.together == Together::all ? std::string{} : node.rack;
      auto& group = joined[{step.name, node.profile, rack}];
      group.together = step.together;
      group.members.push_back(i);
    }
  }
  std::vector<Group> groups;
  for (auto& [key, group] : joined) {
    std::ranges::sort(group.members, {}, [&](std::size_t i) {
      return std::tuple{nodes[i].node->rack, nodes[i].node->unit, i};
    });
    add_groups(std::get<0>(key), group, groups);
  }
  return groups;
}

}  // namespace cupel::playbooks
