#pragma once
// The real connections: Redfish, IPMI, SSH and the scheduler, as steps and commands use them.
#include <boost/asio/io_context.hpp>

#include "bmc/fallback_bmc.h"
#include "bmc/ipmi/ipmi.h"
#include "bmc/redfish/pdu.h"
#include "bmc/redfish/redfish.h"
#include "inventory/fwd.h"
#include "orchestrator/controller/boot_files.h"
#include "orchestrator/controller/firmware_images.h"
#include "orchestrator/steps/node_steps.h"
#include "orchestrator/store/store.h"

namespace cupel::controller {

/// Fetched anew each time that it is needed, within half a minute.
bmc::SecretSource secret_source(inventory::SecretRef ref);

/// One loop, and what all that talk over it share: each BMC's limits, whoever asks.
struct Network {
  explicit Network(store::Store& store) : redfish{io.get_executor(), {}, &store} {}

  asio::io_context io{1};
  bmc::redfish::Transport redfish;
  bmc::ipmi::Transport ipmi{io.get_executor(), &redfish.all_bmc_limits()};
  BootServers boot_servers{};
};

class Connections {
 public:
  Connections(const inventory::Inventory& inventory, store::Store& store);
  /// Of several inventories that are worked on side by side. `network` must outlive it.
  Connections(const inventory::Inventory& inventory, store::Store& store, Network& network);

  asio::io_context& io() { return network_.io; }
  const inventory::Inventory& inventory() const { return inventory_; }
  store::Store& store() { return store_; }
  bmc::redfish::Transport& transport() { return network_.redfish; }
  /// Redfish, IPMI or both, as the inventory allows, with its user and password.
  std::unique_ptr<bmc::Bmc> bmc(const inventory::Node& node);
  /// The same BMC as somebody else.
  std::unique_ptr<bmc::Bmc> bmc_as(const inventory::Node& node,
                                   const inventory::FactoryLogin& login);
  /// What a BMC refused may be tried again: its credentials have changed.
  void forget_refusals(const inventory::Node& node);
  Task<Result<std::unique_ptr<ssh::Session>>> ssh(const inventory::Node& node, Deadline deadline);
  /// `programs`: those that stages bring to nodes.
  steps::StepEnvironment environment(std::shared_ptr<ssh::ProgramShelf> programs);

  /// Fetches every secret that the nodes and their scheduler name once, so that a missing one is
  /// said before anything is touched. Errors: kInvalid, naming all of them.
  Result<void> check_secrets(const std::vector<const inventory::Node*>& nodes);

 private:
  const inventory::Inventory& inventory_;
  store::Store& store_;
  std::unique_ptr<Network> own_{};
  Network& network_;
  std::shared_ptr<FirmwareImages> images_{};  // once asked for
  std::shared_ptr<BootFiles> boot_files_{};   // the same
};

}  // namespace cupel::controller
