// A page's session, where a person logs in elsewhere, and the tokens that are given out.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/report/run_progress.h"

namespace cupel::api {
namespace {

namespace json = boost::json;

/// Source: draft-ietf-httpbis-rfc6265bis, 4.1.3.2 (__Host-), RFC 6265, 4.1.
std::string cookie(std::string_view value, std::int64_t seconds) {
  return fmt::format("{}={}; Path=/; Max-Age={}; Secure; HttpOnly; SameSite=Strict", kSessionCookie,
                     value, seconds);
}

json::object token_row(const store::AccessToken& token) {
  json::object row{{"id", token.id},
                   {"name", token.name},
                   {"role", token.role},
                   {"made_by", token.made_by},
                   {"created", utc_ms(token.made)},
                   {"expires", utc_ms(token.expires)}};
  if (!token.racks.is_all()) row["racks"] = json::value_from(token.racks.racks());
  if (token.used != engine::WallTime{}) row["last_used"] = utc_ms(token.used);
  if (token.revoked != engine::WallTime{}) row["revoked"] = utc_ms(token.revoked);
  return row;
}

/// Those whose racks the person may all see. Errors: kStorage.
Result<std::vector<store::AccessToken>> tokens_for(RequestHandler& handler,
                                                   const Identity& identity) {
  TRY(auto tokens, handler.authenticator().tokens().list());
  if (identity.sees_all_racks()) return tokens;
  std::erase_if(tokens, [&](const store::AccessToken& token) {
    return !identity.racks.includes(token.racks);
  });
  return tokens;
}

}  // namespace

Reply log_in(RequestHandler& handler, const Call& call) {
  const auto token = call.body_text("token");
  auto who = handler.authenticator().identify_token(call.request, token);
  if (auto* problem = std::get_if<Problem>(&who)) {
    // Who is slowed down is not looked at.
    if (problem->status == 401) handler.note_refusal(call.request, "login-refused", token);
    return std::move(*problem);
  }
  auto identity = std::get<Identity>(std::move(who));
  const auto site = handler.shared().site.get();
  const auto now = report::wall_now();
  const auto expires = std::min(identity.expires, now + site->settings.session);
  const auto session =
      handler.authenticator().tokens().add({.name = identity.name,
                                            .role = std::string{to_string(identity.role)},
                                            .racks = identity.racks,
                                            .session = true,
                                            .parent = identity.token,
                                            .made_by = identity.name,
                                            .made = now,
                                            .expires = expires});
  if (!session) return problem_of(session.error());
  const auto id = store::token_id(*session);
  const auto digest = handler.authenticator().tokens().digest(id);
  if (!digest) return problem_of(digest.error());
  const auto noted = handler.note(identity, "login", {{"session", id}, {"sha256", *digest}});
  if (!noted) return problem_of(noted.error());
  identity.kind = Identity::Kind::session;
  identity.csrf = csrf_of(*session);
  identity.expires = expires;
  auto reply = who_am_i(handler, {call.request, identity});
  if (auto* answer = std::get_if<Answer>(&reply)) {
    const auto lasts = std::chrono::duration_cast<std::chrono::seconds>(expires - now).count();
    answer->fields.emplace_back("Set-Cookie", cookie(*session, lasts));
  }
  return reply;
}

Reply log_out(RequestHandler& handler, const Call& call) {
  if (call.identity.kind == Identity::Kind::session) {
    const auto noted = handler.note(call.identity, "logout", {{"session", call.identity.token}});
    if (!noted) return problem_of(noted.error());
    const auto ended =
        handler.authenticator().tokens().revoke(call.identity.token, report::wall_now());
    if (!ended) return problem_of(ended.error());
  }
  Answer answer;
  answer.status = 204;
  answer.body = shared_text({});
  answer.fields.emplace_back("Set-Cookie", cookie("", 0));
  return answer;
}

Reply read_identity_provider(RequestHandler& handler, const Call&) {
  const auto site = handler.shared().site.get();
  const auto& oidc = site->settings.oidc;
  if (!oidc || !oidc->issuer.starts_with("https://"))
    return not_found("service.yaml has no oidc: with an https:// issuer");
  return json_answer(json::object{
      {"issuer", oidc->issuer}, {"client_id", oidc->audience}, {"scope", oidc->scope}});
}

Reply list_tokens(RequestHandler& handler, const Call& call) {
  const auto tokens = tokens_for(handler, call.identity);
  if (!tokens) return problem_of(tokens.error());
  json::array items;
  for (const auto& token : *tokens) items.push_back(token_row(token));
  return list_answer(std::move(items), {});
}

Reply revoke_token(RequestHandler& handler, const Call& call) {
  const auto id = call.text("id");
  if (!call.identity.sees_all_racks()) {
    const auto theirs = tokens_for(handler, call.identity);
    if (!theirs) return problem_of(theirs.error());
    if (std::ranges::find(*theirs, id, &store::AccessToken::id) == theirs->end())
      return not_found(fmt::format("there is no token '{}'", printable(id)));
  }
  const auto noted = handler.note(call.identity, "revoke-token", {{"token", id}});
  if (!noted) return problem_of(noted.error());
  const auto revoked = handler.authenticator().tokens().revoke(id, report::wall_now());
  if (!revoked) return problem_of(revoked.error());
  Answer answer;
  answer.status = 204;
  answer.body = shared_text({});
  return answer;
}

}  // namespace cupel::api
