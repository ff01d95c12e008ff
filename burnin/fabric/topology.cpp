#include "burnin/fabric/topology.h"

#include <algorithm>

namespace cupel::burnin::fabric {
namespace {

std::uint32_t unsigned_of(int number) { return static_cast<std::uint32_t>(std::max(number, 0)); }

}  // namespace

Topology::Topology(Wiring wiring) : wiring_{std::move(wiring)} {
  accesses_ = unsigned_of(wiring_.nodes) * unsigned_of(wiring_.rails);
  uplinks_ = unsigned_of(wiring_.leaves) * unsigned_of(wiring_.uplinks);
  wiring_.ports.resize(accesses_);
  wiring_.spine_of_uplink.resize(uplinks_, -1);
  constexpr std::uint32_t kWays = 3;
  access_ = unsigned_of(wiring_.nodes);
  uplink_ = access_ + kWays * accesses_;
  leaf_ = uplink_ + kWays * uplinks_;
  spine_ = leaf_ + unsigned_of(wiring_.leaves);
  end_ = spine_ + unsigned_of(wiring_.spines);
}

namespace {

/// The place of `column` in `row`, where each row has `columns`.
std::size_t at(int row, int columns, int column) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
         static_cast<std::size_t>(column);
}

}  // namespace

const Wiring::Port& Topology::port(int node, int rail) const {
  return wiring_.ports[at(node, wiring_.rails, rail)];
}

bool Topology::connected(const Flow& flow) const {
  return flow.from != flow.to && port(flow.from, flow.rail).leaf >= 0 &&
         port(flow.to, flow.rail).leaf >= 0;
}

bool Topology::across(const Flow& flow) const {
  return port(flow.from, flow.rail).leaf != port(flow.to, flow.rail).leaf;
}

bool Topology::is_there(const Route& route) const {
  return route.known() && route.up < wiring_.uplinks && route.down < wiring_.uplinks;
}

void Topology::learn(const Flow& flow, Route route) {
  if (across(flow) && is_there(route)) measured_[key_of(flow)] = route;
}

std::optional<Route> Topology::route(const Flow& flow) const {
  if (const auto at = measured_.find(key_of(flow)); at != measured_.end()) return at->second;
  return route_of_tables(flow);
}

std::optional<Route> Topology::route_of_tables(const Flow& flow) const {
  if (wiring_.routing != Routing::by_destination) return std::nullopt;
  const auto found = wiring_.routes.find({port(flow.from, flow.rail).leaf, flow.rail});
  const auto to = static_cast<std::size_t>(flow.to);
  if (found == wiring_.routes.end() || to >= found->second.size()) return std::nullopt;
  const auto route = found->second[to];
  return is_there(route) ? std::optional{route} : std::nullopt;
}

void Topology::add_link(PartId both, std::uint32_t count, bool out,
                        std::vector<PartId>& parts) const {
  parts.push_back(both);
  parts.push_back(both + (out ? count : 2 * count));
}

void Topology::add_way_up(const Flow& flow, std::vector<PartId>& parts) const {
  const auto taken = route(flow);
  if (!taken) return;
  const int from = port(flow.from, flow.rail).leaf, to = port(flow.to, flow.rail).leaf;
  const auto up = unsigned_of(from * wiring_.uplinks + taken->up);
  add_link(uplink_ + up, uplinks_, true, parts);
  if (const int spine = wiring_.spine_of_uplink[up]; spine >= 0)
    parts.push_back(spine_ + unsigned_of(spine));
  add_link(uplink_ + unsigned_of(to * wiring_.uplinks + taken->down), uplinks_, false, parts);
}

void Topology::add_parts(const Flow& flow, std::vector<PartId>& parts) const {
  const auto link_of = [&](int node) {
    return access_ + unsigned_of(node * wiring_.rails + flow.rail);
  };
  const int one = port(flow.from, flow.rail).leaf, other = port(flow.to, flow.rail).leaf;
  parts.push_back(unsigned_of(flow.from));
  parts.push_back(unsigned_of(flow.to));
  add_link(link_of(flow.from), accesses_, true, parts);
  add_link(link_of(flow.to), accesses_, false, parts);
  parts.push_back(leaf_ + unsigned_of(one));
  if (one == other) return;
  parts.push_back(leaf_ + unsigned_of(other));
  add_way_up(flow, parts);
}

PartId Topology::id(const Part& part) const {
  const auto way = static_cast<std::uint32_t>(part.way);
  switch (part.kind) {
    case PartKind::node:
      return unsigned_of(part.owner);
    case PartKind::access:
      return access_ + way * accesses_ + unsigned_of(part.owner * wiring_.rails + part.index);
    case PartKind::uplink:
      return uplink_ + way * uplinks_ + unsigned_of(part.owner * wiring_.uplinks + part.index);
    case PartKind::leaf:
      return leaf_ + unsigned_of(part.owner);
    case PartKind::spine:
      return spine_ + unsigned_of(part.owner);
  }
  return end_;
}

Part Topology::part(PartId id) const {
  const auto link = [](PartKind kind, std::uint32_t offset, std::uint32_t count, int each) {
    const int at = static_cast<int>(offset % count);
    return Part{kind, static_cast<Way>(offset / count), at / each, at % each};
  };
  if (id < access_) return {PartKind::node, Way::both, static_cast<int>(id), 0};
  if (id < uplink_) return link(PartKind::access, id - access_, accesses_, wiring_.rails);
  if (id < leaf_) return link(PartKind::uplink, id - uplink_, uplinks_, wiring_.uplinks);
  if (id < spine_) return {PartKind::leaf, Way::both, static_cast<int>(id - leaf_), 0};
  return {PartKind::spine, Way::both, static_cast<int>(id - spine_), 0};
}

PartId Topology::whole(PartId id) const {
  if (id >= access_ && id < uplink_) return access_ + (id - access_) % accesses_;
  if (id >= uplink_ && id < leaf_) return uplink_ + (id - uplink_) % uplinks_;
  return id;
}

}  // namespace cupel::burnin::fabric
