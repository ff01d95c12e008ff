#include "orchestrator/store/kept_replies.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "orchestrator/store/database.h"

namespace cupel::store {

struct KeptReplies::Connection {
  soci::session sql;
};

KeptReplies::KeptReplies(std::unique_ptr<Connection> connection)
    : connection_{std::move(connection)} {}
KeptReplies::KeptReplies(KeptReplies&&) noexcept = default;
KeptReplies::~KeptReplies() = default;

Result<KeptReplies> KeptReplies::open(const std::filesystem::path& folder) {
  return guarded("cannot open the replies in " + folder.string(), [&]() -> Result<KeptReplies> {
    auto connection = std::make_unique<Connection>();
    open_session(connection->sql, folder);
    return KeptReplies{std::move(connection)};
  });
}

Result<std::optional<KeptReply>> KeptReplies::claim(const KeptReply& asked) {
  auto& sql = connection_->sql;
  return guarded("cannot keep the request", [&]() -> Result<std::optional<KeptReply>> {
    const auto at = count_of(asked.at);
    const auto oldest = at - std::chrono::duration_cast<std::chrono::milliseconds>(kKept).count();
    Writing writing{sql};
    sql << "DELETE FROM kept_reply WHERE at < :oldest", soci::use(oldest);
    KeptReply kept{asked.who, asked.key};
    std::int64_t then = 0;
    sql << "SELECT request, status, location, body, at FROM kept_reply WHERE who = :who AND key = "
           ":key",
        soci::use(asked.who), soci::use(asked.key), soci::into(kept.request),
        soci::into(kept.status), soci::into(kept.location), soci::into(kept.body), soci::into(then);
    if (sql.got_data()) {
      kept.at = time_of(then);
      return std::optional{std::move(kept)};
    }
    int count = 0;
    sql << "SELECT COUNT(*) FROM kept_reply", soci::into(count);
    if (count >= kMost)
      sql << "DELETE FROM kept_reply WHERE rowid IN (SELECT rowid FROM kept_reply ORDER BY at "
             "LIMIT 1000)";
    sql << "INSERT INTO kept_reply (who, key, request, status, location, body, at) VALUES (:who, "
           ":key, :request, 0, '', :body, :at)",
        soci::use(asked.who), soci::use(asked.key), soci::use(asked.request), soci::use(asked.body),
        soci::use(at);
    writing.commit();
    return std::optional<KeptReply>{};
  });
}

Result<void> KeptReplies::keep(const KeptReply& reply) {
  auto& sql = connection_->sql;
  return guarded("cannot keep the reply", [&]() -> Result<void> {
    Writing writing{sql};
    sql << "UPDATE kept_reply SET status = :status, location = :location, body = :body WHERE who = "
           ":who AND key = :key",
        soci::use(reply.status), soci::use(reply.location), soci::use(reply.body),
        soci::use(reply.who), soci::use(reply.key);
    writing.commit();
    return ok();
  });
}

Result<void> KeptReplies::drop(const KeptReply& reply) {
  auto& sql = connection_->sql;
  return guarded("cannot drop the request", [&]() -> Result<void> {
    Writing writing{sql};
    sql << "DELETE FROM kept_reply WHERE who = :who AND key = :key", soci::use(reply.who),
        soci::use(reply.key);
    writing.commit();
    return ok();
  });
}

Result<void> KeptReplies::settle_unfinished(
    const std::function<std::optional<KeptReply>(const KeptReply&, std::optional<RunId>)>& reply) {
  auto& sql = connection_->sql;
  return guarded("cannot settle requests", [&]() -> Result<void> {
    std::vector<KeptReply> unfinished;
    {
      KeptReply row;
      std::int64_t at = 0;
      soci::statement rows =
          (sql.prepare << "SELECT who, key, request, body, at FROM kept_reply WHERE status = 0",
           soci::into(row.who), soci::into(row.key), soci::into(row.request), soci::into(row.body),
           soci::into(at));
      rows.execute();
      while (rows.fetch()) {
        row.at = time_of(at);
        unfinished.push_back(row);
      }
    }
    for (const auto& claim : unfinished) {
      const auto named = fmt::format("%\"request\":\"{}\"%", claim.id());
      RunId run = 0;
      sql << "SELECT COALESCE(MAX(id), 0) FROM run WHERE options LIKE :named", soci::use(named),
          soci::into(run);
      const auto settled = reply(claim, run == 0 ? std::nullopt : std::optional{run});
      TRY(settled ? keep(*settled) : drop(claim));
    }
    return ok();
  });
}

std::string KeptReply::id() const {
  return sha256_hex(fmt::format("{}\n{}\n{}", who, key, count_of(at)));
}

}  // namespace cupel::store
