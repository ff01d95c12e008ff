#include "burnin/fabric/swap_choice.h"

#include <fmt/format.h>

#include <map>

namespace cupel::burnin::fabric {
namespace {

using inventory::Cable;
using inventory::CableEnd;

/// The suspected parts of one cable: its ends are the lower (HCA, leaf under a spine) and the
/// upper.
struct Suspects {
  bool lower = false, cable = false, upper = false;
};

enum class Side { lower, upper };

using ByCable = std::map<std::size_t, Suspects>;  // by its place in the plan

ByCable by_cable(const inventory::Fabric& plan, std::span<const LinkPart> suspected) {
  ByCable found;
  for (std::size_t i = 0; i < plan.cables.size(); ++i)
    for (const auto& part : suspected) {
      const auto& cable = plan.cables[i];
      const bool port = part.kind == LinkPart::Kind::port;
      if (part.at == cable.from) (port ? found[i].lower : found[i].cable) = true;
      if (port && part.at == cable.to) found[i].upper = true;
    }
  return found;
}

/// Where to exchange, by what is suspected of one link alone: nothing where it is one part.
std::optional<Side> side_of(const Suspects& parts, bool access) {
  if (access) {
    if (parts.upper && (parts.lower || parts.cable)) return Side::upper;
    return parts.lower && parts.cable ? std::optional{Side::lower} : std::nullopt;
  }
  if (parts.lower && (parts.cable || parts.upper)) return Side::lower;
  return parts.cable && parts.upper ? std::optional{Side::upper} : std::nullopt;
}

/// Of several links that carry the same flows: an exchange at the upper end leads the lower port
/// and the cable of one of them to other flows.
std::optional<std::size_t> first_to_lead_away(const ByCable& found) {
  for (const auto& [at, parts] : found)
    if (parts.lower || parts.cable) return at;
  return std::nullopt;
}

bool may_exchange(const Cable& one, const Cable& other, Side side) {
  if (one.is_access() != other.is_access() || one == other) return false;
  if (one.is_access())
    return one.to.device == other.to.device &&
           (side == Side::upper ||
            (one.from.hca == other.from.hca && one.from.device != other.from.device));
  return one.from.device == other.from.device && one.to.device != other.to.device;
}

/// The nearest in the plan, so that a person finds it beside the other.
const Cable* partner_of(const inventory::Fabric& plan, std::size_t at, Side side,
                        const std::set<CableEnd>& slow) {
  const auto distance = [at](std::size_t other) { return other > at ? other - at : at - other; };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < plan.cables.size(); ++i) {
    const auto& other = plan.cables[i];
    if (!may_exchange(plan.cables[at], other, side)) continue;
    if (slow.contains(other.from) || slow.contains(other.to)) continue;
    if (!best || distance(i) < distance(*best)) best = i;
  }
  return best ? &plan.cables[*best] : nullptr;
}

std::string name_of(const CableEnd& end) {
  if (end.at_switch()) return fmt::format("{}/{}", end.device, end.port);
  return end.port == 1 ? fmt::format("{}/{}", end.device, end.hca)
                       : fmt::format("{}/{}/{}", end.device, end.hca, end.port);
}

}  // namespace

std::optional<Exchange> deciding_exchange(const inventory::Fabric& plan,
                                          std::span<const LinkPart> suspected,
                                          const std::set<CableEnd>& slow) {
  const auto found = by_cable(plan, suspected);
  if (found.empty()) return std::nullopt;
  const bool several = found.size() > 1;
  const auto at = several ? first_to_lead_away(found) : std::optional{found.begin()->first};
  if (!at) return std::nullopt;
  const auto& cable = plan.cables[*at];
  const auto side =
      several ? std::optional{Side::upper} : side_of(found.begin()->second, cable.is_access());
  if (!side) return std::nullopt;
  const auto* other = partner_of(plan, *at, *side, slow);
  if (other == nullptr) return std::nullopt;
  return *side == Side::upper ? Exchange{cable.to, other->to} : Exchange{cable.from, other->from};
}

std::string to_string(const Exchange& exchange) {
  return fmt::format("{},{}", name_of(exchange.one), name_of(exchange.other));
}

}  // namespace cupel::burnin::fabric
