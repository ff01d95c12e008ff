#include "base/text.h"
#include "orchestrator/store/database.h"

namespace cupel::store {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : " ") + text;
  return all;
}

std::vector<std::string> parted(std::string_view text) {
  const auto pieces = words(text);
  return {pieces.begin(), pieces.end()};
}

template <class T>
std::optional<T> or_nothing(Result<std::optional<T>> found) {
  return found ? *std::move(found) : std::nullopt;
}

}  // namespace

std::optional<bmc::Refusal> Store::refusal(const std::string& node, const std::string& user) {
  auto& sql = database_->sql;
  return or_nothing(guarded("refusals", [&]() -> Result<std::optional<bmc::Refusal>> {
    bmc::Refusal found;
    int wrong = 0;
    long long last = 0;
    sql << "SELECT mark, salt, times, believed, last FROM bmc_refusal WHERE node = :node AND login "
           "= :login",
        soci::use(node), soci::use(user), soci::into(found.mark), soci::into(found.salt),
        soci::into(found.times), soci::into(wrong), soci::into(last);
    if (!sql.got_data()) return std::optional<bmc::Refusal>{};
    found.wrong = wrong != 0;
    found.last = std::chrono::sys_seconds{std::chrono::seconds{last}};
    return std::optional{found};
  }));
}

void Store::keep_refusal(const std::string& node, const std::string& user,
                         const std::optional<bmc::Refusal>& refusal) {
  auto& sql = database_->sql;
  [[maybe_unused]] const auto kept = guarded("refusals", [&]() -> Result<void> {
    Writing writing{sql};
    sql << "DELETE FROM bmc_refusal WHERE node = :node AND login = :login", soci::use(node),
        soci::use(user);
    if (refusal) {
      const int wrong = refusal->wrong ? 1 : 0;
      const long long last = refusal->last.time_since_epoch().count();
      sql << "INSERT INTO bmc_refusal (node, login, mark, salt, times, believed, last) VALUES "
             "(:node, :login, :mark, :salt, :times, :believed, :last)",
          soci::use(node), soci::use(user), soci::use(refusal->mark), soci::use(refusal->salt),
          soci::use(refusal->times), soci::use(wrong), soci::use(last);
    }
    writing.commit();
    return ok();
  });
}

std::optional<bmc::KnownBmc> Store::known_bmc(const std::string& node) {
  auto& sql = database_->sql;
  return or_nothing(guarded("known BMCs", [&]() -> Result<std::optional<bmc::KnownBmc>> {
    bmc::KnownBmc found;
    std::string macs, host;
    int port = 0;
    sql << "SELECT serial, uuid, service_uuid, macs, host, port FROM known_bmc WHERE node = :node",
        soci::use(node), soci::into(found.serial), soci::into(found.uuid),
        soci::into(found.service_uuid), soci::into(macs), soci::into(host), soci::into(port);
    if (!sql.got_data()) return std::optional<bmc::KnownBmc>{};
    found.macs = parted(macs);
    if (!host.empty()) found.moved_to = inventory::Endpoint{host, static_cast<std::uint16_t>(port)};
    return std::optional{found};
  }));
}

void Store::keep_known_bmc(const std::string& node, const bmc::KnownBmc& known) {
  auto& sql = database_->sql;
  [[maybe_unused]] const auto kept = guarded("known BMCs", [&]() -> Result<void> {
    const auto macs = joined(known.macs);
    const auto where = known.moved_to.value_or(inventory::Endpoint{});
    const int port = where.port;
    const auto since = count_of(now());
    Writing writing{sql};
    sql << "DELETE FROM known_bmc WHERE node = :node", soci::use(node);
    sql << "INSERT INTO known_bmc (node, serial, uuid, service_uuid, macs, host, port, since) "
           "VALUES (:node, :serial, :uuid, :service, :macs, :host, :port, :since)",
        soci::use(node), soci::use(known.serial), soci::use(known.uuid),
        soci::use(known.service_uuid), soci::use(macs), soci::use(where.host), soci::use(port),
        soci::use(since);
    writing.commit();
    return ok();
  });
}

std::optional<bmc::Budget> Store::budget(const std::string& node) {
  auto& sql = database_->sql;
  return or_nothing(guarded("budgets", [&]() -> Result<std::optional<bmc::Budget>> {
    std::string data;
    sql << "SELECT data FROM bmc_budget WHERE node = :node", soci::use(node), soci::into(data);
    return sql.got_data() ? bmc::budget_of(data) : std::nullopt;
  }));
}

void Store::keep_budgets(const std::vector<std::pair<std::string, bmc::Budget>>& budgets) {
  auto& sql = database_->sql;
  [[maybe_unused]] const auto kept = guarded("budgets", [&]() -> Result<void> {
    Writing writing{sql};
    std::string node, data;
    soci::statement insert =
        (sql.prepare
             << "INSERT INTO bmc_budget (node, data) VALUES (:node, :data) ON CONFLICT (node) "
                "DO UPDATE SET data = excluded.data",
         soci::use(node), soci::use(data));
    for (const auto& [name, budget] : budgets) {
      node = name;
      data = bmc::to_text(budget);
      insert.execute(true);
    }
    writing.commit();
    return ok();
  });
}

Result<void> Store::forget_bmc(const std::string& node) {
  auto& sql = database_->sql;
  return guarded("cannot forget the BMC of " + node, [&]() -> Result<void> {
    Writing writing{sql};
    sql << "DELETE FROM known_bmc WHERE node = :node", soci::use(node);
    sql << "DELETE FROM bmc_refusal WHERE node = :node", soci::use(node);
    writing.commit();
    return ok();
  });
}

}  // namespace cupel::store
