#include "orchestrator/cli/reach.h"

#include <utility>

#include "inventory/select.h"
#include "orchestrator/cli/site_store.h"

namespace cupel::cli {

OrExit<Reach> reach_or_exit(const Context& context, const std::string& file,
                            std::string_view nodes_named) {
  TRY(auto inventory, inventory_or_exit(context, file));
  Reach reach{std::move(inventory), {}, {}};
  auto nodes = inventory::select(reach.inventory, nodes_named, inventory::RackScope::all(),
                                 nodes_of_run(context));
  if (!nodes) return print_error(context, nodes.error(), Exit::invalid);
  auto store = open_store_for(context, reach.inventory);
  if (!store) return print_error_of_store(context, store.error());
  reach.nodes = *std::move(nodes);
  reach.store = *std::move(store);
  return reach;
}

}  // namespace cupel::cli
