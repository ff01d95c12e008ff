#include "orchestrator/controller/connections.h"

#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/secret.h"
#include "orchestrator/store/purpose.h"

namespace cupel::controller {

constexpr std::chrono::seconds kSecretPatience{30};

bmc::SecretSource secret_source(inventory::SecretRef ref) {
  return [ref = std::move(ref)]() {
    return inventory::resolve_secret(ref, Deadline::in(kSecretPatience));
  };
}

Connections::Connections(const inventory::Inventory& inventory, store::Store& store)
    : inventory_{inventory},
      store_{store},
      own_{std::make_unique<Network>(store)},
      network_{*own_} {}

Connections::Connections(const inventory::Inventory& inventory, store::Store& store,
                         Network& network)
    : inventory_{inventory}, store_{store}, network_{network} {}

std::unique_ptr<bmc::Bmc> Connections::bmc(const inventory::Node& node) {
  return bmc_as(node, {node.bmc.user, node.bmc.password});
}

std::unique_ptr<bmc::Bmc> Connections::bmc_as(const inventory::Node& node,
                                              const inventory::FactoryLogin& login) {
  const auto secret = secret_source(login.password);
  auto access = node.bmc;
  access.user = login.user;
  const bmc::ExpectedIdentity people{.serial = node.serial, .mac = node.bmc.mac};
  std::unique_ptr<bmc::Bmc> ipmi;
  if (access.ipmi)
    ipmi = bmc::ipmi::open(network_.ipmi, node.name, *access.ipmi, login.user, secret, people);
  if (ipmi && access.protocol == inventory::BmcProtocol::ipmi) return ipmi;
  bmc::redfish::Expected expected{
      .people = people, .networks = inventory_.bmc_networks, .has_ipmi = ipmi != nullptr};
  std::unique_ptr<bmc::Bmc> last_resort;
  if (ipmi) {
    auto alone = expected;
    alone.has_ipmi = false;
    last_resort = bmc::redfish::open(network_.redfish, node.name, access, secret, store_, alone);
  }
  auto redfish = bmc::redfish::open(network_.redfish, node.name, std::move(access), secret, store_,
                                    std::move(expected));
  return bmc::first_of(std::move(redfish), std::move(ipmi), std::move(last_resort));
}

void Connections::forget_refusals(const inventory::Node& node) {
  network_.redfish.bmc_limits(inventory::bmc_name(node)).logins.accepted(node.bmc.user);
}

Task<Result<std::unique_ptr<ssh::Session>>> Connections::ssh(const inventory::Node& node,
                                                             Deadline deadline) {
  return ssh::connect(node.name, node.ssh, store_, deadline);
}

steps::StepEnvironment Connections::environment(std::shared_ptr<ssh::ProgramShelf> programs) {
  const bool rehearsal = store::purpose_of(store_.folder()) == store::Purpose::rehearsal;
  auto scheduler_of = handoff::scheduler_of(inventory_, rehearsal ? "cupel REHEARSAL" : "cupel");
  steps::StepEnvironment environment{
      inventory_,
      store_,
      [this](const inventory::Node& node) { return bmc(node); },
      [this](const inventory::Node& node, Deadline deadline) { return ssh(node, deadline); },
      std::move(scheduler_of),
      [this](const inventory::Node& node, const inventory::FactoryLogin& login) {
        return bmc_as(node, login);
      },
      [this](const inventory::Node& node) { forget_refusals(node); }};
  environment.pdu = [this](const inventory::Pdu& pdu) {
    return bmc::redfish::open_pdu(network_.redfish, pdu, secret_source(pdu.password), store_);
  };
  environment.budget = [this](const inventory::Node& node) {
    return network_.redfish.budget(inventory::bmc_name(node));
  };
  if (!images_)
    images_ = std::make_shared<FirmwareImages>(network_.io.get_executor(), inventory_.images,
                                               store_.folder());
  environment.firmware_image = [images = images_](firmware::FirmwareUpdate update,
                                                  bmc::Identity machine, Deadline deadline) {
    return images->order(std::move(update), std::move(machine), deadline);
  };
  environment.image_bytes = [images = images_](std::string file, std::string sha256,
                                               Deadline deadline) {
    return images->whole(std::move(file), std::move(sha256), deadline);
  };
  if (images_->serves()) {
    environment.serve_image = [images = images_](bmc::UpdateOrder order,
                                                 std::vector<std::string> fetches_by,
                                                 Deadline deadline) {
      return images->serve(std::move(order), std::move(fetches_by), deadline);
    };
    environment.serve_image_no_more = [images = images_](const std::string& url) {
      images->serve_no_more(url);
    };
  }
  if (!boot_files_)
    boot_files_ = std::make_shared<BootFiles>(network_.io.get_executor(), inventory_,
                                              store_.folder(), network_.boot_servers);
  environment.boot = boot_files_->door();
  environment.programs = std::move(programs);
  return environment;
}

Result<void> Connections::check_secrets(const std::vector<const inventory::Node*>& nodes) {
  std::vector<inventory::SecretRef> tried;
  std::string complaints;
  const auto check = [&](const inventory::SecretRef& ref) {
    if (std::ranges::find(tried, ref) != tried.end()) return;
    tried.push_back(ref);
    const auto secret =
        run_to_end(network_.io, inventory::resolve_secret(ref, Deadline::in(kSecretPatience)));
    if (secret) return;
    if (!complaints.empty()) complaints += "; ";
    complaints += secret.error().what;
  };
  for (const auto* node : nodes) {
    check(node->bmc.password);
    if (node->bmc.factory) check(node->bmc.factory->password);
    for (std::size_t i = 0; i < node->feeds.size(); ++i)
      if (!node->outlets[i].empty()) check(inventory_.pdu_of(node->feeds[i])->password);
  }
  if (const auto& slurm = inventory_.slurm; slurm && slurm->rest && slurm->rest->token)
    check(*slurm->rest->token);
  if (inventory_.kubernetes) check(inventory_.kubernetes->token);
  if (!complaints.empty()) return Error{Code::kInvalid, complaints};
  return ok();
}

}  // namespace cupel::controller
