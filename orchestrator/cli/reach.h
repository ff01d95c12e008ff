#pragma once
// What commands need that act on machines without a run.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/model.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/store/store.h"

namespace cupel::cli {

/// Nodes that a person named, the inventory that they stand in, and the store with their pins.
struct Reach {
  inventory::Inventory inventory;
  std::vector<const inventory::Node*> nodes;
  std::unique_ptr<store::Store> store;
};

/// Loads the inventory, selects the nodes and opens the store, or complains of the first that
/// fails.
OrExit<Reach> reach_or_exit(const Context& context, const std::string& file,
                            std::string_view nodes_named);

}  // namespace cupel::cli
