#include "burnin/agent/node/watch/reading.h"

#include <algorithm>

namespace cupel::agent {
namespace {

constexpr std::array kQuantities{
    Quantity{"answers", ""},
    Quantity{"power", "W"},
    Quantity{"temperature", "C"},
    Quantity{"temperature.memory", "C"},
    Quantity{"clock.sm", "MHz"},
    Quantity{"clock.memory", "MHz"},
    Quantity{"busy", "%"},
    Quantity{"busy.memory", "%"},
    Quantity{"throttle", ""},
    Quantity{"clock", "MHz"},
    Quantity{"fan", "rpm"},
    Quantity{"remap.pending", ""},
    Quantity{"remap.failed", ""},
    Quantity{"ecc.corrected", "errors", true},
    Quantity{"ecc.uncorrected", "errors", true},
    Quantity{"ecc.corrected.lifetime", "errors", true},
    Quantity{"ecc.uncorrected.lifetime", "errors", true},
    Quantity{"remap.correctable", "count", true},
    Quantity{"remap.uncorrectable", "count", true},
    Quantity{"pcie.replays", "count", true},
    Quantity{"nvlink.ber.symbol", ""},
    Quantity{"nvlink.ber.effective", ""},
    Quantity{"nvlink.crc", "errors", true},
    Quantity{"nvlink.crc.data", "errors", true},
    Quantity{"nvlink.replays", "count", true},
    Quantity{"nvlink.recoveries", "count", true},
    Quantity{"nvlink.recoveries.failed", "count", true},
    Quantity{"nvlink.errors.symbol", "errors", true},
    Quantity{"nvlink.errors.effective", "errors", true},
    Quantity{"nvlink.errors.received", "errors", true},
    Quantity{"nvlink.errors.malformed", "errors", true},
    Quantity{"nvlink.errors.overrun", "errors", true},
    Quantity{"nvlink.errors.remote", "errors", true},
    Quantity{"nvlink.errors.general", "errors", true},
    Quantity{"nvlink.errors.integrity", "errors", true},
    Quantity{"nvlink.discards", "count", true},
    Quantity{"sent", "bytes", true},
    Quantity{"received", "bytes", true},
    Quantity{"symbol_errors", "errors", true},
    Quantity{"link_downed", "count", true},
    Quantity{"link_recovered", "count", true},
    Quantity{"receive_errors", "errors", true},
    Quantity{"discards", "count", true},
    Quantity{"integrity_errors", "errors", true},
    Quantity{"overruns", "errors", true},
    Quantity{"wait", "count", true},
    Quantity{"uncorrected", "errors", true},
    Quantity{"corrected", "errors", true},
};

}  // namespace

const Quantity* quantity(std::string_view name) {
  const auto* found = std::ranges::find(kQuantities, name, &Quantity::name);
  return found == kQuantities.end() ? nullptr : found;
}

}  // namespace cupel::agent
