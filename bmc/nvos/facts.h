#pragma once
// What an NVLink switch says of itself through NVUE: its cluster and applications, partitions,
// images, firmware, health, place. A row for each answer; what was not reported stays empty.
// Source: NVOS User Manual; NVIDIA's rack manager and infra-controller on what switches answer.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bmc/nvos/nvue.h"
#include "inventory/rack_place.h"

namespace cupel::bmc::nvos {

/// The name of the application that controls an NVLink domain.
inline constexpr std::string_view kController = "nmx-controller";
/// The partition of all GPUs that are in no other one.
inline constexpr std::string_view kDefaultPartition = "32766";
/// Rows of one answer that are read; what is over is an error, never left out.
inline constexpr std::size_t kMostRows = 4096;

struct Cluster {
  std::string state{};       // "enabled", "disabled"
  std::string connection{};  // to the controller: "up", "down", "n/a"
};
struct App {
  std::string status{};  // "ok", "not ok", "stopped"
  std::string reason{};
  std::string control_plane{};  // "CONTROL_PLANE_STATE_CONFIGURED"
  std::string manager{};        // whether its port is open: "enabled", "active", "disabled"
  std::string version{};
};
struct Partition {
  std::string id{}, name{};
  std::optional<int> gpus{};
  std::string health{};  // "healthy", "degraded", "unhealthy"
  std::string resiliency{}, type{};
};
struct Images {
  std::string current{}, next{};  // "partition1"
  std::string partition1{}, partition2{};
  /// The build that runs; empty: not reported.
  std::string running() const;
};
struct Health {
  std::string status{};                         // "OK", "Not OK"
  std::map<std::string, std::string> issues{};  // by part: "LEAKAGE-1": "detected leakage"
};
struct Platform {
  std::string product{}, serial{}, part_number{};
};

// Of the answers alone. Errors: kMalformed: not of that shape, or more than kMostRows.
Result<Cluster> cluster_of(const json::value& answer);
Result<App> app_of(const json::value& answer);
Result<std::vector<Partition>> partitions_of(const json::value& answer);
Result<Images> images_of(const json::value& answer);
Result<std::map<std::string, std::string>> firmware_of(const json::value& answer);
Result<Health> health_of(const json::value& answer);
inventory::RackPlace place_of(const json::value& answer);

/// Leak sensors by their names, with their states. "ok" is the good one.
Result<std::map<std::string, std::string>> leakage_of(const json::value& answer);

// Each asks once. Errors: as Nvue::get; kMalformed.
Task<Result<Cluster>> read_cluster(Nvue& nvue, Deadline deadline);
/// Nothing where the switch knows no such name: some versions do while the cluster is disabled.
Task<Result<std::optional<App>>> read_app(Nvue& nvue, std::string name, Deadline deadline);
Task<Result<std::vector<Partition>>> read_partitions(Nvue& nvue, Deadline deadline);
Task<Result<Images>> read_images(Nvue& nvue, Deadline deadline);
Task<Result<std::map<std::string, std::string>>> read_firmware(Nvue& nvue, Deadline deadline);
Task<Result<Health>> read_health(Nvue& nvue, Deadline deadline);
Task<Result<std::map<std::string, std::string>>> read_leakage(Nvue& nvue, Deadline deadline);
Task<Result<inventory::RackPlace>> read_place(Nvue& nvue, Deadline deadline);
Task<Result<Platform>> read_platform(Nvue& nvue, Deadline deadline);

/// What keeps this switch's controller from being the domain's; empty: it controls. A status of ok
/// alone is not enough: a missing chassis mapping comes with ok.
std::vector<std::string> not_controlling(const Cluster& cluster, const std::optional<App>& app);

}  // namespace cupel::bmc::nvos
