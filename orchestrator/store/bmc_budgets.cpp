#include "orchestrator/store/bmc_budgets.h"

#include "orchestrator/store/database.h"

namespace cupel::store {

Result<std::vector<std::pair<std::string, bmc::Budget>>> all_budgets(
    const std::filesystem::path& folder) {
  using Budgets = std::vector<std::pair<std::string, bmc::Budget>>;
  return guarded("cannot read the store in " + folder.string(), [&]() -> Result<Budgets> {
    soci::session sql;
    open_session(sql, folder);
    const soci::rowset<soci::row> rows =
        (sql.prepare << "SELECT node, data FROM bmc_budget ORDER BY node LIMIT 100000");
    Budgets budgets;
    for (const auto& row : rows)
      if (auto budget = bmc::budget_of(row.get<std::string>(1)))
        budgets.emplace_back(row.get<std::string>(0), *std::move(budget));
    return budgets;
  });
}

}  // namespace cupel::store
