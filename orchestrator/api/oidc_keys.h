#pragma once
// The keys of the site's identity provider, where `oidc: keys:` names an address: fetched over
// HTTPS alone, always verified, bounded in size and time.
#include "base/task.h"
#include "base/web_token.h"
#include "orchestrator/api/site_settings.h"

namespace cupel::api {

/// Else it is a file.
bool is_key_address(std::string_view keys);

/// One request, 10 s at most, 1 MiB of answer at most, no redirects. `ca`: of the settings; empty:
/// the system's authorities. Errors: kUnreachable, kTimeout, kUntrusted, kMalformed (a longer
/// answer), kRefused, kBusy; kInvalid: no JSON Web Key Set.
Task<Result<WebKeys>> fetch_oidc_keys(OidcSettings oidc);

inline constexpr std::chrono::minutes kKeysFetched{10};    // so often
inline constexpr std::chrono::minutes kKeysTriedAgain{1};  // after a failure
inline constexpr std::chrono::seconds kKeysPatience{10};

}  // namespace cupel::api
