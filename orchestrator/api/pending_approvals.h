#pragma once
// What a site wants two people for: it is kept until another person approves it, then done as if
// that moment it was asked for, in the name of both.
#include "orchestrator/api/request_handler.h"

namespace cupel::api {

bool needs_two(const Site& site, const Operation& operation, const Call& call);

/// Keeps it; nothing else is done. 202 with its id.
Reply ask_second(RequestHandler& handler, const Operation& operation, const Call& call);

Reply list_approvals(RequestHandler& handler, const Call& call);
Reply decide_approval(RequestHandler& handler, const Call& call);

}  // namespace cupel::api
