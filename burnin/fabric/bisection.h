#pragma once
// Which nodes make a collective slow whose links are well: by halves. The teams of a round have as
// many nodes (one fewer where no fast node is left to fill up), so that each is compared with the
// best of its own size. Pure and deterministic: the same rates lead to the same teams.
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace cupel::burnin::fabric {

class Bisection {
 public:
  static constexpr int kMostRounds = 14;  // all of 4,096, and their halves down to one

  enum class Kind {
    node,       // slow with fast nodes too
    together,   // slow, and each half of them is fast
    alike,      // below what is expected in every team, down to two nodes
    undecided,  // no team tells them apart
  };
  struct Suspicion {
    Kind kind = Kind::undecided;
    std::vector<std::size_t> nodes{};
    double loss = 0;  // of what teams of this size reach, or of what is expected; 0 to 1
    std::string why{};
  };

  /// `floor`: the bus bandwidth that is expected, in GB/s; 0: none is, and the halves say whether
  /// anything is slow.
  Bisection(std::vector<std::string> nodes, double floor);

  /// The teams of the next round: all nodes first, then halves. They share no node. Empty: it is
  /// over.
  std::vector<std::vector<std::size_t>> next();
  /// Their bus bandwidths, in their order; 0: the team did not come to its end.
  void take(std::span<const double> rates);
  /// The node takes part no more: from the next round on.
  void leave(std::size_t node);
  /// No halves are run, and nothing is suspected.
  void give_up(std::string why);

  std::span<const Suspicion> suspicions() const { return suspicions_; }
  /// Nodes of which a team was fast.
  std::span<const std::size_t> cleared() const { return fast_; }
  /// At most 200.
  std::span<const std::string> reasons() const { return reasons_; }
  /// All nodes together have been measured, and halves are asked for.
  bool wants_halves() const { return !groups_.empty(); }

 private:
  struct Group {
    std::vector<std::size_t> nodes{};
    double rate = 0;  // with which they came under suspicion
  };
  struct Half {
    std::size_t group = 0;
    std::vector<std::size_t> own{}, team{};
    double rate = 0;
  };

  void take_all(double rate);
  void take_halves();
  void judge(const Group& group, const Half& one, const Half& other, double usual,
             std::vector<Group>& next);
  void suspect(Kind kind, const std::vector<std::size_t>& nodes, double loss, std::string why);
  void plan();
  void split(std::size_t group);
  void fill_up(std::vector<std::size_t> spare);
  void give_up_waiting();
  void say(std::string reason);
  std::string named(const std::vector<std::size_t>& nodes) const;

  std::vector<std::string> names_;
  double floor_;
  bool began_ = false;
  double all_ = 0;
  int rounds_ = 0;
  std::size_t size_ = 0;  // of this round's teams
  std::vector<Group> groups_{};
  std::vector<Half> halves_{};           // of this round, two for each group
  std::vector<std::size_t> standard_{};  // a team of fast nodes; empty: too few are left
  std::vector<std::size_t> fast_{};
  std::vector<Group> waiting_{};  // for fast nodes to run with
  std::vector<bool> left_;
  std::map<std::size_t, double> best_{};  // by size
  std::vector<Suspicion> suspicions_{};
  std::vector<std::string> reasons_{};
};

}  // namespace cupel::burnin::fabric
