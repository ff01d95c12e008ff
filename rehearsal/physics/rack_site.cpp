#include "rehearsal/physics/rack_site.h"

#include <algorithm>
#include <cmath>

#include "inventory/model.h"
#include "inventory/power_node.h"
#include "rehearsal/physics/random.h"

namespace cupel::rehearsal {
namespace {

constexpr double kColdAisle = 21.5;    // Celsius
constexpr double kStratified = 3;      // warmer at the top
constexpr double kRecirculated = 3.5;  // warmer where the rack's own exhaust comes round
constexpr double kBottom = 0.4;        // of which the bottom gets that share
constexpr double kSpread = 0.25;

}  // namespace

FeedPlan feed_plan(const inventory::Inventory& site) {
  FeedPlan plan;
  for (const auto& level : site.power)
    if (level.kind == inventory::PowerNode::Kind::breaker)
      plan.breakers.push_back({level.name, level.watts});
  for (const auto& node : site.nodes) plan.feeds[node.name] = node.feeds;
  return plan;
}

RackSite::RackSite(asio::any_io_executor executor, const Clock& clock,
                   const inventory::Inventory& site, std::uint64_t seed, bool adaptive_routing,
                   SpreadShape spread)
    : clock_{clock},
      seed_{seed},
      adaptive_routing_{adaptive_routing},
      spread_{spread},
      timer_{executor, clock},
      feeds_{feed_plan(site)},
      cords_{site} {
  if (site.fabric) planned_ = std::make_shared<const inventory::Fabric>(site.fabric->fabric);
  std::map<std::string, int> units;
  for (const auto& rack : site.racks) units[rack.name] = rack.units;
  for (const auto& node : site.nodes) {
    Place place{.rack = node.rack};
    const auto found = units.find(node.rack);
    if (node.unit > 0 && found != units.end() && found->second > 1)
      place.height = std::clamp((node.unit - 1.0) / (found->second - 1), 0.0, 1.0);
    places_[node.name] = place;
  }
}

RackSite::~RackSite() {
  for (auto& [name, machine] : machines_) machine->physics().on_draw = nullptr;
}

void RackSite::join(const std::vector<Machine*>& machines) {
  FabricPlan plan{.adaptive = adaptive_routing_, .planned = planned_, .spread = spread_};
  for (auto* machine : machines)
    plan.nodes.push_back(fabric_node(machine->hardware(), machine->profile()));
  fabric_ = std::make_shared<Fabric>(std::move(plan), seed_);
  for (auto* machine : machines) {
    machine->join(fabric_);
    const auto place = places_.find(machine->name());
    if (place == places_.end()) continue;
    machines_[machine->name()] = machine;
    auto& rack = racks_[place->second.rack];
    rack.machines.push_back(machine);
    rack.most_watts += std::max(machine->hardware().loaded_watts, NodeModel::kStandbyWatts);
  }
  for (auto& [name, machine] : machines_) {
    machine->physics().on_draw = [this, one = machine] { drawn(*one); };
    feeds_.draw(name, machine->physics().settled_watts(), clock_.elapsed());
    plug(*machine);
  }
  for (auto& [name, rack] : racks_) blow(rack);
  watch();
}

void RackSite::drawn(Machine& machine) {
  plug(machine);  // a fault may have come, or gone
  const double watts = feeds_.powered(machine.name()) ? machine.physics().settled_watts() : 0;
  feeds_.draw(machine.name(), watts, clock_.elapsed());
  blow(racks_.at(places_.at(machine.name()).rack));
  watch();
}

/// The air of a rack follows what its machines draw. Small changes are left alone.
void RackSite::blow(Rack& rack) {
  constexpr double kNoticed = 0.01;
  double watts = 0;
  for (const auto* machine : rack.machines) watts += machine->physics().settled_watts();
  if (std::abs(watts - rack.reported_watts) < kNoticed * rack.most_watts) return;
  const bool first = rack.reported_watts < 0;
  rack.reported_watts = watts;
  const double heat = std::min(watts / rack.most_watts, 1.0);
  for (auto* machine : rack.machines) {
    const double height = places_.at(machine->name()).height;
    const double own = kSpread * (Draw{seed_}.of("inlet").of(machine->name()).spread(1) - 1);
    const double settles = kColdAisle + own + kStratified * height +
                           kRecirculated * heat * (kBottom + (1 - kBottom) * height);
    const double now = first ? settles : machine->physics().inlet_celsius();
    machine->physics().set_air({settles, now - settles});
  }
}

void RackSite::watch() {
  const auto next = feeds_.next_trip();
  if (!next) return timer_.cancel();
  timer_.start(std::max(*next - clock_.elapsed(), VirtualTime{0}), [this] { trip(); });
}

void RackSite::trip() {
  // The breaker's own clock says when; a timer that comes early waits again.
  power(feeds_.trip(clock_.elapsed()), false);
  for (auto& [name, machine] : machines_) show_feeds(*machine);
  watch();
}

void RackSite::close(const std::string& breaker) {
  power(feeds_.close(breaker, clock_.elapsed()), true);
  for (auto& [name, machine] : machines_) show_feeds(*machine);
  watch();
}

void RackSite::power(const std::vector<std::string>& nodes, bool on) {
  for (const auto& name : nodes) {
    const auto found = machines_.find(name);
    if (found == machines_.end()) continue;
    auto& machine = *found->second;
    machine.set_mains(on);
    feeds_.draw(name, on ? machine.physics().settled_watts() : 0, clock_.elapsed());
    if (on_power) on_power(machine, on);
  }
}

/// As its cords are in truth, and its outlets now.
void RackSite::plug(Machine& machine) {
  const auto& name = machine.name();
  const bool before = feeds_.powered(name);
  if (!feeds_.plug(name, cords_.of(name, machine.faults()), clock_.elapsed())) return;
  show_feeds(machine);
  const bool after = feeds_.powered(name);
  if (after != before) power({name}, after);
}

void RackSite::switch_outlet(const std::string& pdu, std::string_view outlet, bool on) {
  if (!cords_.set(pdu, outlet, on)) return;
  const auto found = machines_.find(cords_.outlet(pdu, outlet)->node);
  if (found == machines_.end()) return;
  plug(*found->second);
  watch();
}

double RackSite::outlet_watts(const std::string& pdu, const PowerOutlet& outlet) const {
  const auto found = machines_.find(outlet.node);
  if (found == machines_.end()) return 0;
  const auto path = outlet_path(pdu, outlet.name);
  const auto& cords = feeds_.cords(outlet.node);
  const auto live = feeds_.live(outlet.node);
  double all = 0, here = 0;
  for (std::size_t i = 0; i < cords.size(); ++i) {
    if (!live[i]) continue;
    ++all;
    here += cords[i].outlet == path;
  }
  return all == 0 ? 0 : found->second->physics().node_watts() * here / all;
}

/// Which of a machine's supplies have input.
void RackSite::show_feeds(Machine& machine) {
  machine.physics().set_feeds(feeds_.live(machine.name()));
}

}  // namespace cupel::rehearsal
