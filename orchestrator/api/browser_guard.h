#pragma once
// Keeps other sites' pages from speaking for a person's browser: a request must name this service,
// and must not come from another origin. Pure.
#include "orchestrator/api/problem.h"

namespace cupel::api {

/// A Problem (403) where the Host is none of `names`, no address and not localhost (DNS rebinding),
/// or where Origin or Sec-Fetch-Site show another site. Source: RFC 6454; W3C Fetch Metadata.
std::optional<Problem> foreign(const Request& request, const std::vector<std::string>& names);

}  // namespace cupel::api
