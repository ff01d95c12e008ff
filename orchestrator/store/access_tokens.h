#pragma once
// Who may use the service: tokens, as hashes. The secret itself is shown once, when it is made, and
// kept nowhere. A page's session is a token too, that ends sooner. For one thread.
#include <chrono>
#include <memory>

#include "base/json.h"
#include "inventory/rack_scope.h"
#include "orchestrator/store/store.h"

namespace cupel::store {

struct AccessToken {
  std::string id{};    // 16 hexadecimal digits; no secret
  std::string name{};  // of the person or the program
  std::string role{};  // "viewer", "operator", "admin"
  inventory::RackScope racks{};
  bool session = false;  // of a page; made from a token, and ends with it
  std::string parent{};  // the token that a session was made from
  std::string made_by{};
  WallTime made{};
  WallTime expires{};
  WallTime revoked{};  // the epoch: it is not
  WallTime used{};     // last, to the minute; the epoch: never

  friend bool operator==(const AccessToken&, const AccessToken&) = default;
};

class AccessTokens {
 public:
  /// Of the store in `folder`, which must be open. Errors: kStorage.
  static Result<AccessTokens> open(const std::filesystem::path& folder);
  AccessTokens(AccessTokens&&) noexcept;
  ~AccessTokens();

  /// Keeps it under an id of its own. Returns "cupel_ID_SECRET", which nothing can show again.
  /// Errors: kStorage; kConflict: there are as many tokens as there may be.
  Result<std::string> add(AccessToken token);

  /// SHA-256 of all that was kept of it when it was made, for the audit log: store verify holds the
  /// one against the other. Errors: kNotFound; kStorage.
  Result<std::string> digest(std::string_view id) const;

  /// Errors: kRefused: no such token, or another secret; kStorage. That it has expired or is
  /// revoked is the caller's to look at.
  Result<AccessToken> find(std::string_view text) const;

  /// Whether a token that was found before is one still. Errors: kRefused: it has expired or is
  /// revoked; kStorage.
  Result<void> check(std::string_view id, WallTime now) const;

  /// As check(), of the token that a session was made from, which may have ended by itself.
  Result<void> check_parent(std::string_view session, WallTime now) const;

  /// Newest first; without sessions. Errors: kStorage.
  Result<std::vector<AccessToken>> list() const;

  /// And the sessions that were made from it. Errors: kNotFound; kStorage.
  Result<void> revoke(std::string_view id, WallTime now);

  /// Errors: kStorage.
  Result<void> note_use(std::string_view id, WallTime now);

  static constexpr int kMost = 10'000;  // tokens that have not expired; sessions do not count
  /// Of one token: the next one ends the oldest. So nobody's sessions shut out another's.
  static constexpr int kMostSessions = 20;
  /// So long a session is known after its end: a page that still shows it does not guess.
  static constexpr std::chrono::hours kExpiredSessions{7 * 24};

 private:
  struct Connection;
  explicit AccessTokens(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

/// The id of "cupel_ID_SECRET"; empty for any other text.
std::string_view token_id(std::string_view text);

}  // namespace cupel::store
