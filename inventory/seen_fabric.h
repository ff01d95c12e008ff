#pragma once
// The fabric as tools reported it: devices, links, ports. Plain data, filled by readers
// (burnin/fabric/discovery/), compared with the plan by fabric_audit.h.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace cupel::inventory {

/// At most so many devices and links of one report: three times the largest subnet (IBA volume 1,
/// 4.1.3: 48k unicast LIDs).
inline constexpr std::size_t kMostDevices = 150'000;
inline constexpr std::size_t kMostLinks = 500'000;

struct SeenDevice {
  enum class Kind { switch_device, hca, aggregation } kind = Kind::hca;
  std::uint64_t guid = 0;
  /// Of a switch: its name. Of an HCA: its node; empty where the description names none.
  std::string name{};
  std::string hca{};          // "mlx5_6"
  std::string description{};  // as reported, made printable
  bool listed = false;        // by itself, and not only as somebody's peer
  std::uint32_t type = 0;     // DeviceID: 0x1021 is a ConnectX-7; 0: not reported
  friend bool operator==(const SeenDevice&, const SeenDevice&) = default;
};

/// An index of SeenFabric::devices, and a port of it.
struct SeenEnd {
  std::size_t device = 0;
  int port = 0;
  friend bool operator==(const SeenEnd&, const SeenEnd&) = default;
};

/// A link that is up, reported by one of its ends or by both.
struct SeenLink {
  SeenEnd from;
  SeenEnd to;
  int width = 0;        // lanes; 0: not reported
  std::string speed{};  // of each lane: "NDR"; empty: not reported
  friend bool operator==(const SeenLink&, const SeenLink&) = default;
};

/// A port without a link.
struct SeenDown {
  SeenEnd end;
  std::string state{};  // "Down/Polling"
  friend bool operator==(const SeenDown&, const SeenDown&) = default;
};

struct SeenFabric {
  std::vector<SeenDevice> devices{};
  std::vector<SeenLink> links{};
  std::vector<SeenDown> down{};
  /// What is wrong with the report itself: lines that were not understood, ends that disagree.
  std::vector<std::string> doubts{};
  bool whole = true;  // false: it is cut off, so that what it does not have may be there

  std::size_t count(SeenDevice::Kind kind) const;
};

/// Makes a SeenFabric of what a reader finds, in any order; each device and link once.
class SeenFabricBuilder {
 public:
  using Kind = SeenDevice::Kind;

  /// The device's index. A later call adds what an earlier one did not know.
  std::size_t device(std::uint64_t guid, Kind kind, std::string_view description, bool listed);
  void type(std::size_t device, std::uint32_t id);
  void link(SeenEnd from, SeenEnd to, int width, std::string_view speed);
  void down(SeenEnd end, std::string_view state);
  void doubt(std::string text);
  /// Of reports that list each device by itself: one that is named as a peer alone was cut off.
  void expect_each_listed() { each_listed_ = true; }

  /// Errors: kNoMeasurement where nothing was found or no link: `tool` failed to look, which is
  /// no fabric without errors. kMalformed above the limits.
  Result<SeenFabric> finish(std::string_view tool) &&;

 private:
  void name(SeenDevice& device, std::string_view description);
  /// What the other end of a known link says of its rate.
  void take_other_end(SeenLink& known, int width, std::string_view speed);

  SeenFabric seen_{};
  std::unordered_map<std::uint64_t, std::size_t> devices_{};
  std::unordered_map<std::uint64_t, std::size_t> ends_{};  // of links, by device and port
  bool too_many_ = false, each_listed_ = false;
};

/// "MF0;leaf1-r2:MQM9700/U1" is leaf1-r2; "MF0;core-A:MCS8500/L16/U2", a chip of a director, is
/// core-A/L16/U2.
std::string switch_name(std::string_view description);

/// 16 lower-case digits, as tools print a GUID.
std::string guid_text(std::uint64_t guid);
/// "0xa088c2030001f071", "a088c2030001f071", "a088:c203:0001:f071"; nothing for anything else, or
/// 0.
std::optional<std::uint64_t> guid_of(std::string_view text);

}  // namespace cupel::inventory
