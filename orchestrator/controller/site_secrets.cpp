#include "orchestrator/controller/site_secrets.h"

#include <algorithm>

#include "base/task.h"
#include "inventory/model.h"
#include "inventory/secret.h"
#include "inventory/user_data.h"

namespace cupel::controller {
namespace {

using inventory::SecretRef;

constexpr std::chrono::seconds kPatience{30};

std::vector<SecretRef> refs_of(const inventory::Inventory& inventory, const std::string& name) {
  std::vector<SecretRef> refs;
  const auto add = [&](const SecretRef& ref) {
    const bool known = ref.where.empty() || std::ranges::find(refs, ref) != refs.end();
    if (!known) refs.push_back(ref);
  };
  if (const auto* node = inventory.node(name)) {
    add(node->bmc.password);
    if (node->bmc.factory) add(node->bmc.factory->password);
    for (const auto& layer : inventory::user_data_of(inventory, *node))
      for (const auto& [text, ref] : layer->secrets) add(ref);
    for (const auto& feed : node->feeds)
      if (const auto* pdu = inventory.pdu_of(feed)) add(pdu->password);
  }
  if (const auto& slurm = inventory.slurm; slurm && slurm->rest && slurm->rest->token)
    add(*slurm->rest->token);
  if (inventory.kubernetes) add(inventory.kubernetes->token);
  return refs;
}

}  // namespace

FetchedSecrets site_secrets(const inventory::Inventory& inventory, const std::string& node) {
  FetchedSecrets secrets;
  for (const auto& ref : refs_of(inventory, node)) {
    asio::io_context io{1};
    auto secret = run_to_end(io, inventory::resolve_secret(ref, Deadline::in(kPatience)));
    if (secret)
      secrets.values.push_back(*std::move(secret));
    else
      secrets.unread.push_back(std::move(secret).error().what);
  }
  // By size, and by text, so that equal ones are neighbors.
  std::ranges::sort(secrets.values, std::greater{},
                    [](const std::string& each) { return std::pair{each.size(), each}; });
  const auto [first, last] = std::ranges::unique(secrets.values);
  secrets.values.erase(first, last);
  return secrets;
}

}  // namespace cupel::controller
