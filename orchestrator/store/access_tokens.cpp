#include "orchestrator/store/access_tokens.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/token_check.h"

namespace cupel::store {
namespace {

constexpr std::string_view kTokenPrefix = "cupel_";
constexpr std::size_t kTokenIdDigits = 16;
constexpr std::size_t kTokenSecretDigits = 64;

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

struct TokenParts {
  std::string_view id{}, secret{};
};

std::optional<TokenParts> token_parts(std::string_view text) {
  constexpr auto kLength = kTokenPrefix.size() + kTokenIdDigits + 1 + kTokenSecretDigits;
  if (text.size() != kLength || !text.starts_with(kTokenPrefix)) return std::nullopt;
  text.remove_prefix(kTokenPrefix.size());
  const TokenParts parts{text.substr(0, kTokenIdDigits), text.substr(kTokenIdDigits + 1)};
  const bool sound =
      text[kTokenIdDigits] == '_' && is_hexadecimal(parts.id) && is_hexadecimal(parts.secret);
  return sound ? std::optional{parts} : std::nullopt;
}

/// In the same time wherever they differ.
bool same_hash(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    differs |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  return differs == 0;
}

constexpr const char* kTokenColumns =
    "SELECT id, name, role, racks, session, parent, made_by, made, expires, revoked, used, hash "
    "FROM access_token ";

struct TokenRow {
  AccessToken token{};
  std::string racks{}, hash{};
  int session = 0;
  std::int64_t made = 0, expires = 0, revoked = 0, used = 0;

  void bind(soci::statement& rows) {
    for (auto* text : {&token.id, &token.name, &token.role, &racks})
      rows.exchange(soci::into(*text));
    rows.exchange(soci::into(session));
    for (auto* text : {&token.parent, &token.made_by}) rows.exchange(soci::into(*text));
    for (auto* time : {&made, &expires, &revoked, &used}) rows.exchange(soci::into(*time));
    rows.exchange(soci::into(hash));
  }
  AccessToken whole() const {
    auto one = token;
    one.racks = inventory::RackScope::parse(racks);
    one.session = session != 0;
    one.made = time_of(made);
    one.expires = time_of(expires);
    one.revoked = time_of(revoked);
    one.used = time_of(used);
    return one;
  }
};

/// All but the newest of a token, so that there is room for one more.
void end_oldest_sessions(soci::session& sql, const std::string& parent) {
  const int stay = AccessTokens::kMostSessions - 1;
  sql << "DELETE FROM access_token WHERE session = 1 AND parent = :parent AND id NOT IN (SELECT id "
         "FROM access_token WHERE session = 1 AND parent = :same ORDER BY made DESC, rowid DESC "
         "LIMIT :stay)",
      soci::use(parent), soci::use(parent), soci::use(stay);
}

Result<void> room_for_one(soci::session& sql, std::int64_t now) {
  int count = 0;
  sql << "SELECT COUNT(*) FROM access_token WHERE session = 0 AND expires >= :now AND revoked = 0",
      soci::use(now), soci::into(count);
  if (count < AccessTokens::kMost) return ok();
  return Error{
      Code::kConflict,
      fmt::format("there are {} tokens, which is as many as there may be: revoke some with "
                  "cupel token revoke ID",
                  count)};
}

}  // namespace

struct AccessTokens::Connection {
  soci::session sql;
};

AccessTokens::AccessTokens(std::unique_ptr<Connection> connection)
    : connection_{std::move(connection)} {}
AccessTokens::AccessTokens(AccessTokens&&) noexcept = default;
AccessTokens::~AccessTokens() = default;

std::string_view token_id(std::string_view text) {
  const auto parts = token_parts(text);
  return parts ? parts->id : std::string_view{};
}

Result<AccessTokens> AccessTokens::open(const std::filesystem::path& folder) {
  return guarded("cannot open the tokens in " + folder.string(), [&]() -> Result<AccessTokens> {
    auto connection = std::make_unique<Connection>();
    open_session(connection->sql, folder);
    return AccessTokens{std::move(connection)};
  });
}

Result<std::string> AccessTokens::add(AccessToken token) {
  auto& sql = connection_->sql;
  const auto id = random_hex(kTokenIdDigits / 2);
  const auto secret = random_hex(kTokenSecretDigits / 2);
  return guarded("cannot keep the token", [&]() -> Result<std::string> {
    const auto hash = sha256_hex(secret);
    const auto racks = token.racks.text();
    const int session = token.session ? 1 : 0;
    const auto made = count_of(token.made), expires = count_of(token.expires);
    const auto oldest =
        made - std::chrono::duration_cast<std::chrono::milliseconds>(kExpiredSessions).count();
    Writing writing{sql};
    sql << "DELETE FROM access_token WHERE session = 1 AND expires < :oldest", soci::use(oldest);
    if (token.session) {
      end_oldest_sessions(sql, token.parent);
    } else {
      TRY(room_for_one(sql, made));
    }
    sql << "INSERT INTO access_token (id, hash, name, role, racks, session, parent, made_by, made, "
           "expires, revoked, used) VALUES (:id, :hash, :name, :role, :racks, :session, :parent, "
           ":made_by, :made, :expires, 0, 0)",
        soci::use(id), soci::use(hash), soci::use(token.name), soci::use(token.role),
        soci::use(racks), soci::use(session), soci::use(token.parent), soci::use(token.made_by),
        soci::use(made), soci::use(expires);
    writing.commit();
    return fmt::format("{}{}_{}", kTokenPrefix, id, secret);
  });
}

Result<std::string> AccessTokens::digest(std::string_view id) const {
  return guarded("cannot read the tokens", [&]() -> Result<std::string> {
    auto found = token_digest(connection_->sql, id);
    if (found.empty())
      return Error{Code::kNotFound,
                   fmt::format("there is no token '{}': see cupel token list", printable(id))};
    return found;
  });
}

Result<AccessToken> AccessTokens::find(std::string_view text) const {
  const auto parts = token_parts(text);
  const Error refused{Code::kRefused, "the token is not one of this service"};
  if (!parts) return refused;
  auto& sql = connection_->sql;
  return guarded("cannot read the tokens", [&]() -> Result<AccessToken> {
    const std::string id{parts->id};
    TokenRow row;
    soci::statement rows{sql};
    rows.exchange(soci::use(id));
    row.bind(rows);
    rows.alloc();
    rows.prepare(std::string{kTokenColumns} + "WHERE id = :id");
    rows.define_and_bind();
    rows.execute();
    const bool known = rows.fetch();
    if (!same_hash(sha256_hex(parts->secret), known ? row.hash : std::string(64, '0')) || !known)
      return refused;
    return row.whole();
  });
}

Result<void> AccessTokens::check(std::string_view id, WallTime now) const {
  auto& sql = connection_->sql;
  return guarded("cannot read the tokens", [&]() -> Result<void> {
    const std::string key{id};
    const auto time = count_of(now);
    int good = 0;
    sql << "SELECT COUNT(*) FROM access_token WHERE id = :id AND revoked = 0 AND expires > :time",
        soci::use(key), soci::use(time), soci::into(good);
    if (good == 0) return Error{Code::kRefused, "the token has expired or is revoked"};
    return ok();
  });
}

Result<void> AccessTokens::check_parent(std::string_view session, WallTime now) const {
  auto& sql = connection_->sql;
  std::string parent;
  TRY(guarded("cannot read the tokens", [&]() -> Result<void> {
    const std::string key{session};
    sql << "SELECT COALESCE(MAX(parent), '') FROM access_token WHERE id = :id", soci::use(key),
        soci::into(parent);
    return ok();
  }));
  return check(parent.empty() ? session : parent, now);
}

Result<std::vector<AccessToken>> AccessTokens::list() const {
  auto& sql = connection_->sql;
  return guarded("cannot read the tokens", [&]() -> Result<std::vector<AccessToken>> {
    TokenRow row;
    soci::statement rows{sql};
    row.bind(rows);
    rows.alloc();
    rows.prepare(std::string{kTokenColumns} + "WHERE session = 0 ORDER BY made DESC, id LIMIT " +
                 std::to_string(kMost));
    rows.define_and_bind();
    rows.execute();
    std::vector<AccessToken> found;
    while (rows.fetch()) found.push_back(row.whole());
    return found;
  });
}

Result<void> AccessTokens::revoke(std::string_view id, WallTime now) {
  auto& sql = connection_->sql;
  return guarded("cannot revoke the token", [&]() -> Result<void> {
    const std::string key{id};
    const auto time = count_of(now);
    Writing writing{sql};
    int known = 0;
    sql << "SELECT COUNT(*) FROM access_token WHERE id = :id", soci::use(key), soci::into(known);
    if (known == 0)
      return Error{Code::kNotFound,
                   fmt::format("there is no token '{}': see cupel token list", printable(id))};
    sql << "UPDATE access_token SET revoked = :time WHERE (id = :id OR parent = :parent) AND "
           "revoked = 0",
        soci::use(time), soci::use(key), soci::use(key);
    writing.commit();
    return ok();
  });
}

Result<void> AccessTokens::note_use(std::string_view id, WallTime now) {
  auto& sql = connection_->sql;
  return guarded("cannot write the token's last use", [&]() -> Result<void> {
    const std::string key{id};
    const auto time = count_of(now);
    Writing writing{sql};
    sql << "UPDATE access_token SET used = :time WHERE id = :id", soci::use(time), soci::use(key);
    writing.commit();
    return ok();
  });
}

}  // namespace cupel::store
