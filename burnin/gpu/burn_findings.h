#pragma once
// From what cupel-burn and the tools beside it said to measurements of the profile's parts: one way
// for every stage that runs cupel-burn. Pure. What the stages are called, take and measure:
// burn_stages.cpp; how it is run: burn_output.h.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/gpu/cupel_burn.h"
#include "burnin/stage.h"
#include "inventory/fwd.h"

namespace cupel::burnin {

/// What several results of one part become.
enum class Fold { least, most, sum };

/// "gemm.rate" of type bf16 is the measurement "gemm.bf16.rate".
struct BurnRule {
  std::string_view result;
  std::string_view labels;  // "numa=far,gpus=one": all of them; empty: whatever they are
  std::string_view measure, unit;
  Fold fold = Fold::least;
};

/// One result under the name of the profile's part, with a number in the unit that its rule wants.
struct NamedResult {
  std::string name{}, part{}, unit{};
  std::map<std::string, std::string> labels{};
  double value = 0;
};

struct BurnStage {
  std::string_view name;            // of the stage, and of cupel-burn's command
  std::span<const BurnRule> rules;  // for results of one part
  /// The measurement in which a fault that was found counts, and its unit.
  std::string_view wrong, wrong_unit;
  /// What is reported of a GPU is reported of the node as a whole, too: the worst of them.
  bool of_node = false;
  /// Rates of each GPU that are held against the node's best: NAME.lag, in per cent.
  std::string_view lag{};
  std::span<const std::string_view> rates{};
  /// What takes more than a rule.
  void (*more)(std::span<const NamedResult> results, Findings& findings) = nullptr;
  /// Its GPUs need nothing of each other: where one fails, what the others report counts.
  bool gpus_are_apart = false;
};

/// Measurements that every such stage gives: whether its GPUs were idle before, what the kernel and
/// the driver said of them while it ran.
std::span<const std::string_view> burn_measures();

/// Errors: kNoMeasurement where nothing is proven: no cupel-burn, no planted error found, no end, a
/// contradiction; then only faults, hangs and Xids are reported, where there are any.
Result<Findings> burn_findings(const BurnStage& stage, const inventory::Profile& profile,
                               const Output& output);

/// Types of numbers that a gemm was asked for ("bf16,fp8"). One for which the profile has no
/// criterion is reported and not judged: that becomes unknown. Errors: kNoMeasurement where it
/// has one, and not each GPU reported its rate.
Result<void> check_types(std::string_view asked, const inventory::Profile& profile,
                         const BurnReport& run, Findings& findings);

/// Of links between each two GPUs ("gpu0-gpu1"): what the pairs tell of each GPU, and which pair is
/// worse than both of its GPUs. Results named p2p.*.
void add_pairs(std::span<const NamedResult> results, Findings& findings);

/// By the two ends of a link.
using Pairs = std::map<std::pair<std::string, std::string>, double>;

/// What is wrong with pairs is charged to the GPU that has more of it; to both where both have the
/// same. A GPU all of whose pairs are well has none. `own`: what is wrong with one GPU by itself.
void add_charged(const Pairs& pairs, std::map<std::string, double> own, std::string_view name,
                 std::string_view unit, Findings& findings);

/// Of each collective its largest messages, where they are large enough to compare.
void add_collectives(std::span<const NamedResult> results, Findings& findings);

}  // namespace cupel::burnin
