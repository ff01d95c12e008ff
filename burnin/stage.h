#pragma once
// A burn-in stage: how it is started, what its output says. Parsing is pure and apart from running.
// How a stage is run (detached on the node, read from an offset, re-attached after anything) is the
// same for one of a second and one of 72 hours, and is not written here but in
// orchestrator/ssh/detached.h.
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "burnin/job.h"
#include "burnin/measurement.h"
#include "inventory/fwd.h"

namespace cupel::burnin {

/// What a stage makes a machine draw: the share of the way from idle to loaded in the profile's
/// power. Admission plans with it, so it leans to the high side; the BMCs' own readings correct it.
struct Load {
  double share = 0;         // of a machine with GPUs; 0 to 1
  double without_gpus = 0;  // of one that has none
  std::string_view why;
};

/// What the controller watches beside a stage, on BMCs and PDUs. The BMC's log is read around every
/// stage.
struct Beside {
  bool bmc_sensors = false;       // again and again while it runs, for Output::beside
  bool neighbour_inlets = false;  // once it has ended, for Output::beside
  /// Whether the rack's PDUs take away one feed after the other, by its `with:`; nullptr: never.
  bool (*pdu_feeds)(const Parameters& with) = nullptr;
};

/// Whether a stage lists parts for the audit, which judges them without criteria.
enum class Lists { nothing, parts, gpus };

struct GroupStage;  // burnin/group_stage.h
struct Undo;        // burnin/undo.h

struct Stage {
  std::string_view name;                     // "gpu-facts"
  std::string_view summary;                  // one line for people
  std::span<const ParameterRow> parameters;  // what `with:` may carry

  /// Errors: kInvalid, naming the parameter. Called when the plan is made, before anything is
  /// touched.
  Result<Job> (*prepare)(const inventory::Profile& profile, const Parameters& parameters);

  /// Pure. Errors: kNoMeasurement where the output proves nothing (tool missing, no row);
  /// kMalformed. A tool that reports bad parts is no Error: that is what measurements are for.
  Result<Findings> (*parse)(const inventory::Profile& profile, const Output& output);

  /// Names of the measurements that parse() can give, each with a row in burnin/measures/measure.h:
  /// a criterion for another one is a typing error.
  std::span<const std::string_view> measures;

  Load load;

  /// Programs of ours that it runs ("cupel-burn"): they are brought to the node before it begins,
  /// and the job itself is looked after by cupel-node.
  std::span<const std::string_view> programs{};
  Beside beside{};
  Lists lists = Lists::nothing;
  /// Its findings are the BMC's log, as read after every stage; as a stage of its own it only lets
  /// time pass.
  bool is_bmc_log = false;
  /// Likewise of the node's kernel.
  bool is_kernel_log = false;
  /// What changes back what it changes; nullptr: it changes nothing.
  const Undo* undo = nullptr;
  /// Of a stage that several nodes do as one measurement; nullptr: each node does it by itself, and
  /// the two functions above are all there is.
  const GroupStage* group = nullptr;
};

/// Every stage there is, in the order in which a newcomer meets them.
std::span<const Stage> stages();

/// "disk" of "disk@scratch": a stage (or step) that is done several times on a node has a name for
/// each time.
std::string_view base_name(std::string_view step);

/// nullptr if there is none of that name. "disk@scratch" is the stage disk.
const Stage* stage(std::string_view name);

/// The stage whose findings are the BMC's log, and what they are called behind another stage:
/// "sel@disk" for "disk", "sel@late" for itself.
const Stage& bmc_log_stage();
bool is_bmc_log(std::string_view step);
std::string bmc_log_name(std::string_view step);

/// Likewise of the kernel's log: "kernel-log@disk".
const Stage& kernel_log_stage();
std::string kernel_log_name(std::string_view step);

/// Whether the step is a reading of either log.
bool is_log(std::string_view step);

/// Whether the step's numbers are the BMC's and not the node's: its log, or what its sensors read
/// beside a load.
bool is_seen_by_bmc(std::string_view step);

/// Whether the stage makes a machine work, and does not only look at it.
bool is_load(const Stage& stage);

/// Whether the step takes a node's feeds away, one after the other, by what its `with:` says.
bool takes_feeds(std::string_view step, const Parameters& with);

}  // namespace cupel::burnin
