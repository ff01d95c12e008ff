#pragma once
// What a dispatcher knows: resources with those that wait for them, offers, reservations. Not an
// interface: dispatcher.h is.
//
// A ready offer is either a candidate (to be looked at by the next start()), or parked at the one
// resource that it was found to lack. There it waits in a class of offers that need as much of it,
// and only the best of each class is looked at again when the resource becomes freer. So an end
// costs as much as there are kinds of waiting steps, however many nodes wait.
#include <deque>
#include <set>
#include <tuple>
#include <unordered_map>

#include "inventory/fwd.h"
#include "orchestrator/engine/dispatcher.h"
#include "orchestrator/engine/power_tree.h"
#include "playbooks/playbook.h"

namespace cupel::engine {

using ResourceId = std::uint32_t;
inline constexpr ResourceId kNoResource = 0xffffffff;

/// Its place in the order among those of one run and priority: smaller is earlier.
struct Rank {
  std::int64_t path = 0;  // negative seconds
  PowerTree::NodeId node = 0;
  Dispatcher::Ticket ticket = 0;
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

struct WaitClass {
  std::set<Rank> members{};
  bool out = false;  // its best is a candidate at the moment
};

/// Need, priority, run.
using ClassKey = std::tuple<std::int64_t, int, RunId>;

struct Need {
  ResourceId resource = kNoResource;
  std::int64_t amount = 0;
  friend bool operator==(const Need&, const Need&) = default;
};

struct Reservation {
  Dispatcher::Ticket ticket = 0;
  std::int64_t amount = 0;
};

struct Resource {
  enum class Kind { lock, slots, level, ramp } kind{};
  std::uint32_t index = 0;  // node of a lock, level of a level or ramp
  std::string claim{};      // of slots: "firmware-push"
  std::string name{};       // of slots: "firmware-push in rack a01"
  std::int64_t capacity = 1;
  std::int64_t used = 0;      // not of a level: the tree knows
  std::int64_t reserved = 0;  // sum of `granted`
  std::map<ClassKey, WaitClass> waiting{};
  std::vector<Dispatcher::Ticket> overdue{};  // those that want it reserved, first come first
  std::vector<Reservation> granted{};
  Dispatcher::Ticket holder = 0;  // of a lock
  bool dirty = false;
};

struct Entry {
  enum class Phase { candidate, parked, never, running } phase = Phase::candidate;
  Offer offer{};
  Rank rank{};
  Dispatcher::Time offered{};
  std::vector<PowerTree::NodeId> members{};
  std::vector<Need> needs{};  // the narrowest first
  bool needs_changed = true;
  ResourceId at = kNoResource;  // parked there, or a candidate as the best of a class from there
  ClassKey key{};
  std::optional<Dispatcher::Time> passed_over{};  // since when others of a lower rank went before
  bool overdue = false;
  std::uint64_t overdue_as = 0;
  bool granted = false;
  Dispatcher::Time shadow{};  // when, by what is expected, it could begin; of a reservation
  std::vector<Need> kept{};   // as it was reserved
  Dispatcher::Time began{};
  std::uint64_t began_as = 0;
  bool draws = false;  // what it started draws by now
  bool shed = false;   // named as one to be paused, and not ended yet
  std::string never{};
};

struct Dispatcher::State {
  using NodeId = PowerTree::NodeId;

  Limits limits;
  PowerTree tree{};
  std::vector<Resource> resources{};
  std::vector<ResourceId> level_resource{};  // by level
  std::vector<ResourceId> ramp_resource{};   // by level; breakers alone have one
  std::vector<ResourceId> lock_resource{};   // by node
  std::unordered_map<std::string, ResourceId> slot_resource{};

  std::unordered_map<Ticket, Entry> entries{};
  std::set<Ticket> waiting{};  // by age; without those that can never begin
  std::map<int, std::map<RunId, std::set<Rank>>, std::greater<>> candidates{};
  std::vector<std::set<Ticket>> offers_of_node{};
  std::map<RunId, std::size_t> running_nodes{};
  std::vector<ResourceId> dirty{};
  std::vector<Ticket> overdue{};
  std::vector<Ticket> under_way{};  // begun as they were offered; to be named by the next start()
  std::multimap<Time, ResourceId> ramps{};

  /// A measurement, and what was learned from it, are used for a time each.
  struct Expiry {
    Time until;
    NodeId node;
    std::uint64_t as;
  };
  std::deque<Expiry> measured{}, taught{};
  std::vector<std::uint64_t> measured_as{};  // by node: its newest
  Ticket last_ticket = 0;
  std::uint64_t last_began = 0;
  std::uint64_t last_overdue = 0;
  std::uint64_t last_measured = 0;

  // dispatcher.cpp
  ResourceId add(Resource::Kind kind, std::uint32_t index, std::int64_t capacity);
  NodeId intern(const inventory::Node& node);
  std::int64_t free(const Resource& resource) const;
  void mark(ResourceId id);
  void look_again();
  void find_needs(Entry& entry);
  void needs_of_claims(const Offer& offer, std::vector<Need>& into);
  void needs_of_power(const Entry& entry, std::vector<Need>& into);
  void advance(Time now);
  void wake();
  void pull(ResourceId id, Resource& resource);
  Entry* best();
  void consider(Entry& entry, Time now, std::vector<Ticket>& begun);
  void park(Entry& entry, const Need& need);
  void unpark(Entry& entry);
  void to_candidates(Entry& entry);
  void resolved(Entry& entry, bool look_on);
  void begin(Entry& entry, Time now);
  void release(Entry& entry);
  void draw_changed(NodeId node);

  // dispatcher_order.cpp
  bool fits(const Entry& entry, const Need& need, Time now) const;
  void note_passed_over(const Entry& began, Time now);
  void look_for_the_oldest(Time now);
  void make_overdue(Entry& entry, Time now);
  void grant(Time now);
  void withdraw_reservation(Entry& entry);
  Time could_begin(const Entry& entry, Time now) const;
  std::vector<Ticket> to_shed(PowerTree::LevelId level) const;

  // dispatcher_words.cpp
  std::int64_t capacity_of(const PowerTree::Level& level) const;
  std::optional<std::string> impossible(const Offer& offer) const;
  std::optional<std::string> too_many(const Offer& offer) const;
  std::optional<std::string> too_much(const Offer& offer) const;
  std::string why(const Entry& entry) const;
};

/// "breaker a01/pdu1/b1".
std::string words_of(const PowerTree::Level& level);
/// "soak of a01-n[01-08]".
std::string words_of(const Offer& offer);

/// The claim's counter that this node's step would use: "firmware-push in rack a01".
std::string slot_name(const playbooks::Claim& claim, const inventory::Node& node);

/// A step that draws at least this share of what its node can is one that ramps.
inline constexpr double kHighLoad = 0.5;

}  // namespace cupel::engine
