#pragma once
// What people changed or did outside of runs: through the service, with tokens, at cables. Who,
// from where, what. Append-only and chained by hashes as the journal of a run is; what belongs to
// no run stands here alone. For one thread.
#include <boost/json/object.hpp>
#include <memory>

#include "orchestrator/store/store.h"

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

  /// The newest entries whose `what` begins so, oldest first. Errors: kStorage.
  Result<std::vector<AuditEntry>> newest(std::string_view begin, std::size_t most) const;

  /// The first entry that is missing or not what was written; nothing if the chain is whole.
  /// Errors: kStorage.
  Result<std::optional<std::int64_t>> broken_at() const;

 private:
  struct Connection;
  explicit AuditLog(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace cupel::store
