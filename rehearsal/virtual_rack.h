#pragma once
// A running rack: for each node a machine, a BMC behind HTTPS and IPMI, and Linux behind SSH, all
// on one loop in a thread of its own. Whoever drives it sees addresses and keys, as with a real
// one.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "rehearsal/machine.h"
#include "rehearsal/rack_doors.h"
#include "rehearsal/rack_spec.h"

namespace cupel::rehearsal {

struct RackOptions {
  double speed = 60;             // so many times faster than life; more than 0
  std::uint64_t seed = 1;        // of serial numbers and natural spread
  std::filesystem::path folder;  // keys, certificates and the BMCs' passwords; made where it is not
  std::string slurm{};           // SLURM_CONF of a Slurm that knows the nodes; empty: none
  /// Where the controller serves what machines boot, "127.0.0.1:8081", from the folder's `images`.
  /// Then no machine has an operating system at first. Empty: all have one.
  std::string boot{};
};

/// How fast the rack's time has passed, on average, and how fast it should.
struct Pace {
  double speed = 0;
  double expected = 0;
};

class RackSite;

class VirtualRack {
 public:
  /// Every BMC answers when this returns, and every machine is off. Keys and certificates that lie
  /// in the folder are used again. One rack for each folder at a time. Raises the process's soft
  /// limit of open files where it is too low. Errors: kInvalid (options, a damaged key, a profile
  /// that is not in the spec, too few files may be open), kStorage, kConflict (a port is taken),
  /// kFailed.
  static Result<std::unique_ptr<VirtualRack>> start(const RackSpec& spec,
                                                    const RackOptions& options);
  /// The same where every node that names no profile has this one.
  static Result<std::unique_ptr<VirtualRack>> start(const RackSpec& spec,
                                                    const inventory::Profile& profile,
                                                    const RackOptions& options);
  VirtualRack(const VirtualRack&) = delete;
  VirtualRack& operator=(const VirtualRack&) = delete;
  ~VirtualRack();

  /// An inventory of this rack, with the ports that it got, for inventory/load.h: certificates and
  /// host keys pinned, secrets by reference. It names the profile, which must be a shipped one or
  /// lie in `profiles/` beside the inventory.
  std::string inventory_yaml() const;

  /// The UDP port of a node's IPMI, at its BMC's address. 0: there is no such node.
  std::uint16_t ipmi_port(const std::string& node) const;

  /// How each node is reached, in the spec's order.
  std::vector<NodeDoors> doors() const;

  /// A node's BMC answers otherwise from now on. False where there is no such node, or the rack has
  /// stopped.
  bool misbehave(const std::string& node, Rule rule);
  /// All its rules are forgotten. False as above.
  bool behave(const std::string& node);

  /// Slower than it was asked for where this machine could not keep up. When the rack has stopped.
  Pace pace() const;

  /// Runs `act` on the rack's loop, soon. False where there is no such node, or the rack has
  /// stopped.
  bool post(const std::string& node, std::function<void(Machine&)> act);
  /// The same for what the machines share: breakers, air, cables (physics/rack_site.h).
  bool on_site(std::function<void(RackSite&)> act);

  /// Cuts every connection and ends every process, then returns. Idempotent. Not from within
  /// post().
  void stop();

 private:
  struct Impl;
  explicit VirtualRack(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cupel::rehearsal
