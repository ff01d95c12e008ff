#pragma once
// Which of the steps that could begin do begin, and when: priorities, the longest remaining path,
// slots, locks, and watts at every level of the power tree. Pure: no clock, no I/O, no coroutine;
// the engine asks it at each change, and a forecast asks it about a run that has not begun.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inventory/model.h"
#include "orchestrator/engine/clock.h"
#include "playbooks/plan.h"

namespace cupel::engine {

/// A step that is ready: of one node, or of several that do it together.
struct Offer {
  RunId run = 0;
  int priority = 0;  // higher first
  std::chrono::seconds
      remaining_path{};  // expected, from the start of this step to the end of its node(s)
  std::vector<const inventory::Node*> nodes{};
  const playbooks::PlannedStep* step = nullptr;  // outlives the offer
};

/// How much of what is not the site's power there is. A claim that is not named here is unbounded.
struct Limits {
  /// "firmware-push" -> 4: for each of the claim's scopes (node, rack, or the whole site).
  std::map<std::string, int, std::less<>> slots{};
  /// Share of each level's watts that may be planned with.
  double power_share = 1.0;
  /// Nodes behind one breaker do not jump to full load at once: so long between two.
  std::chrono::seconds ramp{2};
};

class Dispatcher {
 public:
  using Time = Clock::Time;
  using Ticket = std::uint64_t;

  explicit Dispatcher(Limits limits = {});
  ~Dispatcher();

  /// The power tree and the nodes of one inventory; must outlive the dispatcher. Again with another
  /// one: levels of the same name are the same level, the smaller watts count.
  void know(const inventory::Inventory& inventory);

  /// Why this could never begin, on an empty site; nothing if it could.
  std::optional<std::string> impossible(const Offer& offer) const;

  /// Ready from now on.
  Ticket offer(Offer offer, Time now);
  /// Ended, or not wanted any more, begun or not: gives back whatever it held. Unknown: nothing.
  void ended(Ticket ticket, Time now);
  /// What begins now, in this order; each holds what it needs from here on. All of a group or none.
  std::vector<Ticket> start(Time now);
  /// When start() may have something to say though nothing ends before (a ramp).
  std::optional<Time> next_look() const;

  /// What a BMC measured. Corrects what the node is thought to draw.
  void measured(std::string_view node, double watts, Time now);
  /// What has to be paused because a level draws more than it may: the youngest first, no more than
  /// needed. They are as ended() from here on; whoever pauses them offers them again.
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
