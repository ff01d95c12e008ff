#include "orchestrator/store/journal_end.h"

#include "orchestrator/store/database.h"

namespace cupel::store {

struct JournalEnds::Connection {
  soci::session sql;
};

JournalEnds::JournalEnds(std::unique_ptr<Connection> connection)
    : connection_{std::move(connection)} {}
JournalEnds::JournalEnds(JournalEnds&&) noexcept = default;
JournalEnds::~JournalEnds() = default;

Result<JournalEnds> JournalEnds::open(const std::filesystem::path& folder) {
  return guarded("cannot read the store in " + folder.string(), [&]() -> Result<JournalEnds> {
    auto connection = std::make_unique<Connection>();
    open_session(connection->sql, folder);
    return JournalEnds{std::move(connection)};
  });
}

Result<JournalEnd> JournalEnds::of(RunId run) const {
  auto& sql = connection_->sql;
  return guarded("cannot read the journal", [&]() -> Result<JournalEnd> {
    long long sequence = 0;
    std::string hash;
    sql << "SELECT sequence, hash FROM event WHERE run = :run ORDER BY sequence DESC LIMIT 1",
        soci::use(run), soci::into(sequence), soci::into(hash);
    return JournalEnd{sequence, std::move(hash)};
  });
}

}  // namespace cupel::store
