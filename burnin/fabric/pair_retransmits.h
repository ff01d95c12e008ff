#pragma once
// Packets that the senders of pairs sent again: lost or damaged on the way, while bandwidth may
// look as usual. A link is named where each partner's flow over it in one direction lost packets,
// more often than the fleet's own losses explain: of one flow alone, the other end or an uplink may
// be at fault. Pure.
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "burnin/fabric/reasons.h"
#include "burnin/group_stage.h"

namespace cupel::burnin::fabric {

class PairRetransmits {
 public:
  /// The topology must outlive it.
  explicit PairRetransmits(const Topology& topology) : topology_{topology} {}

  /// What the sender's HCA sent again while the flow ran. Of several readings of a flow the least
  /// counts.
  void take(const Flow& flow, std::uint64_t packets);

  /// `fabric.link.retransmits` of each HCA whose flows were counted: 0 where a flow each way lost
  /// nothing; nothing where it is not decided. In the reasons: how many flows lost packets.
  void add_to(const Names& names, GroupFindings& found) const;

 private:
  struct Counted {
    Flow flow{};
    std::uint64_t packets = 0;
  };
  /// Flows, and those of them that lost packets.
  struct Share {
    int flows = 0, lossy = 0;
    void add(std::uint64_t packets) {
      ++flows;
      lossy += packets > 0 ? 1 : 0;
    }
    double lossy_share() const {
      return flows > 0 ? static_cast<double>(lossy) / static_cast<double>(flows) : 0;
    }
  };
  /// One direction of a link, by the flows that cross it.
  struct Way {
    Share own{};
    std::uint64_t least = 0;
    /// Of one lossy flow the other end may be the cause.
    bool is_suspect() const { return own.lossy > 1 && own.lossy == own.flows; }
  };
  struct Link {
    Way out{}, in{};
  };
  /// Flows that cross a leaf; and without those that cross a link each of whose flows lost packets.
  struct Leaf {
    Share all{}, rest{};
  };

  std::size_t port_of(int node, int rail) const;
  std::vector<Link> links() const;
  bool crosses_a_suspect(const Flow& flow, std::span<const Link> links) const;
  std::map<int, Leaf> leaves(std::span<const Link> links) const;
  double usual_share(std::span<const Link> links) const;
  bool is_more_than_chance(const Way& way, const Link& link, const Leaf& leaf, double usual) const;
  void say(const Names& names, GroupFindings& found) const;

  const Topology& topology_;
  std::map<std::array<int, 3>, Counted> flows_{};  // by sender, receiver and rail
};

}  // namespace cupel::burnin::fabric
