#pragma once
// Links that are unlike the others of their kind: width, speed, firmware, cable. Pure.
#include <string>
#include <vector>

#include "burnin/fabric/link_health.h"

namespace cupel::burnin {

struct OddLink {
  std::size_t link = 0;  // index in LinkLook::links
  LinkDefect defect{};
};

/// Links of one HCA name and DeviceID are of a kind (mlx5_3 of all nodes), and those between
/// switches; transceivers and cables of one type at one side of them. A value is odd where at least
/// four others of its kind, and three of four, have another one; a wider or faster link is not, and
/// neither is another length of cable. Firmware is
/// compared among HCAs (switches) whose version begins with the same number, and among transceivers
/// of one part number.
std::vector<OddLink> odd_links(const LinkLook& look);

}  // namespace cupel::burnin
