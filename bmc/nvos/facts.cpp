#include "bmc/nvos/facts.h"

#include <cmath>

#include "base/text.h"

namespace cupel::bmc::nvos {
namespace {

Error odd(std::string_view what) {
  return {Code::kMalformed, std::string{what} + ": not an object as NVOS answers with"};
}

Result<const json::object*> rows_of(const json::value& answer, std::string_view what) {
  const auto* rows = answer.if_object();
  if (rows == nullptr) return odd(what);
  if (rows->size() > kMostRows)
    return Error{Code::kMalformed,
                 std::string{what} + ": more than " + std::to_string(kMostRows) + " rows"};
  return rows;
}

std::string key_of(std::string_view key) { return printable(shortened(key, 120)); }

/// A word, or {"state": word}.
std::string state_at(const json::value& body, std::string_view path) {
  const auto* value = find(body, path);
  if (value == nullptr) return {};
  return value->is_object() ? word_at(*value, "state") : word_of(value);
}

std::optional<int> count_at(const json::value& body, std::string_view path) {
  const auto value = number_at(body, path);
  constexpr double kMost = 100'000;
  const bool fits = value && *value >= 0 && *value <= kMost && std::floor(*value) == *value;
  return fits ? std::optional{static_cast<int>(*value)} : std::nullopt;
}

/// A build as a text, or {"build-id": text}.
std::string build_at(const json::value& body, std::string_view path) {
  const auto* value = find(body, path);
  if (value == nullptr) return {};
  return value->is_object() ? word_at(*value, "build-id") : word_of(value);
}

template <class Value>
Task<Result<Value>> read(Nvue& nvue, std::string path, Result<Value> (*parse)(const json::value&),
                         Deadline deadline) {
  auto answer = co_await nvue.get(path, deadline);
  if (!answer) co_return std::move(answer).error();
  auto value = parse(*answer);
  if (!value) co_return std::move(value).error().within(nvue.name());
  co_return value;
}

Result<Platform> platform_of(const json::value& answer) {
  if (!answer.is_object()) return odd("platform");
  return Platform{.product = word_at(answer, "product-name"),
                  .serial = inventory::reported_place(word_at(answer, "serial-number")),
                  .part_number = word_at(answer, "part-number")};
}

Result<inventory::RackPlace> place_or_odd(const json::value& answer) {
  if (!answer.is_object()) return odd("chassis-location");
  return place_of(answer);
}

}  // namespace

std::string Images::running() const {
  if (current == "partition1") return partition1;
  if (current == "partition2") return partition2;
  return current;
}

Result<Cluster> cluster_of(const json::value& answer) {
  if (!answer.is_object()) return odd("cluster");
  return Cluster{.state = lower_case(state_at(answer, "state")),
                 .connection = lower_case(state_at(answer, "nmxc-conn"))};
}

Result<App> app_of(const json::value& answer) {
  if (!answer.is_object()) return odd("cluster application");
  App app{.status = lower_case(word_at(answer, "status")),
          .reason = word_at(answer, "reason"),
          .control_plane = word_at(answer, "addition-info"),
          .manager = lower_case(state_at(answer, "manager")),
          .version = word_at(answer, "app-ver")};
  if (app.control_plane.empty()) app.control_plane = word_at(answer, "additional-info");
  return app;
}

Result<std::vector<Partition>> partitions_of(const json::value& answer) {
  TRY(const auto* rows, rows_of(answer, "sdn partition"));
  std::vector<Partition> all;
  for (const auto& [id, one] : *rows) {
    if (!one.is_object()) return odd("sdn partition " + key_of(id));
    all.push_back({.id = key_of(id),
                   .name = word_at(one, "name"),
                   .gpus = count_at(one, "num-gpus"),
                   .health = lower_case(word_at(one, "health")),
                   .resiliency = word_at(one, "resiliency-mode"),
                   .type = word_at(one, "partition-type")});
  }
  return all;
}

Result<Images> images_of(const json::value& answer) {
  if (!answer.is_object()) return odd("system image");
  return Images{.current = word_at(answer, "current"),
                .next = word_at(answer, "next"),
                .partition1 = build_at(answer, "partition1"),
                .partition2 = build_at(answer, "partition2")};
}

Result<std::map<std::string, std::string>> firmware_of(const json::value& answer) {
  TRY(const auto* rows, rows_of(answer, "platform firmware"));
  std::map<std::string, std::string> versions;
  for (const auto& [component, one] : *rows)
    versions.emplace(key_of(component),
                     one.is_object() ? word_at(one, "actual-firmware") : word_of(&one));
  return versions;
}

Result<Health> health_of(const json::value& answer) {
  if (!answer.is_object()) return odd("system health");
  Health health{.status = word_at(answer, "status")};
  const auto* issues = find(answer, "issues");
  if (issues == nullptr || issues->is_null()) return health;
  TRY(const auto* rows, rows_of(*issues, "issues of system health"));
  for (const auto& [part, one] : *rows)
    health.issues.emplace(key_of(part), one.is_object() ? word_at(one, "issue") : word_of(&one));
  return health;
}

Result<std::map<std::string, std::string>> leakage_of(const json::value& answer) {
  TRY(const auto* rows, rows_of(answer, "leak sensors"));
  std::map<std::string, std::string> states;
  for (const auto& [sensor, one] : *rows)
    states.emplace(key_of(sensor),
                   lower_case(one.is_object() ? word_at(one, "state") : word_of(&one)));
  return states;
}

inventory::RackPlace place_of(const json::value& answer) {
  return {.part = "switch",
          .chassis_serial = inventory::reported_place(word_at(answer, "chassis-sn")),
          .slot = inventory::slot_of(word_at(answer, "slot-number")),
          .tray = count_at(answer, "tray-index"),
          .topology = inventory::reported_place(word_at(answer, "topology-id")),
          .source = "/nvue_v1/platform/chassis-location"};
}

Task<Result<Cluster>> read_cluster(Nvue& nvue, Deadline deadline) {
  return read(nvue, "cluster?rev=operational", cluster_of, deadline);
}

Task<Result<std::optional<App>>> read_app(Nvue& nvue, std::string name, Deadline deadline) {
  auto app = co_await read(nvue, "cluster/apps/" + path_word(name), app_of, deadline);
  if (app) co_return std::optional{*std::move(app)};
  if (app.error().code == Code::kNotFound) co_return std::optional<App>{};
  co_return std::move(app).error();
}

Task<Result<std::vector<Partition>>> read_partitions(Nvue& nvue, Deadline deadline) {
  return read(nvue, "sdn/partition?rev=operational", partitions_of, deadline);
}

Task<Result<Images>> read_images(Nvue& nvue, Deadline deadline) {
  return read(nvue, "system/image", images_of, deadline);
}

Task<Result<std::map<std::string, std::string>>> read_firmware(Nvue& nvue, Deadline deadline) {
  return read(nvue, "platform/firmware", firmware_of, deadline);
}

Task<Result<Health>> read_health(Nvue& nvue, Deadline deadline) {
  return read(nvue, "system/health", health_of, deadline);
}

Task<Result<std::map<std::string, std::string>>> read_leakage(Nvue& nvue, Deadline deadline) {
  return read(nvue, "platform/environment/leakage", leakage_of, deadline);
}

Task<Result<inventory::RackPlace>> read_place(Nvue& nvue, Deadline deadline) {
  return read(nvue, "platform/chassis-location", place_or_odd, deadline);
}

Task<Result<Platform>> read_platform(Nvue& nvue, Deadline deadline) {
  return read(nvue, "platform", platform_of, deadline);
}

std::vector<std::string> not_controlling(const Cluster& cluster, const std::optional<App>& app) {
  std::vector<std::string> why;
  const auto or_not_reported = [](const std::string& word) {
    return word.empty() ? std::string{"not reported"} : word;
  };
  if (cluster.state != "enabled") why.push_back("the cluster is " + or_not_reported(cluster.state));
  if (cluster.connection != "up")
    why.push_back("its connection to the controller is " + or_not_reported(cluster.connection));
  if (!app) {
    why.push_back("it knows no " + std::string{kController});
    return why;
  }
  if (app->status != "ok")
    why.push_back(std::string{kController} + " is " + or_not_reported(app->status) +
                  (app->reason.empty() ? "" : ": " + app->reason));
  if (app->control_plane != "CONTROL_PLANE_STATE_CONFIGURED")
    why.push_back("its control plane is " + or_not_reported(app->control_plane));
  return why;
}

}  // namespace cupel::bmc::nvos
