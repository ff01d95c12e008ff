#include "orchestrator/store/token_check.h"

#include <fmt/format.h>
#include <soci/soci.h>

#include <chrono>
#include <map>

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "orchestrator/store/database.h"

namespace cupel::store {
namespace {

struct TokenRow {
  std::string id{}, hash{}, name{}, role{}, racks{}, parent{}, made_by{};
  int session = 0;
  std::int64_t made = 0, expires = 0, revoked = 0;

  std::string digest() const {
    return sha256_hex(json::serialize(
        json::array{id, hash, name, role, racks, session, parent, made_by, made, expires}));
  }
  std::string where() const { return (session != 0 ? "session " : "token ") + id; }
};

constexpr const char* kColumns =
    "SELECT id, hash, name, role, racks, session, parent, made_by, made, expires, revoked FROM "
    "access_token";

/// Calls `visit` with each row; of one id alone, where it is named.
template <class Visit>
void each_token(soci::session& sql, const std::string& id, Visit visit) {
  TokenRow row;
  soci::statement rows{sql};
  if (!id.empty()) rows.exchange(soci::use(id));
  for (auto* text : {&row.id, &row.hash, &row.name, &row.role, &row.racks})
    rows.exchange(soci::into(*text));
  rows.exchange(soci::into(row.session));
  for (auto* text : {&row.parent, &row.made_by}) rows.exchange(soci::into(*text));
  for (auto* time : {&row.made, &row.expires, &row.revoked}) rows.exchange(soci::into(*time));
  rows.alloc();
  rows.prepare(std::string{kColumns} + (id.empty() ? "" : " WHERE id = :id"));
  rows.define_and_bind();
  rows.execute();
  while (rows.fetch()) visit(row);
}

/// What the log says of one token.
struct Logged {
  bool made = false, revoked = false;
  json::value data{};
};

/// Of those that are in `found`, by id.
void read_log(soci::session& sql, std::map<std::string, Logged>& found) {
  std::string what, text;
  soci::statement rows =
      (sql.prepare << "SELECT what, data FROM audit WHERE what IN ('add-token', 'login', "
                      "'revoke-token') ORDER BY sequence",
       soci::into(what), soci::into(text));
  rows.execute();
  while (rows.fetch()) {
    auto data = parse_json(text);
    if (!data) continue;
    const auto id = text_at(*data, what == "login" ? "session" : "token");
    const auto at = found.find(id.value_or(""));
    if (at == found.end()) continue;
    if (what == "revoke-token") {
      at->second.revoked = true;
    } else {
      at->second.made = true;
      at->second.data = *std::move(data);
    }
  }
}

/// A token is kept, then the log has its entry: of one that is about as new as the end of the log
/// it may be on its way, or behind the snapshot that a backup was made of. After a day it is not.
bool may_be_logged_yet(soci::session& sql, const TokenRow& row) {
  using std::chrono::milliseconds;
  constexpr auto kOnItsWay = milliseconds{std::chrono::minutes{1}}.count();
  constexpr auto kLongestCopy = milliseconds{std::chrono::hours{24}}.count();
  std::int64_t newest = 0;
  sql << "SELECT COALESCE(MAX(time), 0) FROM audit", soci::into(newest);
  const auto today = count_of(now());
  return row.made > newest - kOnItsWay && row.made > today - kLongestCopy && row.made <= today;
}

std::string wrong_in(soci::session& sql, const TokenRow& row, const Logged& logged) {
  if (!logged.made && may_be_logged_yet(sql, row)) return {};
  if (!logged.made) return "the audit log has no entry that it was made";
  const auto digest = text_at(logged.data, "sha256");
  const auto name = text_at(logged.data, "name"), role = text_at(logged.data, "role");
  const bool changed = (digest && *digest != row.digest()) || (name && *name != row.name) ||
                       (role && *role != row.role);
  if (changed) return "it is not as it was made";
  if (logged.revoked && row.revoked == 0) return "it was revoked, and is not";
  return {};
}

/// A row that no command made may have anything for an id; who reads the advice pastes it.
std::string as_word(const std::string& id) {
  const bool is_plain = !id.empty() && id.find_first_not_of("0123456789abcdef") == id.npos;
  return is_plain ? id : shell_quoted(printable(id));
}

}  // namespace

std::string token_digest(soci::session& sql, std::string_view id) {
  std::string digest;
  if (id.empty()) return digest;
  each_token(sql, std::string{id}, [&](const TokenRow& row) { digest = row.digest(); });
  return digest;
}

std::vector<Fault> token_faults(soci::session& sql) {
  std::vector<TokenRow> rows;
  std::map<std::string, Logged> logged;
  each_token(sql, "", [&](const TokenRow& row) {
    rows.push_back(row);
    logged[row.id];
  });
  read_log(sql, logged);
  std::vector<Fault> faults;
  for (const auto& row : rows)
    if (const auto what = wrong_in(sql, row, logged[row.id]); !what.empty())
      faults.push_back({row.where(), fmt::format("{} ({}, {})", what, row.name, row.role),
                        "who has it may not be who should: cupel token revoke " + as_word(row.id)});
  return faults;
}

}  // namespace cupel::store
