#pragma once
// A virtual rack as somebody wrote it down: how many nodes, of which kind, at which addresses, what
// is wrong with them. Not the running rack: virtual_rack.h.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/fabric_site.h"
#include "inventory/fwd.h"
#include "inventory/problem.h"
#include "inventory/profile.h"
#include "rehearsal/node_spec.h"
#include "rehearsal/physics/random.h"

namespace cupel::rehearsal {

struct RackSpec {
  std::string name;
  std::string profile;
  BootTimes boot{};
  std::vector<NodeSpec> nodes{};
  std::map<std::string, inventory::Profile> profiles{};  // that nodes name
  std::optional<double> speed{};                         // what the file asks for
  std::optional<std::uint64_t> seed{};
  SpreadShape spread = SpreadShape::normal;  // of healthy parts
  int feeds = 1;  // of each node: where there are two, each has a PDU that switches its outlets
  /// The cable plan of a rack that has one; a site has its own.
  std::optional<inventory::FabricSite> fabric{};
  bool adaptive_routing = false;
  /// The site that it stands for; nullptr: one rack for all nodes, with breakers of two nodes each.
  std::shared_ptr<const inventory::Inventory> site{};

  const std::string& profile_of(const NodeSpec& node) const {
    return node.profile.empty() ? profile : node.profile;
  }
};

/// All nodes of a rack live on one loop, in one process (tests/bench/rack_bench.cpp).
inline constexpr std::size_t kMostNodesOfARack = 1000;

/// A rack from YAML, with a scenario's keys (scenario.h) in the same file. Every error at once,
/// with its place and the word that was most likely meant; on any error, nothing. Profiles come
/// from `profiles/` beside `file`, or are shipped ones: parts are checked against them. Addresses
/// are loopback ones only, so that no rack is ever open to a network.
std::optional<RackSpec> parse_rack(std::string_view text, const std::string& file,
                                   std::vector<inventory::Problem>& problems);

}  // namespace cupel::rehearsal
