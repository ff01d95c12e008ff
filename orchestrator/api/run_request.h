#pragma once
// What a client asks to be run: the playbook by its name, nodes of the service's own inventory, and
// nothing that would name a file or a program.
#include <memory>
#include <variant>

#include "orchestrator/api/desk.h"
#include "orchestrator/controller/planned_run.h"

namespace cupel::api {

/// From the body of the call. A Problem: what is wrong in it, all of it; nodes that the person may
/// not see do not exist.
std::variant<std::unique_ptr<controller::Planned>, Problem> plan_of_request(Desk& desk,
                                                                            const Call& call);

}  // namespace cupel::api
