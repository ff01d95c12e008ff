#include "burnin/criteria/light_check.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <string_view>

#include "inventory/criterion.h"
#include "inventory/part_kind.h"
#include "inventory/profile.h"

namespace cupel::burnin {
namespace {

namespace json = boost::json;
using inventory::Criterion;
using inventory::PartKind;
using inventory::Profile;

constexpr double kLeastFree = 2;  // per cent of / and /tmp: less, and programs begin to fail

/// The strictest lower limit of a measure, over all of its parts.
std::optional<double> least_of(const Profile& profile, std::string_view measure) {
  std::optional<double> least;
  for (const auto& each : profile.criteria)
    if (each.measure == measure && each.at_least)
      least = std::max(least.value_or(*each.at_least), *each.at_least);
  return least;
}

int count_of(const Profile& profile, PartKind kind) {
  int count = 0;
  for (const auto& each : profile.parts)
    if (each.kind == kind) count += each.count;
  return count;
}

/// Ports with the rate that each must have, by the device.
json::array ports_of(const Profile& profile) {
  std::map<std::string, double> rates;
  for (const auto& each : profile.criteria) {
    if (each.measure != "ib.port.rate" || !each.at_least) continue;
    for (const auto& part : each.parts) {
      const auto device = part.substr(0, part.find('/'));
      if (device.empty() || device.contains('*')) continue;
      auto& rate = rates[device];
      rate = std::max(rate, *each.at_least);
    }
  }
  json::array ports;
  for (const auto& [name, gbits] : rates) ports.push_back({{"name", name}, {"gbits", gbits}});
  return ports;
}

}  // namespace

json::object light_check_of(const Profile& profile) {
  json::object check{{"made_of", profile.name}};
  check["gpus"] = count_of(profile, PartKind::gpu);
  if (const auto count = count_of(profile, PartKind::hca); count > 0) check["hcas"] = count;
  if (const auto count = count_of(profile, PartKind::nvme); count > 0) check["nvme"] = count;
  const auto number = [&](std::string_view key, std::string_view measure) {
    if (const auto least = least_of(profile, measure)) check[key] = *least;
  };
  number("memory_gib", "memory.total");
  number("gpu_memory_gib", "gpu.memory.total");
  number("gpu_pcie_width", "gpu.pcie.width_max");
  number("nvlinks", "nvlink.active");
  const auto is_judged = [&](std::string_view measure) {
    return std::ranges::find(profile.criteria, measure, &Criterion::measure) !=
           profile.criteria.end();
  };
  if (is_judged("gpu.ecc.mode")) check["ecc"] = true;
  if (is_judged("fabricmanager.active")) check["fabric_manager"] = true;
  if (is_judged("time.synchronised")) check["time_synchronised"] = true;
  if (auto ports = ports_of(profile); !ports.empty()) check["ports"] = std::move(ports);
  check["free"] = {{"/", kLeastFree}, {"/tmp", kLeastFree}};
  return check;
}

}  // namespace cupel::burnin
