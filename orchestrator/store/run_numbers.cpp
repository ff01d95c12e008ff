#include "orchestrator/store/run_numbers.h"

#include "orchestrator/store/database.h"

namespace cupel::store {

Result<void> begin_numbers_at(const std::filesystem::path& folder, engine::RunId run) {
  return guarded("cannot write the store in " + folder.string(), [&]() -> Result<void> {
    soci::session sql;
    open_session(sql, folder);
    const auto before = run - 1;
    if (before <= 0) return ok();
    Writing writing{sql};
    // As if that one had been there and was removed: its number is not given again.
    sql << "INSERT INTO pruned (run, playbook, began, ended, at, asked_by) VALUES (:run, '', 0, 0, "
           "0, '')",
        soci::use(before);
    writing.commit();
    return ok();
  });
}

}  // namespace cupel::store
