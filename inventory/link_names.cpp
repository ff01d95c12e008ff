#include "inventory/link_names.h"

#include <fmt/format.h>

#include <optional>

#include "base/text.h"

namespace cupel::inventory {
namespace {

std::string key_of(std::string_view node, std::string_view hca) {
  std::string key = lower_case(node);
  key += ' ';
  key += lower_case(hca);
  return key;
}

/// "gpu1.hall2.example" is gpu1.
std::string without_domain(std::string_view name) {
  return lower_case(name.substr(0, name.find('.')));
}

/// "mlx5_" of mlx5_6, "hca-" of HCA-2.
std::string form_of(std::string_view hca) {
  std::string form;
  for (const char one : hca)
    if (one < '0' || one > '9') form += one;
  return lower_case(form);
}

/// 2 of "HCA-2", which OFED's openibd writes where rdma-ndd does not run.
std::optional<int> hca_number(std::string_view hca) {
  constexpr std::string_view kBegin = "hca-";
  const auto lower = lower_case(hca);
  if (!lower.starts_with(kBegin)) return std::nullopt;
  const auto value = number<int>(std::string_view{lower}.substr(kBegin.size()));
  constexpr int kMost = 1000;
  return value && *value >= 1 && *value <= kMost ? value : std::nullopt;
}

template <class Map>
auto found_in(Map& map, std::string_view name) {
  const auto whole = map.find(lower_case(name));
  return whole != map.end() ? whole : map.find(without_domain(name));
}

}  // namespace

LinkNames::LinkNames(const Fabric& plan, const SeenFabric& seen, const HcaGuids& guids)
    : seen_{seen}, identities_(seen.devices.size()) {
  add_names(plan);
  count_numbers(seen);
  for (std::size_t i = 0; i < seen.devices.size(); ++i) {
    const auto& device = seen.devices[i];
    if (device.kind == SeenDevice::Kind::switch_device)
      identify_switch(device, identities_[i]);
    else if (device.kind == SeenDevice::Kind::hca)
      identify_hca(device, guids, identities_[i]);
  }
}

void LinkNames::add_names(const Fabric& plan) {
  for (const auto& one : plan.switches) {
    switches_.try_emplace(lower_case(one.name), &one);
    if (!one.guid.empty()) switches_.try_emplace(lower_case(one.guid), &one);
  }
  for (const auto& node : plan.nodes) {
    nodes_.try_emplace(lower_case(node.name), &node);
    if (!node.host.empty()) nodes_.try_emplace(lower_case(node.host), &node);
    for (const auto& hca : node.hcas) {
      forms_.insert(form_of(hca));
      hcas_.try_emplace(key_of(node.name, hca), CableEnd{node.name, hca, 1});
      if (!node.host.empty())
        hcas_.try_emplace(key_of(node.host, hca), CableEnd{node.name, hca, 1});
    }
  }
  // Hosts of two domains may have one name: then it stands for none of them.
  std::unordered_map<std::string, const FabricNode*> hosts;
  for (const auto& [name, node] : nodes_)
    if (const auto host = without_domain(name); host != name) {
      const auto [known, fresh] = hosts.try_emplace(host, node);
      if (!fresh && known->second != node) known->second = nullptr;
    }
  for (const auto& [host, node] : hosts)
    if (node != nullptr) nodes_.try_emplace(host, node);
}

const FabricNode* LinkNames::node_named(std::string_view name) const {
  const auto found = found_in(nodes_, name);
  return found == nodes_.end() ? nullptr : found->second;
}

/// What all nodes of the plan have together decides: 9 is beyond a list of eight HCAs.
void LinkNames::count_numbers(const SeenFabric& seen) {
  std::size_t all = 0, in_list = 0, of_driver = 0, alike = 0;
  for (const auto& device : seen.devices) {
    const auto* node = device.kind == SeenDevice::Kind::hca ? node_named(device.name) : nullptr;
    const auto count = node == nullptr ? std::nullopt : hca_number(device.hca);
    if (!count) continue;
    const auto place = static_cast<std::size_t>(*count);
    const bool listed = place <= node->hcas.size();
    const auto driver = fmt::format("mlx5_{}", *count - 1);
    ++all;
    in_list += listed ? 1 : 0;
    of_driver += hcas_.contains(key_of(node->name, driver)) ? 1 : 0;
    alike += listed && node->hcas[place - 1] == driver ? 1 : 0;
  }
  if (all == 0) return;
  if (in_list == all && (alike == all || of_driver < all))
    numbers_ = Numbers::of_list;
  else if (in_list < all && 2 * of_driver >= all)
    numbers_ = Numbers::of_driver;
}

std::string LinkNames::hca_named(const FabricNode& node, std::string_view name) const {
  const auto count = hca_number(name);
  if (!count || numbers_ == Numbers::unknown) return std::string{name};
  return numbers_ == Numbers::of_list ? node.hcas[static_cast<std::size_t>(*count) - 1]
                                      : fmt::format("mlx5_{}", *count - 1);
}

void LinkNames::identify_switch(const SeenDevice& device, Identity& identity) {
  auto found = switches_.find(guid_text(device.guid));
  if (found == switches_.end()) found = found_in(switches_, device.name);
  identity.device = found == switches_.end() ? device.name : found->second->name;
  if (found == switches_.end()) return;
  const auto [known, fresh] = switches_seen_.try_emplace(found->second->name, &device);
  if (fresh) return;
  identity.twice = true;
  findings_.push_back({CableFault::name_twice,
                       {identity.device, "", 0},
                       fmt::format("two switches are named {}: GUIDs {} and {}", identity.device,
                                   guid_text(known->second->guid), guid_text(device.guid)),
                       "Give each switch its own name, and look again."});
}

void LinkNames::identify_hca(const SeenDevice& device, const HcaGuids& guids, Identity& identity) {
  identity.device = device.name.empty() ? guid_text(device.guid) : device.name;
  identity.hca = device.hca.empty() ? "HCA" : device.hca;
  identity.understood = !device.name.empty();
  identity.form_of_plan = forms_.contains(form_of(identity.hca));
  bool described = false;
  if (const auto* node = node_named(device.name)) {
    identity.device = node->name;  // also with an HCA that the plan does not have
    identity.hca = hca_named(*node, identity.hca);
    const auto planned = hcas_.find(key_of(node->name, identity.hca));
    described = planned != hcas_.end();
    if (described) identity.hca = planned->second.hca;
    identity.understood = forms_.contains(form_of(identity.hca));
  }
  if (const auto sure = guids.find(device.guid); sure != guids.end()) {
    const bool other = !device.name.empty() && key_of(sure->second.device, sure->second.hca) !=
                                                   key_of(identity.device, identity.hca);
    if (other && described)
      findings_.push_back(
          {CableFault::wrong_name, sure->second,
           fmt::format("HCA {} calls itself '{}', and is {} {} by its GUID", guid_text(device.guid),
                       device.description, sure->second.device, sure->second.hca),
           fmt::format("Check the host name of {}: a node answers for another. Restart its "
                       "rdma-ndd service.",
                       sure->second.device)});
    identity.device = sure->second.device;
    identity.hca = sure->second.hca;
    identity.understood = true;
  }
  if (!hcas_.contains(key_of(identity.device, identity.hca))) return;
  const auto [known, fresh] =
      hcas_seen_.try_emplace(key_of(identity.device, identity.hca), &device);
  if (fresh) return;
  identity.twice = true;
  findings_.push_back(
      {CableFault::name_twice,
       {identity.device, identity.hca, 1},
       fmt::format("two HCAs are named {} {}: GUIDs {} and {}", identity.device, identity.hca,
                   guid_text(known->second->guid), guid_text(device.guid)),
       "Two hosts have one name, or node descriptions are stale: set the host names, restart "
       "rdma-ndd, and look again."});
}

std::optional<CableEnd> LinkNames::end(const SeenEnd& seen) const {
  const auto& identity = identities_[seen.device];
  const auto& device = seen_.devices[seen.device];
  if (identity.twice) return std::nullopt;
  if (device.kind == SeenDevice::Kind::aggregation)
    return CableEnd{guid_text(device.guid), "aggregation", seen.port};
  return CableEnd{identity.device, identity.hca, seen.port};
}

bool LinkNames::ignored(const SeenEnd& seen) const {
  return seen_.devices[seen.device].kind == SeenDevice::Kind::aggregation;
}

}  // namespace cupel::inventory
