#include "orchestrator/cli/world.h"

#include "inventory/secret.h"

namespace cupel::cli {

constexpr std::chrono::seconds kSecretPatience{30};

World::World(const inventory::Inventory& inventory, store::Store& store)
    : inventory_{inventory}, store_{store}, transport_{io_.get_executor(), {}, &store} {}

std::unique_ptr<bmc::Bmc> World::bmc(const inventory::Node& node) {
  const auto secret = [ref = node.bmc.password]() {
    return inventory::resolve_secret(ref, Deadline::in(kSecretPatience));
  };
  bmc::redfish::Expected expected{.people = {.serial = node.serial, .mac = node.bmc.mac},
                                  .networks = inventory_.bmc_networks};
  return bmc::redfish::open(transport_, node.name, node.bmc, secret, store_, std::move(expected));
}

Task<Result<std::unique_ptr<ssh::Session>>> World::ssh(const inventory::Node& node,
                                                       Deadline deadline) {
  return ssh::connect(node.name, node.ssh, store_, deadline);
}

steps::Doors World::doors() {
  std::optional<handoff::Slurm> slurm;
  if (inventory_.slurm) slurm.emplace(*inventory_.slurm);
  return {inventory_, store_, [this](const inventory::Node& node) { return bmc(node); },
          [this](const inventory::Node& node, Deadline deadline) { return ssh(node, deadline); },
          std::move(slurm)};
}

Result<void> World::check_secrets(const std::vector<const inventory::Node*>& nodes) {
  std::vector<inventory::SecretRef> tried;
  std::string complaints;
  for (const auto* node : nodes) {
    const auto& ref = node->bmc.password;
    if (std::ranges::find(tried, ref) != tried.end()) continue;
    tried.push_back(ref);
    const auto secret =
        run_to_end(io_, inventory::resolve_secret(ref, Deadline::in(kSecretPatience)));
    if (secret) continue;
    if (!complaints.empty()) complaints += "; ";
    complaints += secret.assume_error().what;
  }
  if (!complaints.empty()) return Error{Code::kInvalid, complaints};
  return ok();
}

}  // namespace cupel::cli
