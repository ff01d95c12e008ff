#include "burnin/consequence_rules.h"

#include "burnin/common_faults.h"

namespace cupel::burnin {
namespace {

using Rules = std::vector<ConsequenceRule>;

const Words kXids{"gpu.xid", "kernel.xid"};
const Words kSxids{"nvswitch.sxid", "kernel.sxid"};
const Words kRates{"gemm.*.rate", "gemm.below_best", "gemm.spread",
                   "hbm.copy",    "hbm.below_best",  "gpuburn.tensor.rate"};
/// Of one GPU, with its partners.
const Words kPartnerRates{"p2p.bandwidth", "p2p.sm.bandwidth", "p2p.all.*", "p2p.both"};
const Words kPairRates{"p2p.bandwidth", "p2p.read", "p2p.pair.below_best"};
const Words kBusRates{"collective.*.busbw"};
const Words kLinkErrors{"nvlink.crc_errors", "nvlink.recoveries", "nvlink.recoveries.new",
                        "nvlink.recoveries.failed.new"};
/// Whatever tells of a GPU's own links.
const Words kOwnLinks{"nvlink.active",
                      "nvlink.crc_errors*",
                      "nvlink.data_errors*",
                      "nvlink.replays*",
                      "nvlink.recoveries*",
                      "nvlink.symbol_errors*",
                      "nvlink.effective_errors*",
                      "nvlink.packet_errors*",
                      "nvlink.ber.*"};
/// What programs say where the driver gives them no GPU at all.
const Words kNoGpuAtAll{"cudaError", "(cuda)", "nvidia-smi", "the load ended early"};

CauseKind gpus(Words criteria, Sourced reported = Sourced::anything,
               std::vector<double> values = {}) {
  return {std::move(criteria), "gpu*", reported, std::move(values), {}};
}
CauseKind numbers(Words criteria, std::string_view part = "gpu*") {
  return {std::move(criteria), part, Sourced::a_number, {}, {}};
}
CauseKind whole(Words criteria, Sourced reported = Sourced::anything) {
  return {std::move(criteria), "", reported, {}, {}};
}
CauseKind stages_without_gpus() {
  return {{"stage *", "step *"}, "", Sourced::anything, {}, kNoGpuAtAll};
}

void same_part(Rules& rules, CauseKind cause, CauseKind effect) {
  rules.push_back({.cause = std::move(cause), .effect = std::move(effect)});
}
void in_group(Rules& rules, CauseKind cause, CauseKind effect) {
  rules.push_back({.cause = std::move(cause), .effect = std::move(effect), .link = Link::group});
}

/// Numbers of one part, of which each explains those behind it, and itself where it was seen twice.
void ladder(Rules& rules, const Words& criteria, std::string_view part = "gpu*") {
  for (auto rest = criteria; !rest.empty(); rest.erase(rest.begin()))
    same_part(rules, numbers({rest.front()}, part), numbers(rest, part));
}

CauseKind link_xids() {
  return gpus(kXids, Sourced::a_number, {kNvlinkXids.begin(), kNvlinkXids.end()});
}
CauseKind missing_gpu() { return gpus({"audit: missing"}); }
/// NVIDIA Xid catalogue, 79: the GPU has fallen off the bus.
CauseKind lost_gpu() { return gpus(kXids, Sourced::a_number, {79}); }
CauseKind silent_gpu() { return gpus({"gpu.responsive"}, Sourced::a_number, {0}); }
CauseKind divided_gpu() { return numbers({"gpu.mig"}); }

/// Of a part that is not there nothing can be measured, and whatever was before was its end.
void add_missing_parts(Rules& rules) {
  same_part(rules, {.criteria = {"audit: missing"}}, {});
  in_group(rules, {.criteria = {"audit: missing", "audit: wrong size"}, .part = "dimm*"},
           whole({"memory.total"}, Sourced::a_number));
  // What the system sees of a socket less is no setting.
  for (const auto seen : {"cpu.threads", "numa.nodes"})
    in_group(rules, {.criteria = {"audit: missing"}, .part = "cpu*"},
             {.criteria = {"same value in the run"}, .part = seen});
  for (const auto criterion : {"audit: missing", "audit: unhealthy", "psu.lost"}) {
    const CauseKind supply{.criteria = {criterion}, .part = "psu*"};
    same_part(rules, supply, {.criteria = {"psu.*"}, .part = "psu*"});
    in_group(rules, supply, whole({"psu.redundant", "psu.share.spread"}));
  }
}

/// What the BMC calls sick, its log tells of as well.
void add_log_entries(Rules& rules) {
  same_part(rules, {.criteria = {"audit: unhealthy", "psu.lost"}}, {.criteria = {"sel.new.*"}});
}

/// A clock that nothing sets runs away.
void add_clocks(Rules& rules) {
  in_group(rules,
           {.criteria = {"time.service"}, .part = "time service", .reported = Sourced::a_number},
           whole({"time.synchronised"}, Sourced::a_number));
}

/// A machine that restarted by itself: its stage is gone, and so is what the kernel logged before.
void add_restarts(Rules& rules) {
  const auto restarted = whole({"node.restarted"}, Sourced::a_number);
  in_group(rules, restarted, whole({"kernel_log.complete"}, Sourced::a_number));
  in_group(rules, restarted, {{"stage *"}, "", Sourced::anything, {}, {"gone from the node"}});
}

/// A GPU that fell off its bus: the driver and its tools stop there, and the switches see its links
/// go down. Links that are down elsewhere, too, are a switch's own.
void add_lost_gpus(Rules& rules) {
  for (const auto& lost : {lost_gpu(), silent_gpu()}) {
    same_part(rules, lost, gpus({}));
    in_group(rules, lost, gpus({"nvlink.active"}, Sourced::nothing));
    in_group(rules, lost, link_xids());
    rules.push_back({.cause = lost,
                     .effect = {kSxids, "nvswitch*", Sourced::a_number, {20034}, {}},
                     .link = Link::group,
                     .unless = numbers({"nvlink.active"})});
    in_group(rules, lost, stages_without_gpus());
    in_group(rules, lost, whole({"burn.complete"}));
  }
}

/// What counts GPUs has as many fewer as there are that can't be counted, and no other number.
void add_counts(Rules& rules) {
  const std::vector<CauseKind> gone{missing_gpu(), lost_gpu(), silent_gpu()};
  auto unused = gone;
  unused.push_back(divided_gpu());
  for (const auto& cause : unused) {
    rules.push_back({.cause = cause,
                     .effect = whole({"gpu.count"}, Sourced::a_number),
                     .link = Link::group,
                     .for_each = 1,
                     .counted = gone});
    rules.push_back({.cause = cause,
                     .effect = whole({"burn.gpus"}, Sourced::a_number),
                     .link = Link::group,
                     .for_each = 1,
                     .counted = unused});
    // To and from each of the others.
    rules.push_back({.cause = cause,
                     .effect = numbers({"p2p.pairs"}),
                     .link = Link::group,
                     .for_each = 2,
                     .counted = unused});
  }
  // One with MIG takes part in nothing.
  same_part(rules, divided_gpu(), gpus({}, Sourced::missing));
  same_part(rules, divided_gpu(), numbers({"gpu.power.below_best"}));
}

/// Programs of the node without which no GPU works.
void add_driver(Rules& rules) {
  const CauseKind mismatch = numbers({"driver.mismatch"}, "*");
  CauseKind not_measured{.reported = Sourced::missing};
  for (const auto part : {"gpu*", "fabric*"}) {
    not_measured.part = part;
    in_group(rules, mismatch, not_measured);
  }
  in_group(rules, mismatch, whole({"gpu.count"}, Sourced::nothing));
  in_group(rules, mismatch, whole({"gpu.fabric.domains"}, Sourced::missing));
  for (const auto& cause : {mismatch, numbers({"fabricmanager.*"}, "fabric*")}) {
    in_group(rules, cause, gpus({"gpu.fabric.ready"}));
    in_group(rules, cause, stages_without_gpus());
  }
  in_group(rules, gpus({"gpu.idle"}), whole({"burn.complete"}));
}

/// What is hot slows down, and what is slowed down is slow.
void add_heat(Rules& rules) {
  const Words slowdown{"gpu.throttled", "gpu.throttle.thermal", "gpu.throttle.power_brake"};
  Words chain{"gpu.temperature", "thermal.margin", "thermal.above_neighbours", "thermal.spread"};
  const auto heat = static_cast<std::ptrdiff_t>(chain.size());
  chain.insert(chain.end(), slowdown.begin(), slowdown.end());
  chain.emplace_back("gpu.power.below_best");
  chain.insert(chain.end(), kRates.begin(), kRates.end());
  ladder(rules, chain);
  Words capped{chain.begin() + heat, chain.end()};
  capped.emplace_back("gpu.power.limit");  // reported by each stage
  same_part(rules, numbers({"gpu.power.limit"}), numbers(capped));
  for (const auto& slow : {numbers({"gpu.power.limit"}), numbers(slowdown)})
    in_group(rules, slow, whole({"train.jitter"}, Sourced::a_number));
  ladder(rules, {"cpu.throttled", "cpu.frequency.lowest"}, "cpu*");
  // Beside GPUs that do less a healthy one is hot.
  const auto cold = numbers({"gpu.power.limit", "gpu.power.below_best", "gemm.*.rate"});
  rules.push_back({.cause = cold,
                   .effect = numbers({"thermal.above_neighbours"}),
                   .link = Link::group,
                   .beside = ComparedWith::most,
                   .counted = {cold}});
  rules.push_back({.cause = cold,
                   .effect = numbers({"thermal.spread"}),
                   .link = Link::group,
                   .beside = ComparedWith::any,
                   .counted = {cold}});
}

/// What no GPU does alone.
void add_common_faults(Rules& rules, const CauseKind& bad_switch) {
  const auto of = [](Words criteria, std::string_view part) {
    return CauseKind{std::move(criteria), part, Sourced::anything, {}, {}};
  };
  const auto xids = of(kXids, kNvlinkDomain), lost = of({"nvlink.active"}, kNvlinkDomain),
             slow = of(kPartnerRates, kLinksOfAllGpus);
  in_group(rules, xids, lost);
  for (const auto& cause : {bad_switch, xids, lost}) in_group(rules, cause, slow);
  for (const auto& cause : {xids, lost}) in_group(rules, cause, numbers(kPartnerRates));
  for (const auto& cause : {xids, lost, slow})
    in_group(rules, cause, whole(kBusRates, Sourced::a_number));
}

void add_nvlinks(Rules& rules) {
  const CauseKind bad_switch = numbers(kSxids, "nvswitch*"), links = numbers({"nvlink.active"}),
                  link_xid = link_xids();
  add_common_faults(rules, bad_switch);
  in_group(rules, gpus(kXids, Sourced::a_number, {kLinkEventXid}),
           gpus(kXids, Sourced::a_number, {kLostRequestXid}));
  ladder(rules, kSxids, "nvswitch*");
  const auto not_joined = numbers({"gpu.fabric.joined"});
  same_part(rules, not_joined, numbers({"gpu.fabric.ready"}));
  in_group(rules, not_joined, whole({"gpu.fabric.domains"}, Sourced::missing));
  // A switch takes the same links from every GPU: one that lacks more has a fault of its own, and
  // were it most of them.
  rules.push_back({.cause = bad_switch,
                   .effect = links,
                   .link = Link::group,
                   .in_common = true,
                   .highest = true});
  rules.push_back(
      {.cause = bad_switch, .effect = link_xid, .link = Link::group, .in_common = true});
  Words chain{"nvlink.active"};
  chain.insert(chain.end(), kLinkErrors.begin(), kLinkErrors.end());
  // A GPU that says more than the others of a switch's fault has one of its own.
  rules.push_back({.cause = numbers(chain), .effect = link_xid, .unless = bad_switch});
  chain.insert(chain.end(), kPairRates.begin(), kPairRates.end());
  ladder(rules, chain);
  // Without a partner that is well, a GPU is as slow as its partners.
  const std::vector<CauseKind> sick_links{numbers(kOwnLinks), link_xid};
  for (const auto& sick : sick_links)
    rules.push_back({.cause = sick,
                     .effect = numbers(kPartnerRates),
                     .link = Link::group,
                     .beside = ComparedWith::partners,
                     .counted = sick_links});
  for (const auto& sick : {links, numbers(kLinkErrors), numbers({"p2p.bandwidth"})})
    in_group(rules, sick, whole(kBusRates, Sourced::a_number));
}

void add_pcie(Rules& rules) {
  const Words chain{"gpu.pcie.width", "gpu.pcie.gen", "pcie.narrow",    "pcie.slow",
                    "pcie.h2d",       "pcie.d2h",     "pcie.below_best"};
  for (const auto part : {"gpu*", "mlx5_*"}) ladder(rules, chain, part);
}

void add_memory(Rules& rules) {
  // What has to be replaced is not explained by what only has to be reset.
  const Words gpu{"gpu.ecc.uncorrected", "gpu.ecc.uncorrected.new", "gpu.remap.pending",
                  "gpu.reset_required"};
  for (const auto worse : {"gpu.remap.failed", "gpu.ecc.sram_threshold"})
    same_part(rules, numbers({worse}), numbers(gpu));
  ladder(rules, gpu);
  // NVIDIA Xid catalogue: errors of memory, rows remapped, errors contained or not.
  same_part(
      rules,
      numbers({"gpu.remap.failed", "gpu.ecc.sram_threshold", "gpu.ecc.*", "gpu.remap.pending"}),
      gpus(kXids, Sourced::a_number, {48, 63, 64, 94, 95}));
  ladder(rules, {"gpu.xid", "kernel.xid", "gpu.reset_required", "gpu.reset.needed"});
  const Words dimm{"edac.uncorrected", "edac.uncorrected.new", "memory.uncorrected",
                   "edac.corrected", "memory.corrected"};
  ladder(rules, dimm, "dimm*");
  in_group(
      rules, numbers({"edac.uncorrected", "memory.uncorrected"}, "dimm*"),
      whole({"edac.uncorrected", "edac.uncorrected.new", "memory.uncorrected"}, Sourced::a_number));
}

void add_wrong_results(Rules& rules) {
  const Words chain{"gemm.errors",    "hbm.errors",        "gpuburn.errors",
                    "thermal.faults", "collective.errors", "train.loss.differs"};
  ladder(rules, chain);
  in_group(rules, numbers(Words{chain.begin(), chain.begin() + 4}),
           whole({"collective.errors", "train.loss.differs"}, Sourced::a_number));
}

void add_adapters(Rules& rules) {
  // A port that keeps going down may be down when its rate is read.
  ladder(rules,
         {"ib.port.downed", "ib.port.downed.new", "ib.port.rate", "ib.port.symbol_errors",
          "ib.port.symbol_errors.new", "ib.port.receive_errors.new", "fabric.link.retransmits"},
         "mlx5_*");
}

/// What is slow by comparison is slow by its number too, and may lose packets.
void add_fabric(Rules& rules) {
  const auto also = numbers({"fabric.link.bandwidth", "fabric.link.retransmits"}, "mlx5_*");
  same_part(rules, numbers({"fabric.link.loss"}, "mlx5_*"), also);
  for (const auto& cause :
       {whole({"fabric.node.loss"}, Sourced::a_number), numbers({"fabric.switch.loss"}, "port:*")})
    in_group(rules, cause, also);
}

}  // namespace

std::vector<ConsequenceRule> consequence_rules() {
  Rules rules;
  add_missing_parts(rules);
  add_log_entries(rules);
  add_clocks(rules);
  add_restarts(rules);
  add_lost_gpus(rules);
  add_counts(rules);
  add_driver(rules);
  add_heat(rules);
  add_nvlinks(rules);
  add_pcie(rules);
  add_memory(rules);
  add_wrong_results(rules);
  add_adapters(rules);
  add_fabric(rules);
  return rules;
}

}  // namespace cupel::burnin
