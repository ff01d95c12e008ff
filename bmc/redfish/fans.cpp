// Fans: inline in Thermal (until Redfish 2020.4), or members of a ThermalSubsystem. Their speed is
// a sensor's.
#include "bmc/redfish/inventory.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

Task<std::vector<Document>> inline_fans(Survey& survey, const Document& chassis) {
  const auto uri = survey.link(chassis, "Thermal");
  if (uri.empty()) co_return std::vector<Document>{};
  const auto thermal = co_await survey.read(uri, "fans");
  if (!thermal) co_return std::vector<Document>{};
  co_return rows_of(survey, *thermal, "Fans", "fans");
}

Task<std::vector<Document>> subsystem_fans(Survey& survey, const Document& chassis) {
  const auto uri = survey.link(chassis, "ThermalSubsystem");
  if (uri.empty()) co_return std::vector<Document>{};
  const auto subsystem = co_await survey.read(uri, "fans");
  if (!subsystem) co_return std::vector<Document>{};
  const auto collection = link_at(subsystem->body, "Fans");
  if (collection.empty()) survey.unknown("fans", uri, "lists no Fans");
  co_return co_await survey.members(collection, "fan");
}

Task<void> fans_of(Survey& survey, const Document& chassis, std::vector<Document>& fans) {
  if (chassis.body.is_null() || is_module(chassis)) co_return;
  fans = co_await inline_fans(survey, chassis);
  if (fans.empty()) fans = co_await subsystem_fans(survey, chassis);
}

}  // namespace

Task<void> read_fans(Survey& survey, const Machine& machine) {
  const auto& chassis = *machine.chassis;
  std::vector<std::vector<Document>> fans(chassis.size());
  const auto read = [&](Survey& piece, std::size_t at) {
    return fans_of(piece, chassis[at], fans[at]);
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
        if (part.slot.empty()) part.slot = told(fan.body, name);
      survey.add(std::move(part));
    }
  }
  if (number == 0) survey.unknown("fans", machine.system.uri, "none listed by any chassis");
}

}  // namespace cupel::bmc::redfish
