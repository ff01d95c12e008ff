// Power supplies.
#include <array>

#include "base/text.h"
#include "bmc/redfish/inventory.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

/// Where it sits: most put it into the name ("Power Supply Bay 1").
std::string bay_of(const json::value& supply) {
  if (const auto bay = number_at(supply, "Oem/Hpe/BayNumber")) return "Bay " + plain(*bay);
  return reported(supply, "Name");
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
    if (supply.body.is_null() || is_absent(supply.body)) continue;
    Part psu = part_of(PartKind::psu, "psu" + std::to_string(mine), supply);
    if (psu.part_number.empty()) psu.part_number = reported(supply.body, "SparePartNumber");
    if (psu.slot.empty()) psu.slot = bay_of(supply.body);
    if (is_dummy(psu, *machine.rules)) continue;
    if (says_nothing(psu)) {
      survey.not_whole(supply.uri, "it reports nothing but its name");
      survey.unknown("psu" + std::to_string(mine), supply.uri, "not reported");
      continue;
    }
    survey.add(std::move(psu));
  }
}

constexpr ChassisParts kSupplies{.resource = "Power",
                                 .subsystem = "PowerSubsystem",
                                 .list = "PowerSupplies",
                                 .what = "PSUs",
                                 .one = "PSU"};

}  // namespace

Task<void> read_psus(Survey& survey, const Machine& machine) {
  constexpr std::array kPsus{PartKind::psu};
  survey.lists(kPsus);
  const auto chassis = holders_of(machine, kSupplies);
  std::vector<std::vector<Document>> supplies(chassis.size());
  const auto read = [&](Survey& piece, std::size_t at) {
    return read_list(piece, *chassis[at], kSupplies, supplies[at]);
  };
  std::size_t number = 0;
  const auto add = [&](std::size_t at) { add_psus(survey, machine, supplies[at], number); };
  co_await read_beside(survey, chassis.size(), read, add);
  if (number == 0) survey.unknown("PSUs", machine.system.uri, "none listed by any chassis");
}

}  // namespace cupel::bmc::redfish
