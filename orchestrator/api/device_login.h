#pragma once
// A person's login at the site's identity provider from a terminal: the provider shows a page, on
// any machine, and the terminal waits. Answers are bounded and hostile until they are parsed; no
// secret of them is in an error.
// Source: RFC 8628 (device authorization grant); RFC 6749, 5 and 6; OpenID Connect
// Core 1.0, 3.1.3.7; OpenID Connect Discovery 1.0, 4.
#include <chrono>
#include <string>

#include "base/json.h"
#include "base/task.h"

namespace cupel::api {

/// Where, and as which program.
struct Provider {
  std::string issuer{};  // "https://id.example.com/realms/site"
  std::string client{};  // the client id; one without a secret
  std::string scope{};   // "openid offline_access"
  std::string ca{};      // PEM file; empty: the system's
};

struct ProviderEndpoints {
  std::string issuer{};  // in its own words, as its tokens have it
  std::string device{}, token{};
};

struct DeviceCode {
  std::string device{};  // secret
  std::string user{};    // that the person enters
  std::string page{};    // where
  std::chrono::seconds lasts{}, interval{};
};

struct ProviderTokens {
  std::string id{};       // secret: what a service is shown
  std::string refresh{};  // secret; empty: there is none
  std::chrono::sys_seconds expires{};
};

/// How long a second of the protocol lasts: shorter in tests.
struct PollPace {
  std::chrono::milliseconds second{1000};
};

/// Its discovery document. Errors: as handoff::ApiClient::ask(); kMalformed: it is of another
/// issuer, has no device flow, or names an address that is no https:// one.
Task<Result<ProviderEndpoints>> find_endpoints(Provider provider, Deadline deadline);

/// Errors: as ask(); kFailed: the provider refuses, in its code; kMalformed.
Task<Result<DeviceCode>> ask_device_code(Provider provider, ProviderEndpoints endpoints,
                                         Deadline deadline);

/// Asks, as often as the provider allows, until the person has logged in, an hour at most. Errors:
/// kRefused: the login was denied; kTimeout: the code expired; kFailed, kMalformed; those of ask()
/// that are not transient.
Task<Result<ProviderTokens>> wait_for_login(Provider provider, ProviderEndpoints endpoints,
                                            DeviceCode code, PollPace pace, Deadline deadline);

/// New tokens by a refresh token. Errors: as ask(); kRefused: it is not accepted any more.
Task<Result<ProviderTokens>> refresh_login(Provider provider, ProviderEndpoints endpoints,
                                           std::string refresh, Deadline deadline);

}  // namespace cupel::api
