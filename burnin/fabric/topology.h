#pragma once
// What a stream between two nodes crosses, in numbers: nodes, access links (HCA, cable and leaf
// port), leaves, uplinks and spines. No names, no vendor and no inventory: whoever knows the cable
// plan fills `Wiring`. A link may fail in one direction alone, so it is three parts: the link, and
// each of its directions.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace cupel::burnin::fabric {

using PartId = std::uint32_t;

/// How a leaf chooses the uplink of a packet. `by_destination` alone lets tables say which uplinks
/// a stream crosses (Wiring::routes); `ecmp`: by a hash of each connection, as Ethernet has it.
enum class Routing : std::uint8_t { by_destination, adaptive, unknown, ecmp };

/// Numbers of uplinks: of the sender's leaf, and of the receiver's. -1: not known.
struct Route {
  std::int16_t up = -1, down = -1;
  bool known() const { return up >= 0 && down >= 0; }
  friend bool operator==(const Route&, const Route&) = default;
};

/// A fat tree of one or two levels.
struct Wiring {
  struct Port {
    int leaf = -1;  // -1: no link
    int place = 0;  // among the leaf's ports for nodes, from 0
  };

  int nodes = 0, rails = 1, leaves = 0, spines = 0;
  std::vector<Port> ports{};           // of the node's rail, at node * rails + rail
  int uplinks = 0;                     // of each leaf
  std::vector<int> spine_of_uplink{};  // at leaf * uplinks + uplink; -1: not cabled
  Routing routing = Routing::unknown;
  /// As the subnet manager's tables have it: of a leaf and a rail, the route to each node's port of
  /// that rail. Empty: the tables are not known, and no uplink can be distinguished from another.
  std::map<std::pair<int, int>, std::vector<Route>> routes{};
};

/// One direction of one pair on one rail.
struct Flow {
  int from = 0, to = 0, rail = 0;
  friend bool operator==(const Flow&, const Flow&) = default;
};

enum class PartKind : std::uint8_t { node, access, uplink, leaf, spine };

/// Of an access link: from the node, or to it. Of an uplink: to the spine, or from it.
enum class Way : std::uint8_t { both, out, in };

struct Part {
  PartKind kind{};
  Way way = Way::both;
  int owner = 0;  // the node, leaf or spine
  int index = 0;  // the rail of an access link, the number of an uplink
  friend bool operator==(const Part&, const Part&) = default;
};

class Topology {
 public:
  explicit Topology(Wiring wiring);

  const Wiring& wiring() const { return wiring_; }
  std::size_t part_count() const { return end_; }
  const Wiring::Port& port(int node, int rail) const;

  /// Both ends have a link on that rail.
  bool connected(const Flow& flow) const;
  bool across(const Flow& flow) const;
  /// Of a flow across leaves: as it was measured, else as the tables have it; nothing where
  /// neither says it.
  std::optional<Route> route(const Flow& flow) const;
  /// As the tables have it, whatever was measured.
  std::optional<Route> route_of_tables(const Flow& flow) const;
  /// The route by which this flow's leaf was seen to send to that port. A leaf chooses by the
  /// destination alone: it is the route of all flows from there to it.
  void learn(const Flow& flow, Route route);
  bool was_measured(const Flow& flow) const { return measured_.contains(key_of(flow)); }
  /// Routes that were measured.
  std::size_t measured() const { return measured_.size(); }
  /// All parts that the flow crosses are known. Of another flow a part that is not known may be
  /// what is slow.
  bool knows_parts(const Flow& flow) const { return !across(flow) || route(flow).has_value(); }
  /// Appends what the flow crosses: each link as a whole and in the direction that is used.
  void add_parts(const Flow& flow, std::vector<PartId>& parts) const;

  PartId id(const Part& part) const;
  Part part(PartId id) const;
  /// The link that it is a direction of; itself, where it is no direction.
  PartId whole(PartId id) const;

 private:
  /// Leaf of the sender, receiver, rail.
  std::array<int, 3> key_of(const Flow& flow) const {
    return {port(flow.from, flow.rail).leaf, flow.to, flow.rail};
  }
  bool is_there(const Route& route) const;
  void add_link(PartId both, std::uint32_t count, bool out, std::vector<PartId>& parts) const;
  void add_way_up(const Flow& flow, std::vector<PartId>& parts) const;

  Wiring wiring_;
  std::map<std::array<int, 3>, Route> measured_{};
  std::uint32_t accesses_ = 0, uplinks_ = 0;                         // how many
  PartId access_ = 0, uplink_ = 0, leaf_ = 0, spine_ = 0, end_ = 0;  // the first of each kind
};

}  // namespace cupel::burnin::fabric
