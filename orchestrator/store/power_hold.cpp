#include "orchestrator/store/power_hold.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/json.h"
#include "inventory/node.h"

namespace cupel::store {
namespace {

std::string name_of(const std::string& node) { return "firmware-update:" + node; }

}  // namespace

Result<void> hold_power(Store& store, const std::string& node, const PowerHold& hold) {
  const json::object text{{"what", hold.what},
                          {"until", hold.until.time_since_epoch().count()},
                          {"by", hold.by},
                          {"node", hold.node}};
  return store.repin(name_of(node), json::serialize(text));
}

Result<void> release_power(Store& store, const std::string& node) {
  return store.repin(name_of(node), "");
}

Result<bool> release_power_of(Store& store, const std::string& held, std::string_view what,
                              std::string_view node) {
  const auto kept = store.pinned(name_of(held));
  const auto read = kept ? parse_json(*kept) : Result<json::value>{json::value{}};
  if (!read || text_at(*read, "what") != what || text_at(*read, "node") != node) return false;
  TRY(release_power(store, held));
  return true;
}

std::optional<std::string> power_is_held(Store& store, const std::string& node,
                                         std::chrono::sys_seconds now, std::string_view except) {
  const auto kept = store.pinned(name_of(node));
  if (!kept) return std::nullopt;
  const auto reported = parse_json(*kept);
  const auto seconds = reported ? number_at(*reported, "until").value_or(0) : 0;
  const std::chrono::sys_seconds until{std::chrono::seconds{static_cast<std::int64_t>(seconds)}};
  if (!reported || until <= now) return std::nullopt;
  if (!except.empty() && text_at(*reported, "by") == except) return std::nullopt;
  return fmt::format(
      "{} is being written on {}, until {:%F %H:%M} UTC at most: its power is left alone",
      text_at(*reported, "what").value_or("firmware"), node, until);
}

std::optional<std::string> power_is_held(Store& store, const inventory::Node& node,
                                         std::chrono::sys_seconds now, std::string_view except) {
  auto why = power_is_held(store, node.name, now, except);
  const auto& bmc = inventory::bmc_name(node);
  return why || bmc == node.name ? why : power_is_held(store, bmc, now, except);
}

}  // namespace cupel::store
