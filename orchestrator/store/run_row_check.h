#pragma once
// A run's row against the first event of its chained journal, which has the names of playbook and
// nodes and the digests of playbook and inventory: what a resume would work on, and by what.
#include <string>

#include "base/json.h"
#include "orchestrator/engine/event.h"

namespace soci {
class session;
}

namespace cupel::store {

/// What of the row is not as the event `started` (run-started) has it: "its playbook, its nodes".
/// Empty: nothing, or there is no row. What the event does not have (an older Cupel wrote it) is
/// not compared. Throws what SOCI throws.
std::string changed_in_row(soci::session& sql, engine::RunId run, const json::value& started);

}  // namespace cupel::store
