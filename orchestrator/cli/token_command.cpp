// token: who may use the service over the network. The secret is printed once, when it is made.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/login.h"
#include "base/text.h"
#include "inventory/yaml.h"
#include "orchestrator/api/identity.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/access_tokens.h"
#include "orchestrator/store/audit_log.h"

namespace cupel::cli {
namespace {

constexpr std::chrono::seconds kUsualTokenLife{30 * 24 * 3600};

struct TokenRequest {
  std::string name{};
  std::string role = "viewer";
  inventory::RackScope racks = inventory::RackScope::all();
  std::chrono::seconds lasts = kUsualTokenLife;
  std::string id{};
};

/// The store, and what of it is about tokens.
struct TokenBook {
  std::unique_ptr<store::Store> store;
  store::AccessTokens tokens;
  store::AuditLog audit;
};

/// Errors: as Store::open().
Result<TokenBook> open_book(const Context& context) {
  TRY(auto store, store::Store::open(context.state));
  TRY(auto tokens, store::AccessTokens::open(context.state));
  TRY(auto audit, store::AuditLog::open(context.state));
  return TokenBook{std::move(store), std::move(tokens), std::move(audit)};
}

Result<void> note_locally(TokenBook& book, std::string_view what, boost::json::object data) {
  return book.audit.append({.who = login_name(),
                            .origin = "command line",
                            .what = std::string{what},
                            .data = std::move(data)});
}

std::string_view standing_of(const store::AccessToken& token) {
  if (token.revoked != engine::WallTime{}) return "revoked";
  return token.expires <= report::wall_now() ? "expired" : "good";
}

boost::json::object row_of_token(const store::AccessToken& token) {
  boost::json::object row{{"id", token.id},
                          {"name", token.name},
                          {"role", token.role},
                          {"expires", report::utc(token.expires)},
                          {"state", standing_of(token)},
                          {"made_by", token.made_by}};
  if (!token.racks.is_all()) row["racks"] = boost::json::value_from(token.racks.racks());
  if (token.used != engine::WallTime{}) row["last_used"] = report::utc(token.used);
  return row;
}

Exit add_one(const Context& context, const TokenRequest& request) {
  auto book = open_book(context);
  if (!book) return print_error(context, book.error(), Exit::unfinished);
  const auto now = report::wall_now();
  const store::AccessToken token{.name = request.name,
                                 .role = request.role,
                                 .racks = request.racks,
                                 .made_by = login_name(),
                                 .made = now,
                                 .expires = now + request.lasts};
  const auto made = book->tokens.add(token);
  if (!made) return print_error(context, made.error(), Exit::unfinished);
  const std::string id{store::token_id(*made)};
  const auto digest = book->tokens.digest(id);
  if (!digest) return print_error(context, digest.error(), Exit::unfinished);
  const auto noted = note_locally(
      *book, "add-token",
      {{"token", id}, {"name", request.name}, {"role", request.role}, {"sha256", *digest}});
  if (!noted) return print_error(context, noted.error(), Exit::unfinished);
  if (context.json) {
    auto row = row_of_token(token);
    row["id"] = id;
    row["token"] = *made;
    std::printf("%s\n", boost::json::serialize(row).c_str());
  } else {
    say("{}\n", *made);
    say(stderr, "token {} of {}, {}, until {}; it is not shown again\n", id, request.name,
        request.role, report::utc(token.expires));
  }
  return Exit::passed;
}

Exit list_all(const Context& context) {
  auto book = open_book(context);
  if (!book) return print_error(context, book.error(), Exit::unfinished);
  const auto tokens = book->tokens.list();
  if (!tokens) return print_error(context, tokens.error(), Exit::unfinished);
  if (context.json) {
    boost::json::array rows;
    for (const auto& token : *tokens) rows.push_back(row_of_token(token));
    std::printf("%s\n", boost::json::serialize(boost::json::object{{"tokens", rows}}).c_str());
    return Exit::passed;
  }
  std::vector<Row> rows{{"token", "name", "role", "racks", "expires", "state", "last used"}};
  for (const auto& token : *tokens)
    rows.push_back({token.id, printable(token.name), token.role,
                    token.racks.is_all() ? "all" : token.racks.text(), report::utc(token.expires),
                    std::string{standing_of(token)},
                    token.used == engine::WallTime{} ? "never" : report::utc(token.used)});
  say("{}\n", table(rows));
  return Exit::passed;
}

Exit revoke_one(const Context& context, const TokenRequest& request) {
  auto book = open_book(context);
  if (!book) return print_error(context, book.error(), Exit::unfinished);
  const auto revoked = book->tokens.revoke(request.id, report::wall_now());
  if (!revoked) {
    const bool unknown = revoked.error().code == Code::kNotFound;
    return print_error(context, revoked.error(), unknown ? Exit::invalid : Exit::unfinished);
  }
  const auto noted = note_locally(*book, "revoke-token", {{"token", request.id}});
  if (!noted) return print_error(context, noted.error(), Exit::unfinished);
  if (context.json)
    std::printf("%s\n",
                boost::json::serialize(boost::json::object{{"revoked", request.id}}).c_str());
  else
    say("token {} is revoked, and so are its sessions\n", request.id);
  return Exit::passed;
}

std::string not_a_name(const std::string& name) {
  const bool sound = !name.empty() && name.size() <= 100 && printable(valid_utf8(name)) == name;
  return sound ? std::string{} : "a name of 1 to 100 bytes without control characters";
}

Result<inventory::RackScope> racks_in(const std::string& text) {
  const auto names = split(text, ',');
  return inventory::RackScope::of(std::vector<std::string>{names.begin(), names.end()});
}

std::string not_racks(const std::string& text) {
  const auto racks = racks_in(text);
  return racks ? std::string{} : racks.error().what;
}

std::string not_a_role(const std::string& word) {
  return api::role_of(word) ? std::string{} : "viewer, operator or admin, not " + word;
}

std::string not_a_life(const std::string& text) {
  const auto span = inventory::duration_of(text);
  const bool fits = span && span->count() > 0 && *span <= std::chrono::hours{24 * 366};
  return fits ? std::string{} : "not a time of at most 366 days, such as 30d: " + text;
}

}  // namespace

CommandRow token_command(Context& context) {
  auto request = std::make_shared<TokenRequest>();
  CommandRow add_row{"add", "make a token, and print it once"};
  add_row.options = {
      {"NAME",
       &request->name,
       "of the person or the program",
       {.required = true, .check = not_a_name}},
      {"--role", &request->role, "viewer, operator or admin [viewer]", {.check = not_a_role}},
      {"--racks",
       [request](const std::string& text) { request->racks = *racks_in(text); },
       "these racks alone, parted by commas [all]",
       {.check = not_racks}},
      {"--expires",
       [request](const std::string& text) { request->lasts = *inventory::duration_of(text); },
       "how long it is good [30d]",
       {.check = not_a_life}},
      json_flag(context)};
  add_row.run = [&context, request] { return add_one(context, *request); };
  CommandRow list_row{"list", "tokens, without their secrets"};
  list_row.options = {json_flag(context)};
  list_row.run = [&context] { return list_all(context); };
  CommandRow revoke_row{"revoke", "end a token and the sessions made from it"};
  revoke_row.options = {{"TOKEN", &request->id, "its id, as the list has it", kRequired},
                        json_flag(context)};
  revoke_row.run = [&context, request] { return revoke_one(context, *request); };
  CommandRow row{"token", "who may use the service over the network"};
  row.footer =
      "Examples: cupel token add alice --role operator --racks a01,a02 --expires 90d\n"
      "          cupel token list\n"
      "          cupel token revoke 0123456789abcdef";
  row.subcommands = {add_row, list_row, revoke_row};
  return row;
}

}  // namespace cupel::cli
