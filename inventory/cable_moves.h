#pragma once
// Links that are not as planned to the fewest moves of plugs. Pure.
#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "inventory/fabric.h"

namespace cupel::inventory {

/// One plug from one port to another. `cable` is its other end, which stays. Nothing in `from`: it
/// is in the hand; nothing in `to`: unplug it and keep it at hand.
struct CableMove {
  CableEnd cable;
  std::optional<CableEnd> from{};
  std::optional<CableEnd> to{};
  friend bool operator==(const CableMove&, const CableMove&) = default;
};

/// The two ends of a planned cable, the lower one first, or of a link, in any order.
struct EndPair {
  CableEnd one;
  CableEnd other;
};

/// A plug that is in `at` and belongs in `expected`; the plug in `stays` is not touched.
struct PlugStep {
  CableEnd stays;
  CableEnd at;
  CableEnd expected;
  std::size_t planned = 0;  // which planned cable the link becomes
};

/// Links that wait for each other's ports.
struct MoveGroup {
  bool cycle = false;  // the first plug has to be taken out before there is room; it goes in last
  std::vector<PlugStep> steps{};      // in the order in which they can be made
  std::vector<std::size_t> unplug{};  // links without a place, in the way of the steps
};

struct MovePlan {
  std::vector<MoveGroup> groups{};
  std::vector<std::size_t> missing{};  // planned cables that no link becomes
  std::vector<std::size_t> extra{};    // links that become no planned cable, and are in no way
};

/// Planned cables that are not connected as planned, and the links at their ports or elsewhere that
/// are not planned; each port at most once in each list. Links and planned cables that share ports
/// make chains and cycles. Each link of them moves one plug at most, which is the least that can
/// put it right, and no plug of a link that is right is moved. A plug goes from an HCA to an HCA or
/// from a switch to a switch; where that is not possible the links are `extra` and the cables
/// `missing`: connectors for HCAs and for switches differ.
MovePlan plan_moves(std::span<const EndPair> planned, std::span<const EndPair> links);

/// The plugs of a fabric as they are, to try instructions before they are given.
class PlugModel {
 public:
  /// All planned cables, and all links.
  PlugModel(std::span<const EndPair> planned, std::span<const EndPair> links);

  /// Makes the moves. False, and nothing is changed, where one cannot be made (nothing is in its
  /// port, or its target is taken), where a cable that was right no longer is, or where no more
  /// ends are right than before.
  bool improves(std::span<const CableMove> moves);

 private:
  using Plug = std::size_t;  // 2n and 2n + 1 are of one cable
  using Ports = std::unordered_map<CableEnd, Plug, CableEndHash>;

  bool make(const CableMove& move, Ports& ports) const;
  bool is_right(const CableEnd& end, const Ports& ports) const;

  std::unordered_map<CableEnd, CableEnd, CableEndHash> planned_{};
  Ports ports_{};
};

}  // namespace cupel::inventory
