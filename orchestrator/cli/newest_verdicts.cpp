#include "orchestrator/cli/newest_verdicts.h"

#include "base/json.h"
#include "inventory/model.h"
#include "orchestrator/api/node_results.h"
#include "orchestrator/api/service_client.h"
#include "orchestrator/cli/site_store.h"

namespace cupel::cli {
namespace {

using report::NodeVerdict;

constexpr std::size_t kMostResults = 200'000;

}  // namespace

Result<NewestVerdicts> newest_verdicts(const api::ServiceClient& client) {
  NewestVerdicts known;
  TRY(const auto status, client.get("/api/v1/status"));
  known.rehearsal = flag_at(status, "rehearsal") == true;
  TRY(const auto items, client.list("/api/v1/results", kMostResults));
  for (const auto& each : items) {
    const auto node = text_at(each, "node"), state = text_at(each, "state");
    const auto run = number_at(each, "run");
    if (!node || !state || !run)
      return Error{Code::kMalformed,
                   "the service's list of results has an item without node, "
                   "state or run"};
    known.verdicts.emplace(*node, NodeVerdict{static_cast<engine::RunId>(*run), std::string{*state},
                                              std::string{text_at(each, "cause").value_or("")}});
  }
  return known;
}

Result<NewestVerdicts> newest_verdicts(const Context& context,
                                       const inventory::Inventory& inventory) {
  NewestVerdicts known;
  TRY(const auto store, store::Store::open(context.state));
  TRY(const auto journal, store::JournalReader::open(context.state));
  api::NodeResults::SiteNodes nodes;
  for (const auto& each : inventory.nodes) nodes.emplace(each.name, &each);
  api::NodeResults results;
  for (bool complete = false; !complete;) {
    TRY(complete, results.catch_up(journal, nodes));
  }
  for (const auto& [name, result] : results.all())
    known.verdicts.emplace(name, NodeVerdict{result.run, result.state, result.cause});
  known.rehearsal = !rehearsal_line(context.state).empty();
  return known;
}

}  // namespace cupel::cli
