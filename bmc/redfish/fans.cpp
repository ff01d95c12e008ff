// Fans. Their speed is a sensor's.
#include <array>

#include "bmc/redfish/inventory.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

constexpr ChassisParts kFans{.resource = "Thermal",
                             .subsystem = "ThermalSubsystem",
                             .list = "Fans",
                             .what = "fans",
                             .one = "fan"};

}  // namespace

Task<void> read_fans(Survey& survey, const Machine& machine) {
  constexpr std::array kOfFans{PartKind::fan};
  survey.lists(kOfFans);
  const auto chassis = holders_of(machine, kFans);
  std::vector<std::vector<Document>> fans(chassis.size());
  const auto read = [&](Survey& piece, std::size_t at) {
    return read_list(piece, *chassis[at], kFans, fans[at]);
  };
  co_await read_beside(survey, chassis.size(), read);
  std::size_t number = 0;
  for (const auto& some : fans) {
    for (const auto& fan : some) {
      const auto mine = number++;
      if (fan.body.is_null() || is_absent(fan.body)) continue;
      Part part = part_of(PartKind::fan, "fan" + std::to_string(mine), fan);
      // Older ones call it FanName, and it says where it sits.
      for (const auto* name : {"Name", "FanName"})
        if (part.slot.empty()) part.slot = reported(fan.body, name);
      survey.add(std::move(part));
    }
  }
  if (number == 0) survey.unknown("fans", machine.system.uri, "none listed by any chassis");
}

}  // namespace cupel::bmc::redfish
