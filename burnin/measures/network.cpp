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
    MeasureRow{"fabric.flows", "count", "flows of the node that were measured", Better::more},
    MeasureRow{"fabric.link.bandwidth", "Gb/s", "the best flow over the HCA's link", Better::more},
    MeasureRow{"fabric.link.loss", "%",
               "what the HCA's link (HCA, cable or leaf port) loses of the usual rate; 0 where it "
               "is cleared",
               Better::less},
    MeasureRow{"fabric.node.loss", "%", "the same of all links of the node together", Better::less},
    MeasureRow{"fabric.switch.loss", "%", "the same of a leaf, an uplink or a spine", Better::less},
};

}  // namespace

std::span<const MeasureRow> network_measure_rows() { return kNetworkMeasures; }

}  // namespace cupel::burnin
