#pragma once
// What a client asks to be run: the playbook by its name, nodes of the service's own inventory, or
// what a repaired node has to prove again; and nothing that would name a file or a program.
#include <memory>
#include <variant>

#include "orchestrator/api/request_handler.h"
#include "orchestrator/controller/planned_run.h"
#include "orchestrator/requalify/known.h"

namespace cupel::api {

/// From the body of the call. A Problem: what is wrong in it, all of it; nodes that the person may
/// not see do not exist.
std::variant<std::unique_ptr<controller::Planned>, Problem> plan_of_request(RequestHandler& handler,
                                                                            const Call& call);

/// A look at the node of the call. A Problem: it is none of theirs; there is no run that it would
/// be compared with.
std::variant<std::unique_ptr<controller::Planned>, Problem> look_of_request(RequestHandler& handler,
                                                                            const Call& call);

/// What the node of the call has to prove again, by what the store has of it.
struct Requalification {
  requalify::Asked asked{};
  requalify::Known known{};
  requalify::Selection selection{};                // of another machine: empty
  std::unique_ptr<controller::Planned> planned{};  // nullptr: there is nothing to run
};

/// A Problem: what is wrong in the body; a look that does not stand for what is there now.
std::variant<Requalification, Problem> requalification_of_request(RequestHandler& handler,
                                                                  const Call& call);

}  // namespace cupel::api
