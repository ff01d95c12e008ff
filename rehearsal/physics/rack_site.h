#pragma once
// What the machines of a site share: the air of their racks, the breakers and outlets before them,
// the cables between them. Made from the site's own inventory. The one part of the physics with a
// timer: a breaker trips whether somebody looks or not.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "inventory/fabric.h"
#include "inventory/fwd.h"
#include "rehearsal/machine.h"
#include "rehearsal/physics/power_cords.h"
#include "rehearsal/rack_timer.h"

namespace cupel::rehearsal {

class RackSite {
 public:
  /// Machines that join it must outlive it.
  RackSite(asio::any_io_executor executor, const Clock& clock, const inventory::Inventory& site,
           std::uint64_t seed, bool adaptive_routing = false,
           SpreadShape spread = SpreadShape::normal);
  RackSite(const RackSite&) = delete;
  RackSite& operator=(const RackSite&) = delete;
  ~RackSite();

  /// All together, once; those that the site does not know stand alone.
  void join(const std::vector<Machine*>& machines);

  PowerFeeds& feeds() { return feeds_; }
  const std::shared_ptr<Fabric>& fabric() const { return fabric_; }

  /// Puts a breaker back; its machines have power again, and are off.
  void close(const std::string& breaker);

  /// The outlets of a PDU, as they are.
  const std::vector<PowerOutlet>& outlets(const std::string& pdu) const {
    return cords_.outlets(pdu);
  }
  /// What hangs on the outlet gets its power from elsewhere, or none, at once. Switching it to what
  /// it is does nothing; nor does one that there is not.
  void switch_outlet(const std::string& pdu, std::string_view outlet, bool on);
  /// What is drawn from it, in truth.
  double outlet_watts(const std::string& pdu, const PowerOutlet& outlet) const;

  /// A machine, with its BMC, has lost its power, or has it again.
  std::function<void(Machine& machine, bool powered)> on_power{};

  void stop() { timer_.cancel(); }

 private:
  struct Place {
    std::string rack{};
    double height = 0.3;  // 0 at the bottom of its rack, 1 at its top
  };
  struct Rack {
    std::vector<Machine*> machines{};
    double most_watts = 0, reported_watts = -1;
  };
  void drawn(Machine& machine);
  void blow(Rack& rack);
  void watch();
  void trip();
  void power(const std::vector<std::string>& nodes, bool on);
  void plug(Machine& machine);
  void show_feeds(Machine& machine);

  const Clock& clock_;
  std::uint64_t seed_;
  bool adaptive_routing_;
  SpreadShape spread_;
  std::shared_ptr<const inventory::Fabric> planned_;  // nullptr: the site has no cable plan
  RackTimer timer_;
  PowerFeeds feeds_;
  PowerCords cords_;
  std::map<std::string, Place> places_;
  std::map<std::string, Rack> racks_;
  std::map<std::string, Machine*> machines_;
  std::shared_ptr<Fabric> fabric_;
};

/// The breakers of a site and the nodes on them.
FeedPlan feed_plan(const inventory::Inventory& site);

}  // namespace cupel::rehearsal
