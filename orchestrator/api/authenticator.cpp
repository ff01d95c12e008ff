#include "orchestrator/api/authenticator.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/network_of.h"
#include "base/text.h"
#include "orchestrator/report/run_progress.h"

namespace cupel::api {
namespace {

using std::chrono::minutes;

/// Empty also where the text has characters that are not printable: without them it would be
/// another.
std::string claim_text(const boost::json::object& claims, std::string_view name) {
  const auto* value = claims.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  const std::string_view text{value->get_string()};
  return printable(text) == text ? std::string{text} : std::string{};
}

std::vector<std::string> claim_texts(const boost::json::object& claims, std::string_view name) {
  const auto* value = claims.if_contains(name);
  std::vector<std::string> texts;
  if (value != nullptr && value->is_string()) texts.emplace_back(value->get_string());
  if (value != nullptr && value->is_array())
    for (const auto& each : value->get_array())
      if (each.is_string()) texts.emplace_back(each.get_string());
  return texts;
}

std::optional<std::int64_t> claim_time(const boost::json::object& claims, std::string_view name) {
  const auto* value = claims.if_contains(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const auto seconds = value->to_number<double>();
  return seconds > 0 && seconds < 1e12 ? std::optional{static_cast<std::int64_t>(seconds)}
                                       : std::nullopt;
}

/// Issuer, audience and times. Source: OpenID Connect Core 1.0, 3.1.3.7; RFC 7519, 4.1.
bool is_for_us(const boost::json::object& claims, const OidcSettings& oidc, engine::WallTime now) {
  constexpr std::int64_t kSkew = 60;  // seconds that clocks may differ
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const auto ends = claim_time(claims, "exp");
  const auto begins = claim_time(claims, "nbf").value_or(0);
  const auto audiences = claim_texts(claims, "aud");
  return claim_text(claims, "iss") == oidc.issuer &&
         std::ranges::find(audiences, oidc.audience) != audiences.end() && ends &&
         *ends > seconds && begins <= seconds + kSkew;
}

std::string user_name(std::uint32_t user) {
  std::array<char, 4096> room{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(user, &entry, room.data(), room.size(), &found);
  return found == nullptr ? std::to_string(user) : std::string{entry.pw_name};
}

Problem unauthenticated(std::string detail) { return {401, "unauthenticated", std::move(detail)}; }

Problem refused_token() {
  return unauthenticated(
      "the token is not one of this service, has expired or is revoked: see cupel token list");
}

}  // namespace

std::string csrf_of(std::string_view token) {
  return sha256_hex(fmt::format("cupel-csrf {}", token)).substr(0, 32);
}

std::string_view bearer_token(const Request& request) {
  constexpr std::string_view kBearer = "bearer ";
  const auto field = request.field("authorization");
  if (lower_case(field.substr(0, kBearer.size())) != kBearer) return {};
  return trimmed(field.substr(kBearer.size()));
}

std::string session_in(const Request& request) {
  for (const auto pair : split(request.field("cookie"), ';')) {
    const auto cookie = trimmed(pair);
    const auto equals = cookie.find('=');
    if (equals != cookie.npos && cookie.substr(0, equals) == kSessionCookie)
      return std::string{cookie.substr(equals + 1)};
  }
  return {};
}

/// Who has guessed too often does not even learn that this one was wrong.
std::variant<Identity, Problem> Authenticator::refuse(const Request& request) {
  if (request.peer.local) return refused_token();
  const auto from = network_of(request.peer.address);
  const auto now = limits_.now();
  if (const auto wait = limits_.wait(from, now); wait.count() > 0)
    return Problem{429, "too-many", "too many refused logins from this address", {}, wait};
  limits_.refused(from, now);
  return refused_token();
}

std::variant<Identity, Problem> Authenticator::of_token(const Request& request,
                                                        const std::string& token, bool session) {
  const std::string id{store::token_id(token)};
  const auto found = tokens_.find(token);
  if (!found && found.error().code == Code::kStorage) return problem_of(found.error());
  const auto now = report::wall_now();
  const bool good = found && found->session == session && found->expires > now &&
                    found->revoked == engine::WallTime{};
  const auto role = found ? role_of(found->role) : std::nullopt;
  // Its secret is right: it has expired or was revoked, and no one guesses.
  if (found && (!good || !role)) return refused_token();
  if (!found) return refuse(request);
  if (!request.peer.local) limits_.accepted(network_of(request.peer.address));
  if (auto& last = noted_[id]; now - last > minutes{1}) {
    if (noted_.size() > 10'000) noted_.clear();
    noted_[id] = now;
    // That it cannot be noted is no reason to refuse it.
    [[maybe_unused]] const auto noted = tokens_.note_use(id, now);
  }
  Identity identity{found->name, session ? Identity::Kind::session : Identity::Kind::token, *role,
                    found->racks, id};
  if (session) identity.csrf = csrf_of(token);
  identity.origin =
      fmt::format("{} {} {}", request.peer.address, session ? "session" : "token", id);
  identity.expires = found->expires;
  return identity;
}

std::optional<Identity> Authenticator::of_web_token(const Request& request,
                                                    const std::string& token,
                                                    const Site& site) const {
  const auto keys = site.oidc_keys ? site.oidc_keys->get() : nullptr;
  if (!site.settings.oidc || !keys) return std::nullopt;
  const auto& oidc = *site.settings.oidc;
  const auto claims = keys->claims_of(token);
  if (!claims || !is_for_us(*claims, oidc, report::wall_now())) return std::nullopt;
  Identity identity;
  identity.name = claim_text(*claims, oidc.name);
  identity.kind = Identity::Kind::oidc;
  bool granted = false;
  for (const auto& group : claim_texts(*claims, oidc.groups)) {
    const auto grant = oidc.grants.find(group);
    if (grant == oidc.grants.end()) continue;
    // Of several groups, the one that allows most.
    if (granted && grant->second.role <= identity.role) continue;
    identity.role = grant->second.role;
    identity.racks = grant->second.racks;
    granted = true;
  }
  if (!granted || identity.name.empty()) return std::nullopt;
  identity.origin = fmt::format("{} oidc {}", request.peer.address, claim_text(*claims, "sub"));
  identity.expires = engine::WallTime{std::chrono::seconds{*claim_time(*claims, "exp")}};
  return identity;
}

std::optional<Identity> Authenticator::of_peer(const Request& request, const Site& site) const {
  const auto& peer = request.peer;
  Identity identity;
  if (!peer.certificate.empty()) {
    const auto grant = site.settings.certificates.find(peer.certificate);
    if (grant == site.settings.certificates.end()) return std::nullopt;
    identity.name = peer.certificate;
    identity.kind = Identity::Kind::certificate;
    identity.role = grant->second.role;
    identity.racks = grant->second.racks;
    identity.origin = fmt::format("{} certificate", peer.address);
    return identity;
  }
  if (!peer.local) return std::nullopt;
  identity.kind = Identity::Kind::peer;
  identity.name = user_name(peer.user);
  identity.origin = fmt::format("unix user {}", peer.user);
  const auto grant = site.settings.users.find(identity.name);
  if (grant != site.settings.users.end()) {
    identity.role = grant->second.role;
    identity.racks = grant->second.racks;
    return identity;
  }
  // Root and the service's own user can read and write all that the service has.
  if (peer.user != 0 && peer.user != ::geteuid()) return std::nullopt;
  identity.role = Role::admin;
  identity.racks = inventory::RackScope::all();
  return identity;
}

Result<void> Authenticator::check_again(const Identity& known, const Site& site) const {
  const Error less{Code::kRefused, "service.yaml does not give that role on those racks any more"};
  const auto gives = [&](const auto& grant) {
    return grant.second.role >= known.role && grant.second.racks.includes(known.racks);
  };
  const auto among = [&](const auto& grants) -> Result<void> {
    const auto grant = grants.find(known.name);
    if (grant != grants.end() && gives(*grant)) return ok();
    return less;
  };
  switch (known.kind) {
    case Identity::Kind::token:
      return tokens_.check(known.token, report::wall_now());
    case Identity::Kind::session:
      return tokens_.check_parent(known.token, report::wall_now());
    case Identity::Kind::certificate:
      return among(site.settings.certificates);
    case Identity::Kind::peer: {
      // Root and the service's own user need no entry; one that they have counts, as in of_peer().
      const bool own = known.name == user_name(0) || known.name == user_name(::geteuid());
      return own && !site.settings.users.contains(known.name) ? ok() : among(site.settings.users);
    }
    case Identity::Kind::oidc:
      // Its groups are not kept: that no group is given so much can be seen.
      if (site.settings.oidc && std::ranges::any_of(site.settings.oidc->grants, gives)) return ok();
      return less;
    case Identity::Kind::schedule:
      return ok();
  }
  return Error{Code::kRefused, "unknown"};
}

std::string Authenticator::name_of(const Request& request, const Site& site) const {
  const auto of_secret = [this](std::string_view secret) {
    const auto found = tokens_.find(secret);
    const bool good =
        found && found->expires > report::wall_now() && found->revoked == engine::WallTime{};
    return good ? found->name : std::string{};
  };
  if (!request.field("authorization").empty()) {
    const std::string token{bearer_token(request)};
    if (token.starts_with("cupel_")) return of_secret(token);
    const auto identity = of_web_token(request, token, site);
    return identity ? identity->name : std::string{};
  }
  if (const auto session = session_in(request); !session.empty()) return of_secret(session);
  const auto identity = of_peer(request, site);
  return identity ? identity->name : std::string{};
}

std::variant<Identity, Problem> Authenticator::identify_token(const Request& request,
                                                              const std::string& token) {
  return of_token(request, token, false);
}

std::variant<Identity, Problem> Authenticator::identify(const Request& request, const Site& site) {
  if (!request.field("authorization").empty()) {
    const std::string token{bearer_token(request)};
    if (token.empty()) return unauthenticated("Authorization takes Bearer and a token");
    if (token.starts_with("cupel_")) return of_token(request, token, false);
    if (auto identity = of_web_token(request, token, site)) return *std::move(identity);
    return refuse(request);
  }
  if (const auto session = session_in(request); !session.empty())
    return of_token(request, session, true);
  if (auto identity = of_peer(request, site)) return *std::move(identity);
  if (request.peer.local)
    return unauthenticated(
        fmt::format("user {} is not known here: name it below users: in service.yaml, or use a "
                    "token",
                    printable(user_name(request.peer.user))));
  return unauthenticated(
      "a token is needed: Authorization: Bearer TOKEN; make one with cupel token add NAME --role "
      "viewer");
}

}  // namespace cupel::api
