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
    MeasureRow{"roce.hcas", "count", "HCAs whose port is Ethernet", Better::more},
    MeasureRow{"roce.gid", "", "index of the first GID of RoCE v2 with an IPv4 address"},
    MeasureRow{"roce.mtu", "", "MTU of the HCA's network interface, in bytes"},
    MeasureRow{"roce.tclass", "",
               "traffic class that the driver puts on all RoCE, where one is set"},
    MeasureRow{"roce.tos", "", "type of service of connections by rdma_cm"},
    MeasureRow{"roce.dscp", "", "DSCP of the traffic class: a quarter of it"},
    MeasureRow{"roce.trust", "", "1: the port sorts packets by DSCP, 0: by VLAN priority"},
    MeasureRow{"roce.pfc.*", "", "1: priority flow control is on for that priority"},
    MeasureRow{"roce.ecn.*", "", "1: ECN is on for that priority, at the sender and the receiver"},
    MeasureRow{"fabric.cables", "count", "cables of the node that were compared with the plan",
               Better::more},
    MeasureRow{
        "fabric.cable.wrong", "count",
        "1: the cable is not in its port, has no link, or fewer lanes or less speed than planned",
        Better::less},
    MeasureRow{"fabric.flows", "count", "flows of the node that were measured", Better::more},
    MeasureRow{"fabric.link.bandwidth", "Gb/s", "the best flow over the HCA's link", Better::more},
    MeasureRow{"fabric.link.latency", "us",
               "typical time of a small message one way, from host memory, with the best partner",
               Better::less},
    MeasureRow{"fabric.link.lag", "%",
               "how much longer these take than usual with every partner; 0 within the fleet's own "
               "noise",
               Better::less},
    MeasureRow{"fabric.link.retransmits", "count",
               "packets that were sent again on the flow over the HCA's link that lost fewest, of "
               "the worse direction; 0 where a flow each way lost none",
               Better::less},
    MeasureRow{"fabric.link.loss", "%",
               "what the HCA's link (HCA, cable or leaf port) loses of the usual rate; 0 where it "
               "is cleared",
               Better::less},
    MeasureRow{"fabric.node.loss", "%", "the same of all links of the node together", Better::less},
    MeasureRow{"fabric.switch.loss", "%",
               "the same of a leaf, an uplink or a spine, on all nodes behind it", Better::less},
    MeasureRow{
        "fabric.undecided", "count",
        "1: the part is suspected, and no measurement tells it from another one; of `flows`: "
        "some of the node are slow, and no part explains it; of `across`: all flows that leave the "
        "leaf are slower than those inside; of `unmeasured`: perftest did not come so far",
        Better::less, true},
    MeasureRow{"nccl.groups", "count", "collectives over several nodes that came to their end",
               Better::more},
    MeasureRow{"nccl.absent", "count",
               "1: the others waited for the node's ranks, which did not come or did not go on",
               Better::less},
    MeasureRow{"nccl.errors", "errors", "results of the node's ranks that are wrong", Better::less},
    MeasureRow{"nccl.lag", "%",
               "how much longer the node's slowest GPU takes for its own work than the middle one",
               Better::less},
    MeasureRow{"nccl.loss", "%",
               "what the node's best group loses of what groups of its size usually reach",
               Better::less},
    MeasureRow{"nccl.tcp", "count",
               "channels to other nodes that NCCL runs over TCP, of a node that has HCAs",
               Better::less},
    MeasureRow{
        "nccl.slow", "%",
        "what NCCL loses over the node, found by halves of the nodes where their links are well",
        Better::less},
    MeasureRow{
        "nccl.undecided", "count",
        "1: it is slow with both partners, and each of them with another one too; no half "
        "of the nodes tells it from others; it waited for a node that is named; of `fabric`: "
        "what joins it with others is slow",
        Better::less, true},
    MeasureRow{"nccl.train.step", "s", "of training over several nodes, of all ranks together",
               Better::less},
    MeasureRow{"nccl.train.tokens", "tokens/s", "of the same", Better::more},
    MeasureRow{"nccl.train.lag", "%",
               "how much longer the GPU's own part of a step takes than the middle GPU's",
               Better::less},
    MeasureRow{"nccl.*.busbw", "GB/s",
               "bus bandwidth over several nodes, at the largest size, of the slowest rank",
               Better::more},
    MeasureRow{"nccl.*.latency", "us", "of the operation at its smallest size", Better::less},
    MeasureRow{"nccl.*.published", "%",
               "the bus bandwidth as a share of what others have published of as many nodes"},
};

}  // namespace

std::span<const MeasureRow> network_measure_rows() { return kNetworkMeasures; }

}  // namespace cupel::burnin
