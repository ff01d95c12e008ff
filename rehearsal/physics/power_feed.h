#pragma once
// Breakers and outlets between the wall and the machines: each breaker has a trip curve, and what
// hangs on one that has tripped, or on an outlet that is off, is without power. Pure: somebody else
// asks when it would trip. Not the inventory's power tree, from which it is made
// (inventory/read_power.h), nor which outlet is whose: power_cords.h.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rehearsal/clock.h"

namespace cupel::rehearsal {

/// One thermal-magnetic breaker. Its bimetal warms with the square of the current towards
/// (I/In)^2 and trips at kTrip^2; far above, the magnet trips at once. Between the conventional
/// non-tripping and tripping currents of IEC 60898-1, table 7 (1.13 and 1.45 In, within an hour),
/// and of IEC 60947-2, table 6 (1.05 and 1.30 In, within two hours above 63 A).
class Breaker {
 public:
  static constexpr double kTrip = 1.2;        // times the rated current, for ever
  static constexpr VirtualTime kWarmth{120};  // time constant of the bimetal
  static constexpr double kMagnetic = 10;     // IEC 60898-1, type C: 5 to 10 In
  static constexpr VirtualTime kInstant{0.02};

  explicit Breaker(double watts) : rated_{watts} {}

  double watts() const { return watts_; }
  /// Load changes at `at`, which is never before the last one.
  void draw(double watts, VirtualTime at);
  /// How warm: 1 trips.
  double warmth(VirtualTime at) const;
  /// When it trips if nothing changes; nothing: never.
  std::optional<VirtualTime> trips_at() const;
  bool tripped(VirtualTime at) const;
  /// Somebody has put it back.
  void close(VirtualTime at);

 private:
  double rated_;
  double watts_ = 0;
  double heat_ = 0;  // (I/In)^2 that it has come to at since_
  VirtualTime since_{0};
};

/// What one of a node's supplies hangs on.
struct Cord {
  std::string breaker;   // one that is not known never trips
  std::string outlet{};  // behind that, which somebody may switch; "": none
  bool cut = false;      // the outlet is off
  friend bool operator==(const Cord&, const Cord&) = default;
};

struct FeedPlan {
  struct Level {
    std::string name;  // "a01/pdu1/b1"
    double watts = 0;
  };
  std::vector<Level> breakers{};
  std::map<std::string, std::vector<std::string>> feeds{};  // of each node: its breakers
};

/// All breakers of a rack, and the outlets behind them. A node's watts are shared by the cords that
/// are live.
class PowerFeeds {
 public:
  explicit PowerFeeds(FeedPlan plan);

  void draw(const std::string& node, double watts, VirtualTime at);
  /// From now on a node's supplies hang so: an outlet was switched, or a cord is in another one.
  /// False where they did already, or there is no such node.
  bool plug(const std::string& node, std::vector<Cord> cords, VirtualTime at);
  /// Empty where there is no such node.
  const std::vector<Cord>& cords(const std::string& node) const;
  /// Which of them give power.
  std::vector<bool> live(const std::string& node) const;
  /// A node without feeds is never without power.
  bool powered(const std::string& node) const;
  /// The next trip if nothing changes.
  std::optional<VirtualTime> next_trip() const;
  /// Trips what is due at `at`; names of the nodes that have lost their power by it.
  std::vector<std::string> trip(VirtualTime at);
  /// Puts a breaker back; names of the nodes that have power again.
  std::vector<std::string> close(const std::string& breaker, VirtualTime at);
  std::vector<std::string> tripped() const;
  /// nullptr where there is none of that name.
  const Breaker* breaker(const std::string& name) const;

 private:
  struct Load {
    double watts = 0;
    std::vector<Cord> cords;
    bool hangs_on(const std::string& breaker) const;
  };
  bool is_live(const Cord& cord) const { return !cord.cut && !open_.contains(cord.breaker); }
  bool powered(const Load& load) const;
  void share(const Load& load, VirtualTime at);
  void settle(const std::string& breaker, VirtualTime at);
  std::vector<std::string> powered_on(const std::string& breaker) const;

  std::map<std::string, Breaker> breakers_;
  std::set<std::string> open_;
  std::map<std::string, Load> loads_;
};

}  // namespace cupel::rehearsal
