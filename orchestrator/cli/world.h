#pragma once
// The real doors: Redfish, SSH and Slurm, as the steps and the commands use them.
#include <boost/asio/io_context.hpp>

#include "bmc/ipmi/ipmi.h"
#include "bmc/one_bmc.h"
#include "bmc/redfish/redfish.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/steps/node_steps.h"

namespace cupel::cli {

class World {
 public:
  World(const inventory::Inventory& inventory, store::Store& store);

  asio::io_context& io() { return io_; }
  store::Store& store() { return store_; }
  bmc::redfish::Transport& transport() { return transport_; }
  /// Redfish, IPMI or both, as the inventory allows, with its user and password.
  std::unique_ptr<bmc::Bmc> bmc(const inventory::Node& node);
  /// The same BMC as somebody else.
  std::unique_ptr<bmc::Bmc> bmc_as(const inventory::Node& node,
                                   const inventory::FactoryLogin& login);
  /// What a BMC refused may be tried again: its credentials have changed.
  void forget_refusals(const inventory::Node& node);
  Task<Result<std::unique_ptr<ssh::Session>>> ssh(const inventory::Node& node, Deadline deadline);
  steps::Doors doors();

  /// Fetches every secret that the nodes name once, so that a missing one is said before anything
  /// is touched. Errors: kInvalid, naming all of them.
  Result<void> check_secrets(const std::vector<const inventory::Node*>& nodes);

 private:
  const inventory::Inventory& inventory_;
  store::Store& store_;
  asio::io_context io_{1};
  bmc::redfish::Transport transport_;
  bmc::ipmi::Transport ipmi_{io_.get_executor(), &transport_.courtesies()};
};

}  // namespace cupel::cli
