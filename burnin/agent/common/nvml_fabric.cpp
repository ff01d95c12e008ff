#include "burnin/agent/common/nvml_fabric.h"

#include <algorithm>
#include <cstdio>

namespace cupel::agent::nvml {
namespace {

/// Two bits: 0 not supported, 1 true, 2 false.
std::optional<bool> fact_at(unsigned mask, unsigned shift) {
  const unsigned reported = mask >> shift & 3u;
  return reported == 1 || reported == 2 ? std::optional{reported == 1} : std::nullopt;
}

constexpr std::array<std::string_view, 8> kConfigurations{"",
                                                          "none",
                                                          "wrong system GUID",
                                                          "wrong chassis serial number",
                                                          "in no partition",
                                                          "too few NVLinks",
                                                          "incompatible GPU firmware",
                                                          "invalid location"};

template <class Info>
Fabric common_of(const Info& reported) {
  Fabric fabric{.status = reported.status, .clique = reported.clique, .state = reported.state};
  std::ranges::copy(reported.cluster, fabric.cluster.begin());
  return fabric;
}

}  // namespace

Fabric fabric_of(const FabricInfo& reported) { return common_of(reported); }

Fabric fabric_of(const FabricInfoV& reported) {
  auto fabric = common_of(reported);
  fabric.health = reported.health;
  return fabric;
}

std::string uuid_text(const std::array<unsigned char, 16>& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

FabricHealth fabric_health(unsigned mask) {
  const unsigned configuration = mask >> 8 & 15u;
  return {.degraded_bandwidth = fact_at(mask, 0),
          .route_recovery = fact_at(mask, 2),
          .route_unhealthy = fact_at(mask, 4),
          .access_timeout_recovery = fact_at(mask, 6),
          .wrong_configuration = configuration < kConfigurations.size()
                                     ? kConfigurations[configuration]
                                     : "of a kind that is not known"};
}

bool is_of_rack(std::string_view name) { return name.contains("GB200") || name.contains("GB300"); }

std::vector<std::string> fabric_faults(const Fabric& fabric, bool of_rack) {
  std::vector<std::string> faults;
  if (of_rack && fabric.clique == 0)
    faults.emplace_back("it is in no partition of its NVLink domain (clique 0)");
  if (of_rack && !fabric.has_cluster())
    faults.emplace_back("it is in no NVLink domain (cluster UUID of zeros)");
  const auto health = fabric_health(fabric.health.value_or(0));
  const auto note = [&](const std::optional<bool>& fact, const char* words) {
    if (fact.value_or(false)) faults.emplace_back(words);
  };
  note(health.degraded_bandwidth, "degraded bandwidth");
  note(health.route_recovery, "route recovery in progress");
  note(health.route_unhealthy, "route unhealthy");
  note(health.access_timeout_recovery, "access timeout recovery");
  if (!health.wrong_configuration.empty() && health.wrong_configuration != "none")
    faults.push_back("incorrect configuration: " + std::string{health.wrong_configuration});
  return faults;
}

}  // namespace cupel::agent::nvml
