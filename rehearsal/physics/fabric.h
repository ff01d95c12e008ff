#pragma once
// The InfiniBand fabric of a rack, as it is cabled: rails, leaves, spines, and the links between
// them. A port's state and counters are functions of time; a rate is that of the slowest part on
// the path. Streams do not crowd each other out. Not the tools that print it (ibstat, perfquery,
// ib_write_bw).
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rehearsal/clock.h"
#include "rehearsal/hardware.h"
#include "rehearsal/physics/cabling.h"
#include "rehearsal/physics/event_count.h"

namespace cupel::rehearsal {

/// PortInfo.PortState and PortPhysicalState. Source: InfiniBand Architecture Specification, volume
/// 1, 14.2.5.6.
enum class PortState : std::uint8_t { down = 1, initialize = 2, armed = 3, active = 4 };
enum class PhysicalState : std::uint8_t {
  sleep = 1,
  polling = 2,
  disabled = 3,
  training = 4,
  link_up = 5,
  recovery = 6,
};

/// As perfquery -x and sysfs count. What tests of bandwidth send is not among it: data of HCAs
/// stays 0. Ports of switches count it (SwitchPort).
struct PortCounters {
  std::uint64_t symbol_errors = 0, link_recoveries = 0, link_downed = 0;
  std::uint64_t receive_errors = 0, remote_physical_errors = 0, transmit_discards = 0;
  std::uint64_t local_integrity_errors = 0, buffer_overruns = 0, vl15_dropped = 0;
  std::uint64_t transmit_wait = 0;
  std::uint64_t sequence_naks = 0,
                out_of_order = 0;  // of flows: at their sender, at their receiver
  std::uint64_t transmit_data = 0, receive_data = 0, transmit_packets = 0, receive_packets = 0;
  friend bool operator==(const PortCounters&, const PortCounters&) = default;
};

struct PortReading {
  PortState state = PortState::down;
  PhysicalState physical = PhysicalState::polling;
  double gbit = 0;      // of the whole link: 400
  std::string speed{};  // "NDR"
  int width = 4;
  std::uint16_t lid = 0, sm_lid = 0;
  std::string guid{};  // as sysfs prints it
  std::string link_layer = "InfiniBand";
  std::string cable{};  // what is printed on it: where it should go
  std::string peer{};   // switch at the other end, "leaf1-r6"; empty: no link
  std::string peer_guid{};
  std::uint16_t peer_lid = 0;
  int peer_port = 0;
  PortCounters counters{};
};

/// What a port of a switch has sent and received, in units of 4 bytes.
struct SwitchPort {
  std::uint64_t sent = 0, received = 0;
  friend bool operator==(const SwitchPort&, const SwitchPort&) = default;
};

/// A switch as a discovery sees it, with its links that are up.
struct SeenSwitch {
  struct Link {
    int port = 0;
    bool to_switch = false;
    std::string guid{}, name{};  // of what is at the other end: "spine1", "v01-n01 mlx5_0"
    int far_port = 1;
    std::uint16_t lid = 0;  // of it
    std::string speed{};
    int width = 4;
  };
  std::string name{}, guid{};
  std::uint16_t lid = 0;
  std::vector<Link> links{};
};

class Fabric {
 public:
  Fabric(FabricPlan plan, std::uint64_t seed);

  // Events. Time never goes back.
  /// What is wrong now with that node's HCAs, their cables, leaf ports and uplinks.
  void set_faults(const std::string& node, const std::vector<Fault>& faults, VirtualTime at);
  /// A machine that is off has no link.
  void set_power(const std::string& node, bool on, VirtualTime at);
  /// A stream between them ran so long. What was lost on the way was sent again.
  void stream(std::string_view node, std::string_view adapter, std::string_view other,
              std::string_view other_adapter, VirtualTime length);

  /// So much data went from one to the other: the ports of the switches on its way count it. With
  /// adaptive routing each uplink takes an equal share.
  void carry(std::string_view node, std::string_view adapter, std::string_view other,
             std::string_view other_adapter, double bytes);

  const FabricPlan& plan() const { return plan_; }

  /// Nothing where there is no such port.
  std::optional<PortReading> port(std::string_view node, std::string_view adapter,
                                  VirtualTime at) const;
  /// All switches that are connected with that HCA's; empty where it has no link.
  std::vector<SeenSwitch> discover(std::string_view node, std::string_view adapter) const;
  /// Of a switch that this HCA reaches, by its LID; nothing where it reaches none of that LID, or
  /// no cable ends at that port.
  std::optional<SwitchPort> switch_port(std::string_view node, std::string_view adapter,
                                        std::uint16_t lid, int port) const;
  /// What a stream from one to the other gets now: the slowest part of the path, less what faults
  /// take, of the link's rate (not of a message's payload). 0 where there is no path. Streams to
  /// the same port take the same uplink and spine, as static LID routing has it; with adaptive
  /// routing a stream takes an equal share of all uplinks.
  double gbit_between(std::string_view node, std::string_view adapter, std::string_view other,
                      std::string_view other_adapter, VirtualTime at) const;
  /// Names of the links crossed, in order; empty where there is no path: "v01-n01/mlx5_0",
  /// "leaf1-r1/spine3", "leaf1-r5/spine3", "v01-n02/mlx5_4"; "leaf1-r1/spine3#2" is the second of
  /// parallel uplinks. Those of static routing.
  std::vector<std::string> path(std::string_view node, std::string_view adapter,
                                std::string_view other, std::string_view other_adapter) const;

 private:
  struct Port {
    std::string node, name, guid;
    double gbit = 400, spread = 1;
    LeafPort planned{};
    std::uint16_t lid = 0;

    // What is wrong now.
    double now_gbit = 400;
    double out = 1, in = 1;  // of its rate, what is left each way
    bool down = false, ethernet = false;
    bool blocked = false;  // up, and nothing gets through
    LeafPort cabled{};     // where its cable is in truth
    double symbols_an_hour = 0, receive_an_hour = 0;
    double lost_out = 0, lost_in = 0;  // packets a minute, of each stream that way

    // Counted until the last event.
    Exposure symbols{}, receives{};
    double out_losses = 0, in_losses = 0;  // exposure of streams so far
    std::uint64_t sequence_naks = 0, out_of_order = 0;
    std::uint64_t downed = 0;
    bool was_up = false;
  };
  const Port* find(std::string_view node, std::string_view adapter) const;
  std::optional<std::size_t> index_of(std::string_view node, std::string_view adapter) const;
  bool up(const Port& port) const;
  std::string guid_of(std::size_t number) const;
  double between(const Port& from, const Port& to) const;
  double of_pair(const Port& from, const Port& to) const;
  std::optional<double> of_switches(const Port& from, const Port& to) const;
  std::vector<std::string> links(const Port& from, const Port& to) const;
  void plant(const std::string& node, const Fault& fault);
  void ail(Port& port, const Fault& fault);
  void ail_switches(const Port& port, const Fault& fault);
  void recable(Port& port, const Fault& fault);
  void settle(VirtualTime at);
  void count(Port& port, VirtualTime at);
  void add_ports();
  int leaf_port(std::size_t leaf, std::size_t uplink) const;
  void count_uplink(std::size_t leaf, std::size_t uplink, std::uint64_t words, bool goes_up);

  FabricPlan plan_;
  Cabling cabling_;
  SwitchCondition condition_{};
  std::uint64_t seed_;
  std::vector<Port> ports_;
  std::map<std::string, std::size_t, std::less<>> index_;  // by "node/adapter"
  std::map<std::string, std::vector<Fault>, std::less<>> faults_;
  std::map<std::string, bool, std::less<>> on_;
  std::map<std::pair<std::size_t, std::size_t>, double> pairs_{};  // of two ports: what is left
  std::map<std::pair<std::size_t, int>, SwitchPort> traffic_{};    // by switch and port
};

}  // namespace cupel::rehearsal
