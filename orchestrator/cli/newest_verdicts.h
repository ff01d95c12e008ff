#pragma once
// How the newest run that judged it left each node, out of the state folder or from a service.
#include "inventory/fwd.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/report/site_lists.h"

namespace cupel::api {
class ServiceClient;
}

namespace cupel::cli {

struct NewestVerdicts {
  report::NodeVerdicts verdicts{};
  bool rehearsal = false;  // of virtual machines
};

/// Of the state folder. Errors: kStorage and the others of store::Store::open().
Result<NewestVerdicts> newest_verdicts(const Context& context,
                                       const inventory::Inventory& inventory);
/// Of a service. Errors: as api::ServiceClient::get().
Result<NewestVerdicts> newest_verdicts(const api::ServiceClient& client);

}  // namespace cupel::cli
