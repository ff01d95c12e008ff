#pragma once
// A run that a service elsewhere drives, shown on this terminal.
#include "orchestrator/api/service_client.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/engine/event.h"

namespace cupel::cli {

/// Shows it to its end; Ctrl-C leaves it going. One that was submitted is waited for.
Exit watch_there(const Context& context, const api::ServiceClient& client, engine::RunId run);

/// What to say where the service's answer to a change is that another person has to approve it;
/// nothing where the change was made.
std::optional<Error> waits_for_approval(const json::value& answer);

}  // namespace cupel::cli
