#include "orchestrator/firmware/firmware_order.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "inventory/baseline.h"
#include "inventory/profile.h"
#include "inventory/versions.h"

namespace cupel::firmware {
namespace {

using inventory::ExpectedFirmware;

constexpr int kLast = 3, kOnNode = 4;

/// What vendors write first, by what they call it. Source: NVIDIA DGX H100/H200 firmware update
/// guide; Dell and HPE say the same of their BMC and BIOS.
constexpr auto kRanks = std::to_array<std::pair<std::string_view, int>>({
    {"bmc", 0},
    {"bmc-*", 0},
    {"bmc_*", 0},
    {"hostbmc*", 0},
    {"fw_bmc*", 0},
    {"*idrac.embedded*", 0},
    {"ilo*", 0},
    {"xcc*", 0},
    {"hgx*", 1},
    {"bios", 2},
    {"bios.*", 2},
    {"hostbios*", 2},
    {"uefi*", 2},
    {"*bios.setup*", 2},
    {"system rom", 2},
    {"system-rom", 2},
});

int rank_of(const ExpectedFirmware& expected) {
  if (expected.is_written_on_node()) return kOnNode;
  int rank = kLast;
  for (const auto& [pattern, of] : kRanks) {
    const auto fits = [&](const std::string& name) {
      return inventory::fits_pattern(pattern, name);
    };
    if (fits(expected.component) || std::ranges::any_of(expected.ids, fits))
      rank = std::min(rank, of);
  }
  return rank;
}

}  // namespace

std::vector<std::size_t> update_order(const inventory::Profile& profile) {
  const auto& all = profile.firmware;
  std::vector<std::pair<int, std::size_t>> waiting;  // rank first, then the profile's order
  for (std::size_t i = 0; i < all.size(); ++i) waiting.emplace_back(rank_of(all[i]), i);
  std::ranges::sort(waiting);
  const auto is_free = [&](const std::pair<int, std::size_t>& each) {
    return std::ranges::none_of(waiting, [&](const auto& other) {
      return std::ranges::find(all[each.second].after, all[other.second].component) !=
             all[each.second].after.end();
    });
  };
  std::vector<std::size_t> order;
  for (auto next = std::ranges::find_if(waiting, is_free); next != waiting.end();
       next = std::ranges::find_if(waiting, is_free)) {
    order.push_back(next->second);
    waiting.erase(next);
  }
  for (const auto& [rank, place] : waiting) order.push_back(place);
  return order;
}

}  // namespace cupel::firmware
