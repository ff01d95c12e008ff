// NVSwitches. PCIe switches and retimers are no parts that somebody would count.
#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

bool is_nvswitch(std::string_view name) {
  return lower_case(name).find("nvswitch") != std::string::npos;
}

bool names_nvlink(std::string_view name) {
  return lower_case(name).find("nvlink") != std::string::npos;
}

/// The number at the end of a name: "NVSwitch_3".
std::string number_in(std::string_view name) {
  const auto digits = name.find_last_not_of("0123456789");
  return std::string{digits == name.npos ? name : name.substr(digits + 1)};
}

/// Those that the BMC lists under its NVLink fabrics (DSP0268, Fabric.FabricType). Where it stands
/// for several machines, nothing says whose a fabric is.
Task<std::vector<std::string>> switches_of_fabrics(Survey& survey, const Machine& machine) {
  constexpr std::array<std::string_view, 1> kNotNvLink{"PCIe"};
  std::vector<std::string> uris;
  const auto fabrics = link_at(machine.root, "Fabrics");
  if (fabrics.empty() || !machine.others.empty()) co_return uris;
  for (const auto& fabric : co_await survey.members(fabrics, "fabric", kNotNvLink)) {
    const auto type = lower_case(reported(fabric.body, "FabricType"));
    if (type != "nvlink" && !(type.empty() && names_nvlink(last_name(fabric.uri)))) continue;
    const auto switches = survey.link(fabric, "Switches");
    if (switches.empty()) continue;
    std::ranges::move(co_await survey.links(switches, "NVSwitches"), std::back_inserter(uris));
  }
  co_return uris;
}

}  // namespace

Task<void> read_switches(Survey& survey, const Machine& machine, PcieClaims& claims) {
  constexpr std::array kSwitches{PartKind::switch_chip};
  survey.lists(kSwitches);
  std::vector<std::string> uris;
  for (const auto& chassis : *machine.chassis)
    for (auto& uri : links_at(chassis.body, "Links/Switches"))
      if (is_nvswitch(last_name(uri)) && std::ranges::find(uris, uri) == uris.end())
        uris.push_back(std::move(uri));
  if (uris.empty()) uris = co_await switches_of_fabrics(survey, machine);
  std::ranges::stable_sort(uris, natural_less,
                           [](const std::string& uri) { return last_name(uri); });
  const auto switches = co_await survey.read_all(std::move(uris), "switch");
  std::size_t number = 0;
  for (const auto& one : switches) {
    // Its own number where it has one: a lost neighbour must not rename it.
    auto name = number_in(last_name(one.uri));
    if (name.empty()) name = std::to_string(number);
    ++number;
    if (one.body.is_null() || is_absent(one.body)) continue;
    Part part = part_of(PartKind::switch_chip, "nvswitch" + name, one);
    claims.claim(survey.link(one, "Links/PCIeDevice"), part.source);
    survey.add(std::move(part));
  }
}

void add_switches_by_firmware(Survey& survey) {
  const auto& parts = survey.seen().parts;
  const auto is_switch = [](const Part& part) { return part.kind == PartKind::switch_chip; };
  if (std::ranges::any_of(parts, is_switch)) return;
  std::vector<Part> found;
  for (const auto& part : parts) {
    const bool own =
        part.kind == PartKind::firmware && part.name.find("FW_NVSwitch_") != std::string::npos;
    if (!own) continue;
    Part chip{.kind = PartKind::switch_chip,
              .name = "nvswitch" + number_in(part.name),
              .firmware = part.firmware,
              .source = part.source};
    found.push_back(std::move(chip));
  }
  for (auto& chip : found) survey.add(std::move(chip));
}

}  // namespace cupel::bmc::redfish
