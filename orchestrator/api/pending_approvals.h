#pragma once
// What a site wants two people for: it is kept until another person approves it, then done as if
// that moment it was asked for, in the name of both.
#include "orchestrator/api/desk.h"

namespace cupel::api {

bool needs_two(const Site& site, const Operation& operation, const Call& call);

/// Keeps it; nothing else is done. 202 with its id.
Reply ask_second(Desk& desk, const Operation& operation, const Call& call);

Reply list_approvals(Desk& desk, const Call& call);
Reply decide_approval(Desk& desk, const Call& call);

}  // namespace cupel::api
