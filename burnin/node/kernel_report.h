#pragma once
// What cupel-node's rows of kernel messages become: numbers of parts. Of a watch and of the
// readings of the kernel's log alike. Pure.
#include <array>

#include "burnin/node/node_report.h"

namespace cupel::burnin {

inline constexpr std::array<std::string_view, 24> kKernelMeasures{"kernel.xid",
                                                                  "kernel.xid.count",
                                                                  "kernel.sxid",
                                                                  "kernel.sxid.count",
                                                                  "kernel.gpu",
                                                                  "kernel.gpu.reset",
                                                                  "kernel.mce",
                                                                  "kernel.edac.uncorrected",
                                                                  "kernel.edac.corrected",
                                                                  "kernel.aer.uncorrected",
                                                                  "kernel.aer.corrected",
                                                                  "kernel.pcie",
                                                                  "kernel.nvme",
                                                                  "kernel.disk",
                                                                  "kernel.mlx5",
                                                                  "kernel.link",
                                                                  "kernel.oom",
                                                                  "kernel.hang",
                                                                  "kernel.net",
                                                                  "kernel.iommu",
                                                                  "kernel.nmi",
                                                                  "kernel.thermal",
                                                                  "first.kernel.*",
                                                                  "first.kernel.*.*"};

/// How many messages of each kind, of the node and of each part that has some. A `row` has "class",
/// "weight", "count", and "part" and "detail" where they are known.
void add_kernel_messages(std::span<const json::value> rows, const Names& names, Findings& findings);

/// Of each GPU in `hello`'s "places" the code of its first serious Xid in the order of the rows, 0
/// where it had none; of switches those that had one.
void add_kernel_xids(std::span<const json::value> rows, const json::value& hello,
                     const Names& names, Findings& findings);

/// When each kind of message first came, of each part: "first.kernel.xid.79". `clock`: the key of a
/// row's time, in seconds. Rows without a time, or without a part, say nothing of the order. All
/// times are of one clock: not for rows of two boots.
void add_first_messages(std::span<const json::value> rows, std::string_view clock,
                        const Names& names, Findings& findings);

/// "gpu3" and the like, with the addresses at which `hello` found them.
std::map<std::string, std::string> places_of(const json::value& hello);

}  // namespace cupel::burnin
