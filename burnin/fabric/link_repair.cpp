#include "burnin/fabric/link_repair.h"

#include <fmt/format.h>

#include "base/enum_words.h"

namespace cupel::burnin {
namespace {

RepairStep clear_step() {
  return {Repair::clear,
          "Clear the counters of both ends (perfquery -R, mlxlink --pc) and look again after 125 "
          "minutes."};
}

RepairStep reseat_step(const LookedLink& link, Medium medium) {
  // Nothing of a cable in one piece can be cleaned.
  const bool copper = medium == Medium::passive_copper || medium == Medium::active_copper ||
                      medium == Medium::active;
  const auto other = link.to.device.empty() ? "its other end" : to_string(link.to);
  return {Repair::reseat,
          fmt::format("Pull the plugs at {} and at {}, {}plug them in again.", to_string(link.from),
                      other, copper ? "" : "clean connectors and fibre ends, ")};
}

/// Those that replace something: transceivers first, then the fibre; a copper cable is one piece.
std::vector<RepairStep> replace_steps(Medium medium) {
  const RepairStep fibre{Repair::fibre, "Replace the fibre."};
  switch (medium) {
    case Medium::passive_copper:
    case Medium::active_copper:
    case Medium::active:
      return {{Repair::cable, "Replace the cable."}};
    case Medium::optical:
      return {{Repair::transceivers,
               "Replace the transceivers at both ends; find out in the lab which one is bad. An "
               "active optical cable is one piece: replace it."},
              fibre};
    case Medium::unknown:
      break;
  }
  return {{Repair::transceivers,
           "Replace the transceivers at both ends, or the cable where they are one piece."},
          fibre};
}

RepairStep odd_step(LinkFault fault) {
  if (fault == LinkFault::odd_firmware)
    return {Repair::firmware,
            "Update the firmware to the version of the others, and start it (mlxfwreset)."};
  return {Repair::cable,
          "Replace the cable or transceiver by the kind of the others, where the plan has no "
          "other."};
}

bool is_unplanned(LinkFault fault) {
  return fault == LinkFault::wrong_type || fault == LinkFault::wrong_length ||
         fault == LinkFault::wrong_serial;
}

RepairStep unplanned_step() {
  return {Repair::cable, "Put the planned cable or transceiver there, or correct the plan."};
}

bool is_odd(LinkFault fault) {
  return fault == LinkFault::odd_firmware || fault == LinkFault::odd_cable;
}

}  // namespace

std::string_view to_string(Repair repair) { return enum_word<'-'>(repair); }

std::optional<Repair> repair_of(std::string_view name) { return enum_of<Repair, '-'>(name); }

std::vector<RepairStep> steps_of(const LookedLink& link, const std::vector<LinkDefect>& defects,
                                 Medium medium) {
  if (defects.empty()) return {};
  const auto first = defects.front().fault;
  if (is_odd(first)) return {odd_step(first)};
  if (is_unplanned(first)) return {unplanned_step()};
  std::vector<RepairStep> steps;
  if (first == LinkFault::temperature)
    steps.push_back(
        {Repair::air_flow, "Check the air flow at the cage: blanks, fans, cables in the way."});
  const bool counts = first == LinkFault::flapped || first == LinkFault::errors ||
                      first == LinkFault::raw_ber || first == LinkFault::effective_ber ||
                      first == LinkFault::symbol_ber;
  if (counts) steps.push_back(clear_step());
  steps.push_back(reseat_step(link, medium));
  for (auto& step : replace_steps(medium)) steps.push_back(std::move(step));
  return steps;
}

}  // namespace cupel::burnin
