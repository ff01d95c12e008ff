#include "orchestrator/store/pending_requests.h"

#include <algorithm>

#include "orchestrator/store/database.h"

namespace cupel::store {

struct PendingRequests::Connection {
  soci::session sql;
};

PendingRequests::PendingRequests(std::unique_ptr<Connection> connection)
    : connection_{std::move(connection)} {}
PendingRequests::PendingRequests(PendingRequests&&) noexcept = default;
PendingRequests::~PendingRequests() = default;

Result<PendingRequests> PendingRequests::open(const std::filesystem::path& folder) {
  return guarded("cannot open the approvals in " + folder.string(),
                 [&]() -> Result<PendingRequests> {
                   auto connection = std::make_unique<Connection>();
                   open_session(connection->sql, folder);
                   return PendingRequests{std::move(connection)};
                 });
}

Result<void> PendingRequests::add(const PendingRequest& request) {
  auto& sql = connection_->sql;
  return guarded("cannot keep the request", [&]() -> Result<void> {
    const auto at = count_of(request.at), expires = count_of(request.expires);
    Writing writing{sql};
    sql << "DELETE FROM pending_approval WHERE expires < :at", soci::use(at);
    int count = 0;
    sql << "SELECT COUNT(*) FROM pending_approval", soci::into(count);
    if (count >= kMost)
      return Error{Code::kConflict, fmt::format("{} requests wait for an approval already", count)};
    sql << "INSERT INTO pending_approval (id, request, asked_by, origin, at, expires) VALUES (:id, "
           ":request, :asked_by, :origin, :at, :expires)",
        soci::use(request.id), soci::use(request.request), soci::use(request.asked_by),
        soci::use(request.origin), soci::use(at), soci::use(expires);
    writing.commit();
    return ok();
  });
}

Result<std::vector<PendingRequest>> PendingRequests::list(WallTime now) const {
  auto& sql = connection_->sql;
  return guarded("cannot read the approvals", [&]() -> Result<std::vector<PendingRequest>> {
    const auto oldest = count_of(now);
    PendingRequest each;
    std::int64_t at = 0, expires = 0;
    soci::statement rows =
        (sql.prepare << "SELECT id, request, asked_by, origin, at, expires FROM pending_approval "
                        "WHERE expires >= :now ORDER BY at, id",
         soci::use(oldest), soci::into(each.id), soci::into(each.request),
         soci::into(each.asked_by), soci::into(each.origin), soci::into(at), soci::into(expires));
    rows.execute();
    std::vector<PendingRequest> found;
    while (rows.fetch()) {
      each.at = time_of(at);
      each.expires = time_of(expires);
      found.push_back(each);
    }
    return found;
  });
}

Result<PendingRequest> PendingRequests::find(std::string_view id, WallTime now) const {
  TRY(auto all, list(now));
  const auto found = std::ranges::find(all, id, &PendingRequest::id);
  if (found == all.end())
    return Error{Code::kNotFound, "no such request waits for an approval; it may have expired"};
  return std::move(*found);
}

Result<void> PendingRequests::take(std::string_view id) {
  auto& sql = connection_->sql;
  return guarded("cannot take the approval", [&]() -> Result<void> {
    const std::string key{id};
    Writing writing{sql};
    int count = 0;
    sql << "SELECT COUNT(*) FROM pending_approval WHERE id = :id", soci::use(key),
        soci::into(count);
    if (count == 0) return Error{Code::kConflict, "another person was faster"};
    sql << "DELETE FROM pending_approval WHERE id = :id", soci::use(key);
    writing.commit();
    return ok();
  });
}

}  // namespace cupel::store
