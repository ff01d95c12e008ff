#include "orchestrator/report/site_lists.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <set>

#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"

namespace cupel::report {
namespace {

namespace json = boost::json;

constexpr std::string_view kNone = "none";  // no run has judged it

bool is_of_names(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string with_underscores(std::string name) {
  std::ranges::replace_if(name, [](char c) { return !is_of_names(c); }, '_');
  return name;
}

std::string_view state_of(const NodeVerdicts& verdicts, const std::string& node) {
  const auto known = verdicts.find(node);
  return known == verdicts.end() ? kNone : std::string_view{known->second.state};
}

/// Ansible evaluates templates in variables; each begins with a brace.
std::string without_templates(std::string_view text) {
  auto plain = printable(text);
  std::erase_if(plain, [](char c) { return c == '{' || c == '}'; });
  return plain;
}

json::object variables_of(const inventory::Node& node, const NodeVerdicts& verdicts,
                          bool rehearsal) {
  json::object of{{"ansible_host", node.ssh.endpoint.host},
                  {"ansible_port", node.ssh.endpoint.port},
                  {"ansible_user", node.ssh.user}};
  if (!node.ssh.key_file.empty()) of["ansible_ssh_private_key_file"] = node.ssh.key_file;
  if (node.ssh.sudo) of["ansible_become"] = true;
  of["cupel_profile"] = node.profile;
  of["cupel_rack"] = node.rack;
  if (node.unit > 0) of["cupel_unit"] = node.unit;
  if (!node.serial.empty()) of["cupel_serial"] = without_templates(node.serial);
  of["cupel_bmc"] = inventory::to_string(node.bmc.endpoint);
  of["cupel_verdict"] = state_of(verdicts, node.name);
  const auto known = verdicts.find(node.name);
  if (known == verdicts.end()) return of;
  of["cupel_run"] = known->second.run;
  auto cause = without_templates(known->second.cause);  // it quotes what machines have printed
  if (!cause.empty()) of["cupel_cause"] = std::move(cause);
  if (rehearsal) of["cupel_rehearsal"] = true;
  return of;
}

/// Names of nodes by the name of their group, as it stands in the inventory.
using Members = std::map<std::string, json::array>;

void add_groups(const Members& members, std::string_view prefix, json::object& all,
                json::array& children) {
  std::vector<std::string> names;
  for (const auto& [name, nodes] : members) names.push_back(std::string{prefix} + name);
  const auto groups = ansible_group_names(names);
  std::size_t at = 0;
  for (const auto& [name, nodes] : members) {
    const auto& group = groups[at++];
    all[group] = json::object{{"hosts", nodes}};
    children.emplace_back(group);
  }
}

Members listed_groups(const inventory::Inventory& inventory, const ListedNodes& nodes) {
  std::set<std::string_view> listed;
  for (const auto* node : nodes) listed.insert(node->name);
  Members members;
  for (const auto& [name, names] : inventory.groups)
    for (const auto& node : names)
      if (listed.contains(node)) members[name].emplace_back(node);
  return members;
}

}  // namespace

std::vector<std::string> ansible_group_names(const std::vector<std::string>& names) {
  std::map<std::string, int> expected;
  for (const auto& name : names) ++expected[with_underscores(name)];
  std::vector<std::string> all;
  for (const auto& name : names) {
    auto group = with_underscores(name);
    all.push_back(expected.at(group) == 1 ? std::move(group) : name);
  }
  return all;
}

json::object ansible_inventory(const inventory::Inventory& inventory, const ListedNodes& nodes,
                               const NodeVerdicts& verdicts, bool rehearsal) {
  Members racks, profiles, states;
  json::object variables;
  for (const auto* node : nodes) {
    variables[node->name] = variables_of(*node, verdicts, rehearsal);
    if (!node->rack.empty()) racks[node->rack].emplace_back(node->name);
    profiles[node->profile].emplace_back(node->name);
    states[std::string{state_of(verdicts, node->name)}].emplace_back(node->name);
  }
  json::object all{{"_meta", json::object{{"hostvars", std::move(variables)}}}};
  json::array children;
  add_groups(listed_groups(inventory, nodes), "group_", all, children);
  add_groups(profiles, "profile_", all, children);
  add_groups(racks, "rack_", all, children);
  add_groups(states, "verdict_", all, children);
  all["all"] = json::object{{"children", std::move(children)}};
  return all;
}

json::array prometheus_targets(const ListedNodes& nodes, const NodeVerdicts& verdicts,
                               std::uint16_t port) {
  json::array all;
  for (const auto* node : nodes) {
    json::object labels{{"node", node->name},
                        {"rack", node->rack},
                        {"profile", node->profile},
                        {"__meta_cupel_verdict", state_of(verdicts, node->name)}};
    if (const auto known = verdicts.find(node->name); known != verdicts.end())
      labels["__meta_cupel_run"] = std::to_string(known->second.run);
    all.push_back({{"targets", json::array{inventory::to_string(
                                   inventory::Endpoint{node->ssh.endpoint.host, port})}},
                   {"labels", std::move(labels)}});
  }
  return all;
}

}  // namespace cupel::report
