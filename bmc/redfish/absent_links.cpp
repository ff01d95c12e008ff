// Links that a chassis ought to have: what it does not list would otherwise go without a word.
#include <array>
#include <map>

#include "bmc/redfish/inventory.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::PartKind;

constexpr std::array<std::string_view, 8> kLinks{
    "NetworkAdapters", "PCIeDevices",    "PCIeSlots", "Thermal",
    "Power",           "PowerSubsystem", "Assembly",  "ThermalSubsystem"};
constexpr std::size_t kLeastSisters = 3;

bool has_link(const Document& chassis, std::string_view name) {
  return !link_at(chassis.body, name).empty();
}

/// "HGX_GPU_SXM_5" and "HGX_GPU_SXM_8" are sisters: "HGX_GPU_SXM_#". Empty for a mere number, which
/// says nothing of what it numbers.
std::string family(const Document& chassis) {
  std::string stem;
  bool letters = false;
  for (const char c : last_name(chassis.uri)) {
    const bool digit = c >= '0' && c <= '9';
    letters = letters || (!digit && c != '_' && c != '.');
    if (digit && stem.ends_with('#')) continue;
    stem += digit ? '#' : c;
  }
  return letters && stem.find('#') != stem.npos ? stem : std::string{};
}

/// One that lacks what all of its sisters have.
void note_odd_ones(Survey& survey, const std::vector<const Document*>& sisters) {
  if (sisters.size() < kLeastSisters) return;
  for (const auto name : kLinks) {
    const Document* odd = nullptr;
    std::size_t without = 0;
    for (const auto* one : sisters) {
      if (has_link(*one, name)) continue;
      odd = one;
      ++without;
    }
    if (without == 1)
      survey.unknown(std::string{name}, odd->uri, "not linked to, as it is by all chassis like it");
  }
}

/// What every machine has, and none of its chassis lists: each of them may be the one that forgot.
struct Usual {
  std::string_view fact;
  std::array<PartKind, 3> kinds;
  std::array<std::string_view, 2> links;
};
constexpr std::array kUsual{
    Usual{"fans", {PartKind::fan, PartKind::fan, PartKind::fan}, {"Thermal", "ThermalSubsystem"}},
    Usual{"network adapters",
          {PartKind::nic, PartKind::hca, PartKind::dpu},
          {"NetworkAdapters", "NetworkAdapters"}}};

void note_missing(Survey& survey, const Machine& machine, const Usual& usual) {
  const auto is_one = [&](const inventory::Part& part) {
    return std::ranges::find(usual.kinds, part.kind) != usual.kinds.end();
  };
  if (std::ranges::any_of(survey.seen().parts, is_one)) return;
  for (const auto& chassis : *machine.chassis) {
    if (chassis.body.is_null() || is_module(chassis)) continue;
    const bool linked = has_link(chassis, usual.links[0]) || has_link(chassis, usual.links[1]);
    if (!linked) survey.unknown(std::string{usual.fact}, chassis.uri, "linked to by no chassis");
  }
}

}  // namespace

void note_absent_links(Survey& survey, const Machine& machine) {
  std::map<std::string, std::vector<const Document*>> families;
  for (const auto& chassis : *machine.chassis) {
    const auto name = chassis.body.is_null() ? std::string{} : family(chassis);
    if (!name.empty()) families[name].push_back(&chassis);
  }
  for (const auto& [name, sisters] : families) note_odd_ones(survey, sisters);
  for (const auto& usual : kUsual) note_missing(survey, machine, usual);
}

}  // namespace cupel::bmc::redfish
