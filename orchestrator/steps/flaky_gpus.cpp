#include "orchestrator/steps/flaky_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "burnin/gpu/gpu_reset.h"
#include "burnin/stage.h"
#include "burnin/xids.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {
namespace {

using burnin::Cause;
using burnin::Measurement;
using record::NodeRecord;
using record::StepRecord;

/// What a reset ends, where it ends it at all.
constexpr std::array<std::string_view, 9> kEnded{
    burnin::kResetNeeded,      "gpu.reset_required", "gpu.remap.pending", "gpu.ecc.uncorrected",
    "gpu.ecc.uncorrected.new", "gpu.remap.new",      "gpu.xid",           "kernel.xid",
    "kernel.gpu.reset"};

std::optional<std::size_t> place_of(const NodeRecord& record, std::string_view step) {
  const auto found = std::ranges::find(record.steps, step, &StepRecord::name);
  if (found == record.steps.end()) return std::nullopt;
  return static_cast<std::size_t>(found - record.steps.begin());
}

/// Where the step stands that found it: "gemm" of "kernel-log@gemm" and
/// "kernel-log@gemm@before-retry", "train" of "cpu@train".
std::optional<std::size_t> place_of_finding(const NodeRecord& record, std::string_view name) {
  if (const auto own = place_of(record, name)) return own;
  const auto at = name.find('@');
  if (at == name.npos) return std::nullopt;
  const auto step = name.substr(at + 1);
  return place_of(record, step.substr(0, step.find("@before-retry")));
}

std::optional<double> value_of(const burnin::Findings& found, std::string_view measure,
                               std::string_view part) {
  for (const auto& each : found.measurements)
    if (each.name == measure && each.part == part) return each.value;
  return std::nullopt;
}

/// The first reading of what was reset.
const StepRecord* reset_of(const NodeRecord& record) {
  const auto step = std::ranges::find_if(record.steps, [&](const StepRecord& each) {
    return burnin::resets_gpus(each.name) && record.findings.contains(each.name);
  });
  return step == record.steps.end() ? nullptr : &*step;
}

/// One reset, and what the record has behind it.
class AfterReset {
 public:
  AfterReset(const NodeRecord& record, const StepRecord& reset, const std::vector<Cause>& causes)
      : record_{record},
        reset_{*place_of(record, reset.name)},
        found_{record.findings.find(reset.name)->second},
        causes_{causes} {}

  bool ends(const Cause& cause) const {
    const bool known = std::ranges::find(kEnded, cause.criterion) != kEnded.end();
    return known && cause.stages.size() == 1 && is_mended(cause.part) && is_before(cause);
  }

 private:
  bool is_mended(const std::string& gpu) const {
    const bool may_pass = value_of(found_, burnin::kResetMayPass, gpu) == 1;
    return may_pass && began_anew(gpu) && has_worked_since(gpu) && !was_bad_since(gpu);
  }

  bool began_anew(const std::string& gpu) const {
    if (value_of(found_, burnin::kResetDone, gpu) == 1) return true;
    return std::any_of(behind(), record_.steps.end(), [](const StepRecord& step) {
      const auto* kind = playbooks::step_kind(burnin::base_name(step.name));
      return kind != nullptr && kind->kind == playbooks::StepKind::power_cycle &&
             step.outcome == "done";
    });
  }

  bool has_worked_since(const std::string& gpu) const {
    return std::any_of(behind(), record_.steps.end(), [&](const StepRecord& step) {
      const auto* stage = burnin::stage(step.name);
      const auto found = record_.findings.find(step.name);
      const bool done = stage != nullptr && step.outcome == "done" && burnin::is_load(*stage) &&
                        found != record_.findings.end();
      return done && std::ranges::find(found->second.measurements, gpu, &Measurement::part) !=
                         found->second.measurements.end();
    });
  }

  bool was_bad_since(const std::string& gpu) const {
    return std::ranges::any_of(causes_, [&](const Cause& each) {
      return each.part == gpu && !each.stages.empty() && !is_before(each);
    });
  }

  /// Found before the GPU was reset, or reported then of the time before.
  bool is_before(const Cause& cause) const {
    const auto& stage = cause.stages.front();
    const auto place = place_of_finding(record_, stage);
    const bool earlier = place && *place <= reset_;
    if (cause.criterion == "kernel.xid") return earlier && asks_for_resets(stage, cause);
    if (cause.criterion == "gpu.xid") return (earlier || is_since_boot(stage)) && is_one(cause);
    if (cause.criterion == "gpu.remap.new") return !remapped_since(cause.part);
    return earlier;
  }

  static bool is_one(const Cause& cause) {
    const auto& code = cause.quantity.value;
    return code && burnin::is_answered_by_reset(static_cast<int>(*code));
  }

  /// gpu-facts counts all that the kernel has logged since the boot.
  static bool is_since_boot(const std::string& stage) {
    const auto* row = burnin::stage(stage);
    return row != nullptr && row->lists == burnin::Lists::gpus;
  }

  /// Each Xid of the GPU in that reading, and not the first alone.
  bool asks_for_resets(const std::string& stage, const Cause& cause) const {
    constexpr std::string_view kXid = "first.kernel.xid.";
    const auto found = record_.findings.find(stage);
    bool any = false;
    if (found == record_.findings.end()) return false;
    for (const auto& each : found->second.measurements) {
      if (each.part != cause.part || !each.name.starts_with(kXid)) continue;
      const auto code = number<int>(each.name.substr(kXid.size())).value_or(0);
      const auto* known = burnin::xid_of(code);
      const bool serious = known == nullptr || known->serious;
      if (serious && !burnin::is_answered_by_reset(code)) return false;
      any = true;
    }
    return any && is_one(cause);
  }

  /// The counter's gain does not say when; the kernel does.
  bool remapped_since(const std::string& gpu) const {
    return std::ranges::any_of(record_.findings, [&](const auto& each) {
      const auto place = place_of_finding(record_, each.first);
      const bool later = place && *place > reset_;
      return later && (value_of(each.second, "first.kernel.xid.63", gpu) ||
                       value_of(each.second, "first.kernel.xid.64", gpu));
    });
  }

  std::vector<StepRecord>::const_iterator behind() const {
    return record_.steps.begin() + static_cast<std::ptrdiff_t>(reset_) + 1;
  }

  const NodeRecord& record_;
  std::size_t reset_;
  const burnin::Findings& found_;
  const std::vector<Cause>& causes_;
};

}  // namespace

std::vector<std::string> flaky_gpus(const NodeRecord& record) {
  std::vector<std::string> words;
  const auto* reset = reset_of(record);
  if (reset == nullptr) return words;
  for (const auto& each : record.findings.find(reset->name)->second.measurements)
    if (each.name == burnin::kResetNeeded && !each.part.empty() && each.value == 1)
      words.push_back(fmt::format("{} is flaky: {}", each.part, each.traced_to));
  return words;
}

void let_pass_after_reset(const NodeRecord& record, std::vector<Cause>& causes) {
  const auto* reset = reset_of(record);
  if (reset == nullptr) return;
  const auto all = causes;  // what is left out must not decide on what follows
  const AfterReset after{record, *reset, all};
  std::erase_if(causes, [&](const Cause& cause) { return after.ends(cause); });
}

}  // namespace cupel::steps
