#include "inventory/link_names.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cupel::inventory {
namespace {

std::string key_of(std::string_view node, std::string_view hca) {
  std::string key = lower_case(node);
  key += ' ';
  key += lower_case(hca);
  return key;
}

}  // namespace

LinkNames::LinkNames(const Fabric& plan, const SeenFabric& seen, const HcaGuids& guids)
    : seen_{seen}, identities_(seen.devices.size()) {
  for (const auto& one : plan.switches) {
    switches_.try_emplace(lower_case(one.name), &one);
    if (!one.guid.empty()) switches_.try_emplace(lower_case(one.guid), &one);
  }
  for (const auto& node : plan.nodes) {
    nodes_.try_emplace(lower_case(node.name), node.name);
    if (!node.host.empty()) nodes_.try_emplace(lower_case(node.host), node.name);
    for (const auto& hca : node.hcas) {
      hcas_.try_emplace(key_of(node.name, hca), CableEnd{node.name, hca, 1});
      if (!node.host.empty())
        hcas_.try_emplace(key_of(node.host, hca), CableEnd{node.name, hca, 1});
    }
  }
  for (std::size_t i = 0; i < seen.devices.size(); ++i) {
    const auto& device = seen.devices[i];
    if (device.kind == SeenDevice::Kind::switch_device)
      identify_switch(device, identities_[i]);
    else if (device.kind == SeenDevice::Kind::hca)
      identify_hca(device, guids, identities_[i]);
  }
}

void LinkNames::identify_switch(const SeenDevice& device, Identity& identity) {
  auto found = switches_.find(guid_text(device.guid));
  if (found == switches_.end()) found = switches_.find(lower_case(device.name));
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
  const auto described = hcas_.find(key_of(device.name, device.hca));
  if (described != hcas_.end()) {
    identity.device = described->second.device;
    identity.hca = described->second.hca;
  } else if (const auto node = nodes_.find(lower_case(device.name)); node != nodes_.end()) {
    identity.device = node->second;  // an HCA of it that the plan does not have
  }
  if (const auto sure = guids.find(device.guid); sure != guids.end()) {
    const bool other = !device.name.empty() && key_of(sure->second.device, sure->second.hca) !=
                                                   key_of(identity.device, identity.hca);
    if (other && described != hcas_.end())
      findings_.push_back(
          {CableFault::wrong_name, sure->second,
           fmt::format("HCA {} calls itself '{}', and is {} {} by its GUID", guid_text(device.guid),
                       device.description, sure->second.device, sure->second.hca),
           fmt::format("Check the host name of {}: a node answers for another. Restart its "
                       "rdma-ndd service.",
                       sure->second.device)});
    identity.device = sure->second.device;
    identity.hca = sure->second.hca;
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
