#pragma once
// The same answer in a vendor's own words: what is left to say once it is known what to say.
#include "rehearsal/bmc/message.h"
#include "rehearsal/bmc/vendor_behavior.h"

namespace cupel::rehearsal {

/// An error in that style; anything else as it is.
void phrase_error(HttpResponse& response, ErrorStyle style);

/// What a change that worked is answered with, where nothing else was reported: a 204 without a
/// body. `resource` is what was changed; null for an action.
void phrase_success(HttpResponse& response, PatchReply thanks, const json::object* resource);

/// "Busy" as a web server in front of the service says it.
HttpResponse busy_page();

}  // namespace cupel::rehearsal
