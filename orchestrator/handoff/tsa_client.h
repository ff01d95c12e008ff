#pragma once
// A site's time-stamping authority (TSA), asked by HTTP (RFC 3161, 3.4). What its answer is worth
// is base/time_stamp.h.
#include <string>

#include "base/task.h"

namespace cupel::handoff {

/// A sentence for a person where it is no URL of a TSA: http or https, since stamps are signed
/// themselves; no user or password.
std::optional<std::string> fault_in_tsa_url(std::string_view url);

/// What the TSA at `url` answers to the request, in DER, 64 KiB at most; within 20 s. No login and
/// no proxy; redirects are not followed. Cancel-safe. Errors: as ApiClient::ask; kFailed: any HTTP
/// status but 200.
Task<Result<std::string>> ask_tsa(std::string url, std::string request);

}  // namespace cupel::handoff
