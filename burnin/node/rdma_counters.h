#pragma once
// What mlx5's driver counts of a port's RDMA traffic since it was loaded: packets that were lost
// and sent again, marked, or held back. Reported as "rdma.NAME", and what a run added as
// "rdma.NAME.new" (burnin/gains.h). No limit is known that holds for every network: lossy RoCE
// counts where it is well. What fabric-pairs judges is in burnin/fabric/pair_retransmits.h.
#include <array>
#include <string>
#include <string_view>

#include "burnin/stage.h"

namespace cupel::burnin {

/// Files of ports/N/hw_counters.
/// Source: NVIDIA, "Understanding mlx5 Linux Counters and Status Parameters".
inline constexpr std::array<std::string_view, 7> kRdmaCounters{
    "out_of_sequence",  "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err",
    "roce_adp_retrans", "np_cnp_sent",    "rp_cnp_handled"};

/// PFC pauses that a port received, of all priorities: ethtool's rx_prio*_pause.
inline constexpr std::string_view kPauses = "pauses";

/// Of what `ethtool -S` printed of the HCA's network interface; without a pause counter nothing.
void add_pauses(const std::string& hca, std::string_view counters, Findings& findings);

/// Of the sections "cupel-begin: pauses HCA" in what a script of an earlier version printed.
void add_pauses(std::string_view text, Findings& findings);

}  // namespace cupel::burnin
