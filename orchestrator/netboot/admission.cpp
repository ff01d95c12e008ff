#include "orchestrator/netboot/admission.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace cupel::netboot {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

struct Rack {
  double nodes = 0, left = 0, cap = kNoLimit;  // bytes left; bytes per second
};

/// Max-min fair by nodes: the share of a node that no rack's cap holds back.
double fair_share(const std::vector<Rack>& racks, double uplink) {
  std::vector<Rack> open;
  for (const auto& rack : racks)
    if (rack.left > 0) open.push_back(rack);
  std::ranges::sort(open, {}, [](const Rack& rack) { return rack.cap / rack.nodes; });
  double nodes = 0;
  for (const auto& rack : open) nodes += rack.nodes;
  for (const auto& rack : open) {
    if (rack.cap / rack.nodes >= uplink / nodes) break;
    uplink -= rack.cap;
    nodes -= rack.nodes;
  }
  return nodes > 0 ? uplink / nodes : kNoLimit;
}

}  // namespace

FetchForecast forecast_fetch(std::span<const int> nodes_of_racks, std::uint64_t bytes,
                             double uplink, double per_rack, double per_node) {
  const auto limit = [](double rate) { return rate > 0 ? rate : kNoLimit; };
  std::vector<Rack> racks;
  for (const int nodes : nodes_of_racks)
    if (nodes > 0)
      racks.push_back({static_cast<double>(nodes), nodes * static_cast<double>(bytes),
                       std::min(limit(per_rack), nodes * limit(per_node))});
  FetchForecast forecast;
  double now = 0;
  // Each round ends when a rack is through.
  for (std::size_t round = 0; round < racks.size(); ++round) {
    const double share = fair_share(racks, limit(uplink));
    const auto rate = [&](const Rack& rack) { return std::min(rack.cap, share * rack.nodes); };
    double soonest = kNoLimit;
    for (const auto& rack : racks)
      if (rack.left > 0) soonest = std::min(soonest, rack.left / rate(rack));
    if (soonest == kNoLimit) break;
    now += soonest;
    if (round == 0) forecast.first_rack = std::chrono::duration<double>{now};
    for (auto& rack : racks) {
      const bool through = rack.left > 0 && rack.left / rate(rack) <= soonest * (1 + 1e-9);
      rack.left = through ? 0 : std::max(0.0, rack.left - rate(rack) * soonest);
    }
  }
  forecast.last_node = std::chrono::duration<double>{now};
  return forecast;
}

}  // namespace cupel::netboot
