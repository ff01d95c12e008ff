// Power supplies: inline in Power (until Redfish 2020.4), or members of a PowerSubsystem.
#include <array>

#include "base/text.h"
#include "bmc/redfish/inventory.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

/// Boards, modules and cards have no power supplies of their own, though HGX lists an empty
/// PowerSubsystem for every one of its forty.
bool may_have_psus(const Document& chassis) {
  constexpr std::array<std::string_view, 6> kNever{"Component", "Module",    "Card",
                                                   "Drawer",    "Expansion", "StorageEnclosure"};
  const auto type = told(chassis.body, "ChassisType");
  return std::ranges::find(kNever, type) == kNever.end();
}

/// Where it sits: most put it into the name ("Power Supply Bay 1").
std::string bay_of(const json::value& supply) {
  if (const auto bay = number_at(supply, "Oem/Hpe/BayNumber")) return "Bay " + plain(*bay);
  return told(supply, "Name");
}

bool is_dummy(const Part& psu, const Rules& rules) {
  return !rules.dummy_psu.empty() && psu.model.starts_with(rules.dummy_psu);
}

/// A row of nothing but its own number (GIGABYTE: Name "nil") is a bay that nobody looked into.
bool says_nothing(const Part& psu) {
  return psu.model.empty() && psu.serial.empty() && psu.part_number.empty() && psu.health.empty();
}

void add_psus(Survey& survey, const Machine& machine, const std::vector<Document>& supplies,
              std::size_t& number) {
  for (const auto& supply : supplies) {
    const auto mine = number++;
    if (is_absent(supply.body)) continue;
    Part psu = part_of(PartKind::psu, "psu" + std::to_string(mine), supply);
    if (psu.part_number.empty()) psu.part_number = told(supply.body, "SparePartNumber");
    if (psu.slot.empty()) psu.slot = bay_of(supply.body);
    if (is_dummy(psu, *machine.rules)) continue;
    if (says_nothing(psu)) {
      survey.unknown("psu" + std::to_string(mine), supply.uri, "nothing told of it");
      continue;
    }
    survey.add(std::move(psu));
  }
}

Task<std::vector<Document>> inline_supplies(Survey& survey, const Document& chassis) {
  std::vector<Document> supplies;
  const auto uri = link_at(chassis.body, "Power");
  if (uri.empty()) co_return supplies;
  const auto power = co_await survey.read(uri, "PSUs");
  if (!power) co_return supplies;
  const auto* list = find(power->body, "PowerSupplies");
  if (list == nullptr || !list->is_array()) co_return supplies;
  for (const auto& one : list->get_array()) {
    if (!one.is_object()) continue;
    const auto number = std::to_string(supplies.size());
    supplies.push_back(
        {text_at(one, "@odata.id").value_or(uri + "#/PowerSupplies/" + number), one});
  }
  co_return supplies;
}

Task<std::vector<Document>> subsystem_supplies(Survey& survey, const Document& chassis) {
  const auto uri = link_at(chassis.body, "PowerSubsystem");
  if (uri.empty()) co_return std::vector<Document>{};
  const auto subsystem = co_await survey.read(uri, "PSUs");
  if (!subsystem) co_return std::vector<Document>{};
  co_return co_await survey.members(link_at(subsystem->body, "PowerSupplies"), "PSU");
}

}  // namespace

Task<void> read_psus(Survey& survey, const Machine& machine, const std::vector<Document>& chassis) {
  std::size_t number = 0;
  for (const auto& one : chassis) {
    if (!may_have_psus(one)) continue;
    auto supplies = co_await inline_supplies(survey, one);
    if (supplies.empty()) supplies = co_await subsystem_supplies(survey, one);
    add_psus(survey, machine, supplies, number);
  }
  if (number == 0) survey.unknown("PSUs", machine.system.uri, "none listed by any chassis");
}

}  // namespace cupel::bmc::redfish
