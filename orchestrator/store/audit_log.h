#pragma once
// What people changed or did outside of runs: through the service, with tokens, at cables. Who,
// from where, what. Append-only and chained by hashes as the journal of a run is; what belongs to
// no run stands here alone. For one thread.
#include <boost/json/object.hpp>
#include <memory>

#include "orchestrator/store/store.h"

namespace soci {
class session;
}

namespace cupel::store {

struct AuditEntry {
  std::int64_t sequence = 0;  // given by the log, as are time and hash
  WallTime time{};
  std::string who{};     // "alice"
  std::string origin{};  // "10.0.0.5 token 0123456789abcdef"
  std::string what{};    // "start-run", "login-refused"
  boost::json::object data{};
  std::string hash{};
};

/// Where the log ends. An end that was cut off, or a chain that was made anew, shows only to who
/// has kept this elsewhere: it is logged with every entry, by a command without a log to syslog,
/// and cupel store verify prints it.
struct AuditHead {
  std::int64_t sequence = 0;
  std::string hash{};
  friend bool operator==(const AuditHead&, const AuditHead&) = default;
};
std::string to_string(const AuditHead& head);  // "56:9f86d0..."
/// Errors: kInvalid.
Result<AuditHead> audit_head_of(std::string_view text);

/// What a look through the whole log finds.
struct AuditChain {
  AuditHead head{};                         // of what is whole
  std::optional<std::int64_t> broken_at{};  // the first entry that is missing or was changed
  bool has_kept = true;                     // whether what was kept elsewhere stands in it
};
/// Throws what SOCI throws.
AuditChain audit_chain(soci::session& sql, const std::optional<AuditHead>& kept = {});

/// Entries as a text that stands without the store: a line of JSON each, with every byte that its
/// hash is of. So the chain can be checked by someone who has neither the database nor trust in it.
struct AuditLines {
  AuditHead before{};  // the entry before the first; sequence 0: there is none
  AuditHead head{};    // the last; without entries the same as `before`
  std::string text{};
};

class AuditLog {
 public:
  /// Of the store in `folder`, which must be open. Errors: kStorage.
  static Result<AuditLog> open(const std::filesystem::path& folder);
  AuditLog(AuditLog&&) noexcept;
  ~AuditLog();

  /// Durable when it returns. Errors: kStorage.
  Result<void> append(AuditEntry entry);
  /// In this order, all or none. Errors: kStorage.
  Result<void> append(std::span<const AuditEntry> entries);

  /// In order, behind `after`. Errors: kStorage.
  Result<std::vector<AuditEntry>> page(std::int64_t after, std::size_t most) const;

  /// Those behind `after`, whose chain is whole: `most` at most, and none once the text has
  /// `bytes`. Errors: kStorage; kNotFound: there is no entry `after`; kMalformed: one is missing or
  /// was changed, with its number.
  Result<AuditLines> lines(std::int64_t after, std::int64_t most, std::size_t bytes) const;

  /// The newest entries whose `what` begins so, oldest first. Errors: kStorage.
  Result<std::vector<AuditEntry>> newest(std::string_view begin, std::size_t most) const;

 private:
  struct Connection;
  explicit AuditLog(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace cupel::store
