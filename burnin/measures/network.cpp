#include <array>

#include "burnin/measures/tables.h"

namespace cupel::burnin {
namespace {

constexpr std::array kNetworkMeasures{
    MeasureRow{"tcp.links", "links", "links between members that were measured", Better::more},
    MeasureRow{"tcp.throughput", "Gb/s", "of one TCP connection, each way", Better::more},
    MeasureRow{"tcp.retransmits", "%", "segments that were sent again, each way", Better::less},
    MeasureRow{"tcp.rtt", "us", "smallest round trip, each way", Better::less},
    MeasureRow{"tcp.refused", "count", "connections without the token"},
};

}  // namespace

std::span<const MeasureRow> network_measure_rows() { return kNetworkMeasures; }

}  // namespace cupel::burnin
