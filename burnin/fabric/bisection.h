#pragma once
// Which nodes make a collective slow whose links are well: adaptive group testing. Teams of a round
// have about one size; each is compared with what its own size, or a larger one, has reached, since
// small teams are faster. What is slow is run again until chance no longer explains it, by how
// often readings dipped in this fleet. A team that does not come to its end is as slow as can be,
// and is taken apart like any other. Nodes that are fast in each half and slow together are
// crossed, a half of the one with a half of the other, until two nodes are left, two groups of
// them, or all: what is between them is slow then, and no node. Who is slow now and then is found
// by many small teams (node_dips.h). Pure and deterministic: the same rates lead to the same teams.
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "burnin/fabric/node_dips.h"

namespace cupel::burnin::fabric {

class Bisection {
 public:
  /// 4,096 nodes take 15 where no reading dips.
  static constexpr int kMostRounds = 24;
  /// After these, where small teams were slow now and then and no node explains it: to find out
  /// whether a few nodes are.
  static constexpr int kMostWatchRounds = 20;

  enum class Kind {
    node,       // slow with fast nodes too, three times or more; or in many of its readings
    pair,       // two that are slow with each other alone: a path of the fabric
    between,    // each of the one group is slow with each of the other: what joins the groups
    whole,      // slow all together, and each half of them, however made, is fast
    alike,      // no team of any size reaches what is expected
    undecided,  // no team tells them apart
  };
  struct Suspicion {
    Kind kind = Kind::undecided;
    std::vector<std::size_t> nodes{};
    std::vector<std::size_t> others{};  // of `between`: the other group
    double loss = 0;  // of what teams of this size reach, or of what is expected; 0 to 1
    std::string why{};
  };

  /// `floor`: the bus bandwidth that is expected, in GB/s; 0: none is, and teams are made smaller
  /// until some are faster than others.
  Bisection(std::vector<std::string> nodes, double floor);

  /// The teams of the next round: all nodes first. They share no node. Empty: it is over.
  std::vector<std::vector<std::size_t>> next();
  /// Their bus bandwidths, in their order; 0, or no number: the team did not come to its end.
  void take(std::span<const double> rates);
  /// The node takes part no more: from the next round on.
  void leave(std::size_t node);
  /// No more teams are run, and nothing is suspected.
  void give_up(std::string why);

  std::span<const Suspicion> suspicions() const { return suspicions_; }
  /// Nodes of which a team was fast.
  std::vector<std::size_t> cleared() const;
  /// At most 200.
  std::span<const std::string> reasons() const { return reasons_; }
  /// All nodes together have been measured, and smaller teams are asked for.
  bool wants_halves() const { return rounds_ > 0 && !over_ && !runs_all_again(); }

 private:
  enum class State : std::uint8_t { open, fast, slow, bad, undecided, left };
  struct Group {  // of which some node is slow
    std::vector<std::size_t> nodes{};
    double rate = 0;       // with which they came under suspicion
    std::size_t size = 0;  // of the team that was so slow
    double halves = 0;     // what the slower of its halves reached, where both were fast
    std::vector<std::size_t> one{}, other{};  // these
    int slow = 1;                             // of its readings, one after the other
    std::string why{};
  };
  enum class Role : std::uint8_t { level, half, control, again, watch, together, cross, pair };
  /// Two sets of nodes, each fast by itself, of which some are slow with some of the other.
  struct Crossing {
    std::vector<std::size_t> one{}, other{};
    std::size_t group = 0;  // of crossed_
    bool is_first = false;
    std::size_t next = 0;             // of its four teams
    std::vector<std::size_t> slow{};  // which of them were
    double rate = 0;                  // of the slowest
    int readings = 0;                 // of a single pair, or of all of it again: all slow
    bool is_doubted = false;          // none of its four teams was slow
  };
  /// Nodes that are slow together, and those of them that are named so far.
  struct Crossed {
    Group group{};
    std::vector<std::size_t> named{};
    bool missed = false;  // what seemed slow in it was a dip: it is crossed once more
  };
  struct Trial {
    Role role = Role::level;
    std::vector<std::size_t> own{}, team{};  // without and with nodes that fill it up
    Group of{};                              // whose half or repeat it is
    std::size_t crossing = 0, quarter = 0;   // of crossings_, and which of its teams
    double rate = 0;
  };

  void take_all(double rate);
  void take_levels();
  void take_halves(const Trial& one, const Trial& other);
  void take_control(const Trial& trial);
  void take_again(const Trial& trial);
  void take_together(const Trial& trial);
  void take_cross(const Trial& trial);
  void take_pair(const Trial& trial);
  void take_crossings();
  void conclude(Crossing& crossing);
  void end_crossing(const Crossing& crossing);
  void say_between(const Crossing& crossing, std::string_view how);
  std::vector<std::size_t> team_of(const Crossing& crossing, std::size_t quarter) const;
  void say_rates();
  void suspect(Kind kind, const std::vector<std::size_t>& nodes, double loss, std::string why);
  void undecided(const std::vector<std::size_t>& nodes, std::string why);
  void mark(const std::vector<std::size_t>& nodes, State state);
  void plan_suspects();
  void plan_level();
  void plan_together();
  void plan_crossings();
  void plan_all();
  void plan_watch();
  void say_dips();
  std::vector<bool> explained() const;
  bool runs_all_again() const;
  void begin_suspects(std::size_t spare);
  void fill_up(std::size_t size, std::vector<std::size_t> spare);
  void finish();
  void forget_who_left();
  bool goes_deeper() const;
  bool is_slow(const Trial& trial) const;
  bool may_be_chance(int slow) const;
  double usual(std::size_t size) const;
  std::vector<std::size_t> in(State state) const;
  void say(std::string reason);
  std::string named(const std::vector<std::size_t>& nodes) const;

  std::vector<std::string> names_;
  double floor_;
  bool began_ = false, over_ = false;
  /// The collective over all did not end; so often it was run again without those who had left.
  bool all_failed_ = false;
  int without_ = 0;
  std::size_t gone_ = 0;  // had left when all were run last
  int rounds_ = 0;
  std::size_t level_ = 1;  // how many teams all nodes were last divided into
  int mixes_ = 0;          // how often pairs of nodes that are no neighbours have been run
  std::size_t smallest_ = SIZE_MAX;  // team of which all fast nodes have been run
  std::vector<Group> level_teams_{};
  std::vector<State> state_;
  // Slow; slow single nodes, to be run again; slow although both halves are fast.
  std::vector<Group> groups_{}, singles_{}, together_{};
  std::vector<Crossing> crossings_{};
  std::vector<Crossed> crossed_{};
  std::vector<Trial> trials_{};
  std::map<std::size_t, double> best_{};  // by size of the team
  // Of teams in all rounds; not slow; slow, though the next reading of the same nodes was not.
  std::size_t readings_ = 0, fast_readings_ = 0, dips_ = 0;
  NodeDips node_dips_{};
  int watched_ = 0;  // rounds of plan_watch()
  std::vector<Suspicion> suspicions_{};
  std::vector<std::string> reasons_{};
};

}  // namespace cupel::burnin::fabric
