#pragma once
// What mlx5's driver counts of a port's RDMA traffic since it was loaded: packets that were lost
// and sent again, marked, or held back. Reported as "rdma.NAME", and what a run added as
// "rdma.NAME.new" (burnin/gains.h). No limit is known that holds for every network: lossy RoCE
// counts where it is well. What fabric-pairs judges is in burnin/fabric/pair_retransmits.h.
#include <array>
#include <string>
#include <string_view>

#include "burnin/node/sysfs.h"
#include "burnin/stage.h"

namespace cupel::burnin {

/// Files of ports/N/hw_counters.
/// Source: NVIDIA, "Understanding mlx5 Linux Counters and Status Parameters".
inline constexpr std::array<std::string_view, 7> kRdmaCounters{
    "out_of_sequence",  "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err",
    "roce_adp_retrans", "np_cnp_sent",    "rp_cnp_handled"};

/// PFC pauses that a port received, of all priorities: ethtool's rx_prio*_pause.
inline constexpr std::string_view kPauses = "pauses";

/// `port`: "ports/1" of the HCA's folder; `name`: of the port as a part. What is absent is not
/// known.
void add_rdma_counters(const std::string& name, const Attributes& hca, const std::string& port,
                       Findings& findings);

/// Of the sections "cupel-begin: pauses HCA" in what a node printed.
void add_pauses(std::string_view text, Findings& findings);

}  // namespace cupel::burnin
