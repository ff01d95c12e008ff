#include "orchestrator/cli/reach.h"

#include <utility>

#include "inventory/select.h"
#include "orchestrator/cli/site_store.h"

namespace cupel::cli {

std::optional<Reach> reach_or_complain(const Context& context, const std::string& file,
                                       std::string_view nodes_named, Exit& exit) {
  auto inventory = inventory_or_complain(context, file, exit);
  if (!inventory) return std::nullopt;
  Reach reach{std::move(*inventory), {}, {}};
  auto nodes = inventory::select(reach.inventory, nodes_named);
  if (!nodes) {
    exit = complain(context, nodes.error(), Exit::invalid);
    return std::nullopt;
  }
  auto store = open_store_for(context, reach.inventory);
  if (!store) {
    exit = complain_of_store(context, store.error());
    return std::nullopt;
  }
  reach.nodes = *std::move(nodes);
  reach.store = *std::move(store);
  return reach;
}

}  // namespace cupel::cli
