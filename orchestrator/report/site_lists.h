#pragma once
// The nodes of the inventory as other programs take them: Ansible's dynamic inventory, and the
// targets of Prometheus' service discovery.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "orchestrator/engine/event.h"

namespace cupel::report {

/// How the newest run that judged a node left it.
struct NodeVerdict {
  engine::RunId run = 0;
  std::string state{};  // "pass", "fail", "inconclusive"; "ended": nothing was judged
  std::string cause{};  // one line; may be empty
};

using NodeVerdicts = std::map<std::string, NodeVerdict, std::less<>>;
using ListedNodes = std::vector<const inventory::Node*>;

/// What Ansible calls a group: letters, digits and underscores, no digit first (Ansible user guide,
/// "Inventory basics"). Names that would become the same stay as they are. Of each of `names`, in
/// its order.
std::vector<std::string> ansible_group_names(const std::vector<std::string>& names);

/// The answer of an inventory script to --list, with the variables of all hosts in "_meta" (Ansible
/// developer guide, "Developing dynamic inventory"): groups rack_NAME, profile_NAME, group_NAME of
/// the inventory's groups, verdict_STATE. `rehearsal`: the verdicts are of virtual machines.
boost::json::object ansible_inventory(const inventory::Inventory& inventory,
                                      const ListedNodes& nodes, const NodeVerdicts& verdicts,
                                      bool rehearsal);

/// A list of targets as Prometheus' http_sd_config and file_sd_config read it: one entry for each
/// node, at the host of its SSH server, with labels node, rack, profile and, for relabeling only,
/// __meta_cupel_verdict and __meta_cupel_run.
boost::json::array prometheus_targets(const ListedNodes& nodes, const NodeVerdicts& verdicts,
                                      std::uint16_t port);

}  // namespace cupel::report
