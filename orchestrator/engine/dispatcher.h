#pragma once
// Which of the steps that could begin do begin, and when: priorities, the longest remaining path,
// slots, locks, and watts at every level of the power tree. Pure: no clock, no I/O, no coroutine;
// the engine asks it at each change, and a forecast asks it about a run that has not begun.
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "orchestrator/engine/clock.h"
#include "playbooks/fwd.h"

namespace cupel::engine {

/// A step that is ready: of one node, or of several that do it together.
struct Offer {
  RunId run = 0;
  int priority = 0;                       // higher first
  std::chrono::seconds remaining_path{};  // from the start of this step on; see critical_path.h
  std::vector<const inventory::Node*> nodes{};
  const playbooks::PlannedStep* step = nullptr;  // outlives the offer
  /// Begun by a controller that is gone, and going on in the world: it holds what it needs from now
  /// on, whatever the limits say, and the next start() names it.
  bool under_way = false;
};

/// How much of what is not the site's power there is. A claim that is not named here is unbounded.
struct Limits {
  /// "firmware-push" -> 4: for each of the claim's scopes (node, rack, or the whole site).
  std::map<std::string, int, std::less<>> slots{};
  /// Share of each level's watts that may be planned with.
  double power_share = 1.0;
  /// Nodes behind one breaker do not jump to full load at once: so long between two.
  std::chrono::seconds ramp{2};
  /// An offer that others of a lower rank have been passing for so long has what it needs kept for
  /// it: from then on only those go before it that are expected to be through when it could begin.
  std::chrono::seconds patience{600};
  /// The same for the oldest of all offers, whatever its rank and priority.
  std::chrono::seconds longest_wait{24 * 3600};
};

/// Among ready offers: higher priority; then the run with fewer nodes at work; then the longer
/// remaining path; then the inventory's order; then the older one. One that lacks something lets
/// others pass (see Limits::patience). The same calls in the same order give the same answers.
///
/// Each node does one step at a time. A claim is taken once for each of its scopes (node, rack,
/// site) that the step touches, by a group as by a single node. A node that is known draws its idle
/// watts; a step adds its load, and what was measured above that. A step that adds no watts is not
/// kept from beginning by a level that is full.
class Dispatcher {
 public:
  using Time = Clock::Time;
  using Ticket = std::uint64_t;

  explicit Dispatcher(Limits limits = {});
  ~Dispatcher();

  /// The power tree and the nodes of one inventory, which stays until let_go(). Again with another
  /// one: levels of the same name are the same level, the smaller watts count.
  void know(const inventory::Inventory& inventory);
  /// The inventory goes. No step of its nodes is offered any more; its levels and nodes stay known
  /// by their names.
  void let_go(const inventory::Inventory& inventory);

  /// What a further run's playbook says of slots: the smaller count of a claim holds from now on.
  void limit(const std::map<std::string, int, std::less<>>& slots);

  /// Why this could never begin, on an empty site; nothing if it could.
  std::optional<std::string> impossible(const Offer& offer) const;

  /// Ready from now on.
  Ticket offer(Offer offer, Time now);
  /// Ended, or no longer needed, begun or not: gives back whatever it held. Unknown: nothing.
  void ended(Ticket ticket, Time now);
  /// What begins now, in this order; each holds what it needs from here on. All of a group or none.
  std::vector<Ticket> start(Time now);
  /// When start() may have something to say though nothing ends before: a ramp is over, or a
  /// measurement too old. Time::min(): at once.
  std::optional<Time> next_look() const;

  /// What a BMC measured. While it is not older than five minutes and the node does the same step,
  /// the node is not thought to draw less.
  void measured(std::string_view node, double watts, Time now);
  /// A step that began has started what is to draw its load, or is about to. Of one that was under
  /// way when it was offered nobody knows; what is measured tells.
  void draws(Ticket ticket);
  /// What has to be paused because a level draws more than it may: those first that are not known
  /// to have started anything, then the youngest; no more than needed. Each is named once, and
  /// holds its watts until ended() says that it is really off them.
  std::vector<Ticket> shed(Time now);

  /// Watts now, by the level's full name, as they are reckoned.
  std::map<std::string, double> draw() const;

  /// Why each ready step has not begun, for people: "breaker a01/pdu1/b1: 9.8 of 11.0 kW taken".
  struct Blocked {
    Ticket ticket;
    std::string why;
  };
  std::vector<Blocked> blocked() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cupel::engine
