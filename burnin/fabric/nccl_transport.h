#pragma once
// Which transport carried the bytes between nodes, by NCCL's own log: what was asked for is no
// proof. Pure.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "burnin/fabric/across_report.h"

namespace cupel::burnin::fabric {

/// "NET/IB/GDRDMA: 32 channels, P2P/CUMEM: 48"; empty: NCCL did not say.
std::string transport_words(const AcrossReport& report);

/// How many channels to other nodes go over TCP sockets; nothing: NCCL named none to another node.
std::optional<double> tcp_channels(const AcrossReport& report);

/// True where these variables of NCCL's leave TCP alone: what the site asks for is no fault of a
/// node.
bool asks_for_tcp(const std::map<std::string, std::string>& environment);

/// Nodes whose own environment or nccl.conf(5) leaves TCP alone, where these are three quarters or
/// more of those that reported: then it is the site's choice, and not one node's fault. Else empty.
/// `reports`: of each node; nullptr: it did not report.
std::vector<std::string> set_to_tcp(std::span<const AcrossReport* const> reports,
                                    std::span<const std::string> nodes);

/// "NCCL_IB_GID_INDEX=3 is set on n[1-8], ...": a variable of RoCE where all HCAs are InfiniBand.
/// `reports`: of each node; nullptr: it did not report.
std::vector<std::string> roce_settings_on_infiniband(std::span<const AcrossReport* const> reports,
                                                     std::span<const std::string> nodes);

}  // namespace cupel::burnin::fabric
