#include "burnin/fabric/link_repair.h"

#include <fmt/format.h>

namespace cupel::burnin {
namespace {

std::string clear_step() {
  return "Clear the counters of both ends (perfquery -R, mlxlink --pc) and look again after 125 "
         "minutes.";
}

std::string reseat_step(const LookedLink& link, Medium medium) {
  const bool copper = medium == Medium::passive_copper || medium == Medium::active_copper;
  const auto other = link.to.device.empty() ? "its other end" : to_string(link.to);
  return fmt::format("Pull the plugs at {} and at {}, {}plug them in again.", to_string(link.from),
                     other, copper ? "" : "clean connectors and fibre ends, ");
}

/// Those that replace something: transceivers first, then the fibre; a copper cable is one piece.
std::vector<std::string> replace_steps(Medium medium) {
  switch (medium) {
    case Medium::passive_copper:
    case Medium::active_copper:
      return {"Replace the cable."};
    case Medium::optical:
      return {
          "Replace the transceivers at both ends; find out in the lab which one is bad. An "
          "active optical cable is one piece: replace it.",
          "Replace the fibre."};
    case Medium::unknown:
      break;
  }
  return {"Replace the transceivers at both ends, or the cable where they are one piece.",
          "Replace the fibre."};
}

bool is_odd(LinkFault fault) {
  return fault == LinkFault::odd_firmware || fault == LinkFault::odd_cable;
}

}  // namespace

std::vector<std::string> repair_of(const LookedLink& link, const std::vector<LinkDefect>& defects,
                                   Medium medium) {
  if (defects.empty()) return {};
  const auto first = defects.front().fault;
  if (is_odd(first))
    return {first == LinkFault::odd_firmware
                ? "Update the firmware to the version of the others, and start it (mlxfwreset)."
                : "Replace the cable or transceiver by the kind of the others, where the plan has "
                  "no other."};
  std::vector<std::string> steps;
  if (first == LinkFault::temperature)
    steps.emplace_back("Check the air flow at the cage: blanks, fans, cables in the way.");
  const bool counts = first == LinkFault::flapped || first == LinkFault::errors ||
                      first == LinkFault::raw_ber || first == LinkFault::effective_ber ||
                      first == LinkFault::symbol_ber;
  if (counts) steps.push_back(clear_step());
  steps.push_back(reseat_step(link, medium));
  for (auto& step : replace_steps(medium)) steps.push_back(std::move(step));
  return steps;
}

}  // namespace cupel::burnin
