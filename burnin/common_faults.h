#pragma once
// Failures that the GPUs of a node have in common, which make none of them the culprit: NVLink
// errors of most GPUs at once, pairs that are slow with one another whichever they are. Pure.
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "burnin/verdict.h"

namespace cupel::burnin {

/// The part that is named for Xids of most GPUs' links: what these have in common.
inline constexpr std::string_view kNvlinkDomain = "nvlink domain";
/// The part that is named where no GPU has a partner that it is well with.
inline constexpr std::string_view kLinksOfAllGpus = "links of all gpus";

/// Xids of links between GPUs. Source: NVIDIA's Xid catalogue; 144 to 150 are of NVLink 5.
inline constexpr std::array kNvlinkXids{74, 136, 144, 145, 146, 147, 148, 149, 150, 155};
/// One end of a link reports the event, others that their requests over it were lost.
/// Source: NVIDIA/open-gpu-kernel-modules issue 1150: 149 of one GPU, 145 of the others.
inline constexpr int kLinkEventXid = 149, kLostRequestXid = 145;

/// Joins what is no single GPU's into one failure of the node that names its members:
/// - Xids of NVLinks, of three GPUs or more and of most of them, where no number of the GPU's own
///   links explains them; where all GPUs have one, whatever the numbers say. Not where a switch
///   reported an SXid, a GPU was lost or one end reported the event: these explain the others
///   (consequence_rules.h).
/// - links that all GPUs lack alike, three GPUs or more, but for the same exceptions.
/// - rates with partners, errors and refusals of pairs, where all GPUs fail that have no fault of
///   their own, and none has enough partners that are well.
/// `checked`: all criteria of the node. The causes keep their order.
void join_common_faults(std::span<const Checked> checked, std::vector<Cause>& causes);

/// "gpu12"; not "gpu1-gpu2", "gpu at 0000:9b:00.0".
bool is_gpu(std::string_view part);

/// How many GPUs reported this measure of their own; empty: any measure.
std::size_t gpus_measured(std::span<const Checked> checked, std::string_view measure);

/// Whether the rate of a GPU with its partners tells of them alone: `sick` of `gpus` have a fault
/// of their own, and it is none of these. It is the rate with its second best partner, of one or
/// two partners with the better (burn_matrix.cpp).
bool is_limited_by_partners(std::size_t gpus, std::size_t sick);

}  // namespace cupel::burnin
