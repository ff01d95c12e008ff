#include "orchestrator/store/audit_log.h"

#include <syslog.h>

#include <algorithm>

#include "base/digest.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/evidence.h"

namespace cupel::store {
namespace {

struct AuditRow {
  std::int64_t sequence = 0, time = 0;
  std::string who{}, origin{}, what{}, data{}, hash{};
};

std::string chained_audit(std::string_view before, const AuditRow& row) {
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", before, row.sequence, row.time,
                                row.who, row.origin, row.what, row.data));
}

AuditEntry entry_of(const AuditRow& row) {
  AuditEntry entry{row.sequence, time_of(row.time), row.who, row.origin, row.what, {}, row.hash};
  if (auto data = parse_json(row.data); data && data->is_object())
    entry.data = std::move(data->get_object());
  return entry;
}

std::string line_of(const AuditRow& row) {
  return json::serialize(json::object{{"sequence", row.sequence},
                                      {"time", row.time},
                                      {"who", row.who},
                                      {"origin", row.origin},
                                      {"what", row.what},
                                      {"data", row.data},
                                      {"hash", row.hash}}) +
         "\n";
}

/// Behind `after`, each to `visit`, until it returns false.
template <class Visit>
void each_audit_row(soci::session& sql, std::int64_t after, Visit visit) {
  AuditRow row;
  soci::statement rows =
      (sql.prepare << "SELECT sequence, time, who, origin, what, data, hash FROM audit WHERE "
                      "sequence > :after ORDER BY sequence LIMIT " +
                          std::to_string(kRowsAtOnce),
       soci::use(after), soci::into(row.sequence), soci::into(row.time), soci::into(row.who),
       soci::into(row.origin), soci::into(row.what), soci::into(row.data), soci::into(row.hash));
  for (auto fetched = kRowsAtOnce; fetched == kRowsAtOnce; after = row.sequence) {
    rows.execute();
    for (fetched = 0; rows.fetch(); ++fetched)
      if (!visit(row)) return;
  }
}

/// Kept by whoever collects logs, it shows an end of the log that was cut off. A command that logs
/// nothing (cupel token) sends it to syslog, which systemd's journal reads too.
void keep_elsewhere(const AuditHead& head, const std::filesystem::path& folder) {
  const auto text = to_string(head);
  if (log::is_on()) return log::info({}, "audit-head", text);
  ::syslog(LOG_AUTHPRIV | LOG_INFO, "audit-head: %s of %s", text.c_str(),
           printable(folder.string()).c_str());
}

}  // namespace

std::string to_string(const AuditHead& head) {
  return fmt::format("{}:{}", head.sequence, head.hash);
}

Result<AuditHead> audit_head_of(std::string_view text) {
  const auto cut = std::min(text.find(':'), text.size());
  const auto sequence = number<std::int64_t>(text.substr(0, cut));
  const auto hash = text.substr(std::min(cut + 1, text.size()));
  if (sequence && *sequence > 0 && is_evidence_name(hash))
    return AuditHead{*sequence, std::string{hash}};
  return Error{
      Code::kInvalid,
      fmt::format("'{}' is no head of an audit log: expected an entry and its hash, such as "
                  "56:9f86d0..., which the service logs; print it with: cupel store verify",
                  printable(text))};
}

AuditChain audit_chain(soci::session& sql, const std::optional<AuditHead>& kept) {
  AuditChain chain{.has_kept = !kept};
  each_audit_row(sql, 0, [&](const AuditRow& row) {
    const auto expected = chain.head.sequence + 1;
    if (row.sequence != expected || chained_audit(chain.head.hash, row) != row.hash) {
      chain.broken_at = expected;
      return false;
    }
    chain.head = {row.sequence, row.hash};
    if (kept && chain.head == *kept) chain.has_kept = true;
    return true;
  });
  return chain;
}

struct AuditLog::Connection {
  std::filesystem::path folder{};
  soci::session sql{};
};

AuditLog::AuditLog(std::unique_ptr<Connection> connection) : connection_{std::move(connection)} {}
AuditLog::AuditLog(AuditLog&&) noexcept = default;
AuditLog::~AuditLog() = default;

Result<AuditLog> AuditLog::open(const std::filesystem::path& folder) {
  return guarded("cannot open the audit log in " + folder.string(), [&]() -> Result<AuditLog> {
    auto connection = std::make_unique<Connection>();
    connection->folder = folder;
    open_session(connection->sql, folder);
    write_durably(connection->sql);
    return AuditLog{std::move(connection)};
  });
}

Result<void> AuditLog::append(AuditEntry entry) { return append(std::span{&entry, 1}); }

Result<void> AuditLog::append(std::span<const AuditEntry> entries) {
  auto& sql = connection_->sql;
  return guarded("cannot write the audit log", [&]() -> Result<void> {
    Writing writing{sql};
    AuditRow row;
    std::string before;
    sql << "SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1",
        soci::into(row.sequence), soci::into(before);
    if (!sql.got_data()) row.sequence = 0;
    for (const auto& entry : entries) {
      row.who = printable(entry.who);
      row.origin = printable(entry.origin);
      row.what = entry.what;
      row.data = valid_utf8(json::serialize(entry.data));
      row.time = count_of(now());
      ++row.sequence;
      row.hash = chained_audit(before, row);
      sql << "INSERT INTO audit (sequence, time, who, origin, what, data, hash) VALUES (:sequence, "
             ":time, :who, :origin, :what, :data, :hash)",
          soci::use(row.sequence), soci::use(row.time), soci::use(row.who), soci::use(row.origin),
          soci::use(row.what), soci::use(row.data), soci::use(row.hash);
      before = row.hash;
    }
    writing.commit();
    keep_elsewhere({row.sequence, before}, connection_->folder);
    return ok();
  });
}

Result<std::vector<AuditEntry>> AuditLog::page(std::int64_t after, std::size_t most) const {
  return guarded("cannot read the audit log", [&]() -> Result<std::vector<AuditEntry>> {
    std::vector<AuditEntry> found;
    each_audit_row(connection_->sql, after, [&](const AuditRow& row) {
      found.push_back(entry_of(row));
      return found.size() < most;
    });
    return found;
  });
}

Result<AuditLines> AuditLog::lines(std::int64_t after, std::int64_t most, std::size_t bytes) const {
  return guarded("cannot read the audit log", [&]() -> Result<AuditLines> {
    AuditLines found;
    std::optional<std::int64_t> broken_at;
    each_audit_row(
        connection_->sql, std::max<std::int64_t>(after - 1, 0), [&](const AuditRow& row) {
          if (row.sequence == after) {
            found.before = found.head = {row.sequence, row.hash};
            return true;
          }
          const auto expected = found.head.sequence + 1;
          if (row.sequence != expected || chained_audit(found.head.hash, row) != row.hash) {
            broken_at = expected;
            return false;
          }
          found.head = {row.sequence, row.hash};
          found.text += line_of(row);
          return found.head.sequence - after < most && found.text.size() < bytes;
        });
    if (found.before.sequence != after)
      return Error{Code::kNotFound, fmt::format("the audit log has no entry {}", after)};
    if (broken_at)
      return Error{Code::kMalformed,
                   fmt::format("entry {} of the audit log is missing or was changed: see cupel "
                               "store verify",
                               *broken_at)};
    return found;
  });
}

Result<std::vector<AuditEntry>> AuditLog::newest(std::string_view begin, std::size_t most) const {
  return guarded(
      "cannot read the audit log", [&]() -> Result<std::vector<AuditEntry>> {
        std::vector<AuditEntry> found;
        const std::string what{begin};
        const auto length = static_cast<int>(what.size());
        const auto limit = static_cast<long long>(most);
        AuditRow row;
        soci::statement rows =
            (connection_->sql.prepare
                 << "SELECT sequence, time, who, origin, what, data, hash FROM audit WHERE "
                    "substr(what, 1, :length) = :what ORDER BY sequence DESC LIMIT :most",
             soci::use(length), soci::use(what), soci::use(limit), soci::into(row.sequence),
             soci::into(row.time), soci::into(row.who), soci::into(row.origin),
             soci::into(row.what), soci::into(row.data), soci::into(row.hash));
        rows.execute();
        while (rows.fetch()) found.push_back(entry_of(row));
        std::ranges::reverse(found);
        return found;
      });
}

}  // namespace cupel::store
