#pragma once
// Who a request is from: a token, a page's session, a client certificate, a web token of the site's
// identity provider, or the user at the other end of the Unix socket. For one thread.
#include <variant>

#include "base/web_token.h"
#include "orchestrator/api/exchange.h"
#include "orchestrator/api/login_limits.h"
#include "orchestrator/api/problem.h"
#include "orchestrator/api/replaced.h"
#include "orchestrator/api/site_settings.h"
#include "orchestrator/store/access_tokens.h"

namespace cupel::api {

/// What all threads share: changed only as a whole.
struct Site {
  SiteSettings settings{};
  /// nullptr: there is no provider. No keys in it: they could not be fetched yet.
  std::shared_ptr<Replaced<WebKeys>> oidc_keys{};
  std::vector<std::string> names{};  // host names and addresses that a request's Host may name
};

inline constexpr std::string_view kSessionCookie = "__Host-cupel";

/// What a session of this token must show with each change. Not the token, and leads back to none.
std::string csrf_of(std::string_view token);

/// What stands behind "Authorization: Bearer"; empty where nothing does, or another scheme.
std::string_view bearer_token(const Request& request);

/// The value of the page's cookie; empty where there is none.
std::string session_in(const Request& request);

class Authenticator {
 public:
  Authenticator(store::AccessTokens tokens, LoginLimits& limits)
      : tokens_{std::move(tokens)}, limits_{limits} {}

  /// A Problem: 401 or 429.
  std::variant<Identity, Problem> identify(const Request& request, const Site& site);
  /// Of a token that a page sends to log in.
  std::variant<Identity, Problem> identify_token(const Request& request, const std::string& token);

  /// Whose name the request shows; empty where it is no one's. For a share of what is scarce: it
  /// counts no guess and refuses nothing.
  std::string name_of(const Request& request, const Site& site) const;

  /// Whether what this person or program was known by is valid still: a token that is not revoked,
  /// a certificate or a user that the site still gives this role on these racks. A web token's
  /// groups cannot be asked for again. Errors: kRefused; kStorage.
  Result<void> check_again(const Identity& known, const Site& site) const;

  store::AccessTokens& tokens() { return tokens_; }

 private:
  std::variant<Identity, Problem> refuse(const Request& request);
  std::variant<Identity, Problem> of_token(const Request& request, const std::string& token,
                                           bool session);
  std::optional<Identity> of_web_token(const Request& request, const std::string& token,
                                       const Site& site) const;
  std::optional<Identity> of_peer(const Request& request, const Site& site) const;

  store::AccessTokens tokens_;
  LoginLimits& limits_;
  std::map<std::string, engine::WallTime, std::less<>> noted_{};  // last use, by token
};

}  // namespace cupel::api
