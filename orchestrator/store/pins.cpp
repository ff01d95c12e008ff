#include "orchestrator/store/pins.h"

#include "orchestrator/store/database.h"

namespace cupel::store {

Result<bool> is_pinned_by_person(const Store& store, std::string_view name) {
  return guarded("cannot read the pins", [&]() -> Result<bool> {
    soci::session sql;
    open_session(sql, store.folder(), Access::read_only);
    const std::string key{name};
    int count = 0;
    sql << "SELECT COUNT(*) FROM known_key WHERE name = :name AND by_person = 1", soci::use(key),
        soci::into(count);
    return count > 0;
  });
}

Result<std::vector<std::string>> pinned_behind(const Store& store, std::string_view prefix) {
  return guarded("cannot read the pins", [&]() -> Result<std::vector<std::string>> {
    soci::session sql;
    open_session(sql, store.folder(), Access::read_only);
    const std::string like = std::string{prefix} + "%";
    const soci::rowset<std::string> rows =
        (sql.prepare << "SELECT name FROM known_key WHERE name LIKE :prefix ORDER BY name",
         soci::use(like));
    std::vector<std::string> names;
    for (const auto& name : rows) names.push_back(name.substr(prefix.size()));
    return names;
  });
}

Result<void> pin_reported(Store& store, std::string_view name, std::string_view fingerprint) {
  const auto before = store.pinned(name);
  if (before == fingerprint) return ok();
  TRY(const bool by_person, is_pinned_by_person(store, name));
  if (by_person)
    return Error{Code::kUntrusted,
                 fmt::format("the host key that it reports is {}, and a person pinned {}",
                             fingerprint, before.value_or("none"))};
  store.pin(name, fingerprint);
  if (store.pinned(name) == fingerprint) return ok();
  return Error{Code::kStorage, "cannot write the pins in " + store.folder().string()};
}

Result<void> forget_reported(Store& store, std::string_view name) {
  TRY(const bool by_person, is_pinned_by_person(store, name));
  if (by_person) return ok();
  store.pin(name, "");
  if (!store.pinned(name)) return ok();
  return Error{Code::kStorage, "cannot write the pins in " + store.folder().string()};
}

}  // namespace cupel::store
