#pragma once
// What mlxlink (mstlink) reports of one port: link, BER, counters, cable or transceiver. Pure.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "burnin/fabric/discovery/port_counters.h"

namespace cupel::burnin {

/// A reading of a transceiver with the range that the transceiver itself allows.
struct Ranged {
  double value = 0;
  std::optional<double> low{};
  std::optional<double> high{};
  friend bool operator==(const Ranged&, const Ranged&) = default;
};

struct CableModule {
  std::string type{};  // "Passive copper cable", "Optical Module (separated)"
  std::string vendor{};
  std::string part{};
  std::string serial{};
  std::string firmware{};
  double metres = 0;  // of a cable in one piece; of a transceiver its reach; 0: not reported
  std::optional<Ranged> celsius{};
  std::vector<Ranged> rx_dbm{};  // of each lane; empty where one lane has no reading
  friend bool operator==(const CableModule&, const CableModule&) = default;
};

/// What the tool did not report is empty.
struct MlxlinkReport {
  std::string state{};     // "Active"
  std::string speed{};     // "NDR"; of a port of Ethernet "400G"
  int width = 0;           // lanes
  std::string fec{};       // "Ethernet_Consortium_LL_50G_RS_FEC_PLR -(272,257+1)"
  std::string firmware{};  // of the HCA or the switch
  std::optional<double> minutes_since_clear{};
  std::optional<double> raw_ber{}, effective_ber{}, symbol_ber{};
  std::vector<double> lane_ber{};  // raw; empty where one lane has no reading
  CounterValues counters{};        // "Link Down Counter"
  CableModule module{};
  int opcode = 0;
  std::string recommendation{};
  friend bool operator==(const MlxlinkReport&, const MlxlinkReport&) = default;
};

/// The output of `mlxlink -d DEVICE -m -c` for one port, as text or with --json; colours are
/// dropped. A reading with the range 0 to 0 is none: that is how it reports what a cable lacks.
/// Errors: kNoMeasurement where it could not look or reported no state; kMalformed for JSON that is
/// none, above 1 MiB, and for more than one port.
/// Source: mstflint 4.30, mlxlink; MFT 4.30 to 4.35.
Result<MlxlinkReport> parse_mlxlink(std::string_view text);

}  // namespace cupel::burnin
