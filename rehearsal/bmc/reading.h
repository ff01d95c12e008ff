#pragma once
// How a resource becomes the answer to a GET: tags, expansion, pages. Source: DSP0266 1.15, "ETags"
// and "Query parameters".
#include "rehearsal/bmc/message.h"
#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {

/// The resource at `path` as that request wants it: 200; 304 where it has it already; 404; 400 or
/// 501 for a query that this BMC does not know.
HttpResponse read_resource(const VendorBehavior& behavior, const ResourceTree& tree,
                           const HttpRequest& request, const std::string& path);

/// What If-Match is compared with, in this BMC's form; empty: it has none.
std::string etag_of(const Tags& behavior, const json::object& resource);

/// What a PATCH of `resource` without the right If-Match is answered with; nothing where it may
/// go on. A 200 has changed nothing.
std::optional<HttpResponse> unmet_condition(const Tags& behavior, const json::object& resource,
                                            const HttpRequest& request, int& good_ones);

}  // namespace cupel::rehearsal
