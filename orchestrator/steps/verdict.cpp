#include "orchestrator/steps/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "burnin/common_faults.h"
#include "burnin/consequences.h"
#include "burnin/criteria/compared_causes.h"
#include "burnin/criteria/judge.h"
#include "burnin/gains.h"
#include "burnin/measures/measure.h"
#include "burnin/stage.h"
#include "burnin/verdict_text.h"
#include "inventory/criterion.h"
#include "inventory/node_range.h"
#include "inventory/profile.h"
#include "orchestrator/steps/flaky_gpus.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {
namespace {

using burnin::Cause;
using burnin::Checked;
using burnin::Decision;
using burnin::Met;
using burnin::Verdict;
using playbooks::StepKind;
using record::NodeRecord;
using record::StepRecord;

std::string evidence_of(const NodeRecord& record, std::string_view step) {
  const auto found = record.evidence.find(step);
  return found == record.evidence.end() ? std::string{} : found->second;
}

/// The raw output in which an audit finding can be looked up.
std::string evidence_of_source(const NodeRecord& record, const std::string& source) {
  for (const auto& [stage, findings] : record.findings)
    for (const auto& part : findings.parts)
      if (part.source == source) return evidence_of(record, stage);
  // The newest reading is the one that was judged.
  auto newest = evidence_of(record, "bmc-facts");
  for (const auto& step : record.steps)
    if (burnin::base_name(step.name) == "bmc-facts" && step.outcome == "done")
      newest = evidence_of(record, step.name);
  return newest;
}

/// A step that is no stage and has numbers of its own: none where the node had no part in it.
bool has_own_numbers(const NodeRecord& record, const StepRecord& step) {
  const auto* kind = playbooks::step_kind(burnin::base_name(step.name));
  return kind != nullptr && kind->measures && record.findings.contains(step.name);
}

/// Stages that ran to their end and reported something: only those can be judged by numbers.
std::set<std::string, std::less<>> stages_reported(const NodeRecord& record) {
  std::set<std::string, std::less<>> reported;
  for (const auto& step : record.steps)
    if (step.outcome == "done" &&
        (burnin::stage(step.name) != nullptr || has_own_numbers(record, step)))
      reported.insert(step.name);
  for (const auto& name : record.companions)
    if (!record.findings.at(name).measurements.empty()) reported.insert(name);
  // What a log said stands, whatever came of the stage; where it is not reported there is no number
  // to miss.
  for (const auto& [name, findings] : record.findings) {
    if (!burnin::is_log(name)) continue;
    if (findings.measurements.empty())
      reported.erase(name);
    else
      reported.insert(name);
  }
  return reported;
}

using AllChecked = std::vector<Checked>;

/// A part of which a stage reported nothing at all: one cause, and not one for each number.
Cause silent_part(const NodeRecord& record, const AllChecked& of_part) {
  const auto& first = of_part.front();
  Cause cause;
  cause.decision = Decision::fail;
  cause.part = first.part;
  cause.criterion = first.stage;
  cause.expected = fmt::format("{} measurements", of_part.size());
  cause.quantity.at_least = static_cast<double>(of_part.size());
  cause.quantity.unit = "measurements";
  cause.evidence = evidence_of(record, first.stage);
  cause.remedy = "find out why it does not answer: it is missing, or it is broken";
  cause.stages = {first.stage};
  return cause;
}

Cause cause_of(const NodeRecord& record, const Checked& checked, Decision decision) {
  Cause cause;
  cause.decision = decision;
  cause.part = checked.part;
  cause.criterion = checked.measure;
  cause.quantity = checked.quantity;
  cause.evidence = evidence_of(record, checked.stage);
  cause.remedy = checked.remedy;
  cause.stages = {checked.stage};
  cause.criterion_id = checked.criterion_id;
  cause.place = checked.place;
  return cause;
}

/// "gpu", "hca"; of a name that no kind of part has, what stands before its number: "link", "mc".
/// Each kind has a driver or a tool of its own: that one was read says nothing about another.
std::string kind_of(const std::string& part) {
  if (const auto kind = inventory::kind_of_name(part)) return std::string{to_string(*kind)};
  return part.substr(0, part.find_first_of("0123456789:"));
}

/// Where the same was reported for others of its kind, a part of which it is not reported is
/// missing itself.
bool reported_of_others(const Checked& one, const AllChecked& checked) {
  return std::ranges::any_of(checked, [&](const Checked& each) {
    return each.stage == one.stage && each.measure == one.measure && each.met != Met::missing &&
           kind_of(each.part) == kind_of(one.part);
  });
}

/// Conditions of tests that were not met: what such a test did not measure, it could not.
class Unproven {
 public:
  explicit Unproven(const AllChecked& checked) {
    for (const auto& each : checked) {
      if (!burnin::is_precondition(each.measure) || each.met == Met::met) continue;
      const bool failed = each.met == Met::failed;
      if (failed || !reported_of_others(each, checked))
        by_stage_[each.stage][reach_of(each)] |= failed;
    }
  }

  /// Whether a condition that reaches the part was reported not to be met; nothing where none
  /// reaches it. A busy GPU is no reason for an HCA's silence; a number of the node takes all its
  /// parts.
  std::optional<bool> reported_for(const std::string& stage, const std::string& part) const {
    std::optional<bool> reported;
    const auto found = by_stage_.find(stage);
    if (found == by_stage_.end()) return reported;
    const auto own = kind_of(part);
    for (const auto& [kind, failed] : found->second)
      if (part.empty() || kind.empty() || kind == own)
        reported = reported.value_or(false) || failed;
    return reported;
  }

 private:
  /// The kind of part that the condition is of; empty: the stage as a whole. So is what is reported
  /// of no part: "flows", a node's name, a process that the kernel killed.
  static std::string reach_of(const Checked& condition) {
    return inventory::kind_of_name(condition.part) ? kind_of(condition.part) : std::string{};
  }

  std::map<std::string, std::map<std::string, bool>, std::less<>> by_stage_{};
};

/// Parts of which a stage reported nothing, not even whether they were idle, though it did of
/// others.
bool is_gone(const AllChecked& of_part, const AllChecked& all) {
  const auto asked = std::ranges::find_if(
      of_part, [](const Checked& each) { return burnin::is_precondition(each.measure); });
  return asked != of_part.end() && asked->met == Met::missing && reported_of_others(*asked, all);
}

/// All that is wrong with one part in one stage.
void add_causes(const NodeRecord& record, AllChecked of_part, const AllChecked& all,
                const Unproven& without_proof, std::vector<Cause>& causes) {
  const bool gone = is_gone(of_part, all);
  const auto reported = without_proof.reported_for(of_part.front().stage, of_part.front().part);
  const bool could_not = reported.has_value() && !gone;
  // A condition that nobody came to is no reason where another one is.
  std::erase_if(of_part, [&](const Checked& each) {
    return could_not && each.met == Met::missing &&
           (*reported || !burnin::is_precondition(each.measure));
  });
  const auto silent = std::ranges::count(of_part, Met::missing, &Checked::met);
  if (!could_not && silent > 1 && static_cast<std::size_t>(silent) == of_part.size()) {
    causes.push_back(silent_part(record, of_part));
    return;
  }
  // A number that did not come counts as bad: the stage ran, and the part could not prove itself.
  for (const auto& each : of_part) {
    if (each.met == Met::met) continue;
    const bool open = burnin::is_precondition(each.measure) && !gone;
    causes.push_back(cause_of(record, each, open ? Decision::inconclusive : Decision::fail));
  }
}

/// What is not there proves nothing about itself: the audit has said it once. An audit that does
/// not say which ones are missing says how many: so many may be silent in a stage.
class KnownMissing {
 public:
  KnownMissing(const NodeRecord& record, const AllChecked& checked) {
    if (!record.audit) return;
    for (const auto& each : *record.audit) {
      if (each.finding != inventory::Finding::missing) continue;
      const auto kind = inventory::part_kind(each.part);
      if (kind && each.count)
        gone_[*kind] = each.count->expected - each.count->there;
      else
        named_.insert(each.part);
    }
    if (gone_.empty()) return;
    for (const auto& each : checked)
      if (const auto kind = inventory::kind_of_name(each.part); kind && each.met == Met::missing)
        silent_[{each.stage, *kind}].insert(each.part);
  }

  bool explains(const Checked& checked) const {
    if (checked.met != Met::missing || checked.part.empty()) return false;
    if (named_.contains(checked.part)) return true;
    const auto kind = inventory::kind_of_name(checked.part);
    const auto gone = kind ? gone_.find(*kind) : gone_.end();
    if (gone == gone_.end()) return false;
    return std::ssize(silent_.at({checked.stage, *kind})) <= gone->second;
  }

 private:
  std::set<std::string, std::less<>> named_{};
  std::map<inventory::PartKind, int> gone_{};
  std::map<std::pair<std::string, inventory::PartKind>, std::set<std::string>> silent_{};
};

/// Numbers that came of no part of a kind: nothing was read there, and no part has failed.
class Unread {
 public:
  Unread(const AllChecked& checked, const Unproven& without_proof) : without_proof_{without_proof} {
    for (const auto& each : checked)
      if (each.met != Met::missing)
        reported_.insert({each.stage, each.measure, kind_of(each.part)});
  }

  bool takes(const Checked& each) {
    const bool is_unread = each.met == Met::missing && !burnin::is_precondition(each.measure) &&
                           !reported_.contains({each.stage, each.measure, kind_of(each.part)});
    if (!is_unread) return false;
    if (without_proof_.reported_for(each.stage, each.part))
      return true;  // its condition is the cause
    auto& parts = by_stage_[each.stage][each.measure];
    if (!each.part.empty()) parts.push_back(each.part);
    return true;
  }

  /// One cause for each stage, with what its reader says of the reason.
  void add_causes(const NodeRecord& record, std::vector<Cause>& causes) const {
    for (const auto& [stage, measures] : by_stage_)
      causes.push_back(cause_of_unread(record, stage, measures));
  }

 private:
  using Parts = std::vector<std::string>;
  using Measures = std::map<std::string, Parts, std::less<>>;

  static Cause cause_of_unread(const NodeRecord& record, const std::string& stage,
                               const Measures& measures) {
    Cause cause;
    cause.decision = Decision::inconclusive;
    cause.criterion = "stage " + stage;
    cause.measured = "did not read " + words_of(measures);
    std::string remedy = "find out why it was not read";
    const auto found = record.findings.find(stage);
    if (found != record.findings.end()) add_reasons(found->second, measures, cause, remedy);
    cause.evidence = evidence_of(record, stage);
    cause.remedy =
        fmt::format("{}; then: cupel retry RUN NODE --from {} (a new run where this one has ended)",
                    remedy, stage);
    cause.stages = {stage};
    return cause;
  }

  static std::string words_of(const Measures& measures) {
    constexpr std::size_t kShown = 4;
    std::string words;
    std::size_t count = 0;
    for (const auto& [measure, parts] : measures) {
      if (++count > kShown) continue;
      const auto of = parts.empty() ? std::string{} : inventory::fold(parts);
      words +=
          fmt::format("{}{}{}{}", words.empty() ? "" : ", ", measure, of.empty() ? "" : " of ", of);
    }
    return count > kShown ? fmt::format("{} and {} more", words, count - kShown) : words;
  }

  static void add_reasons(const burnin::Findings& found, const Measures& measures, Cause& cause,
                          std::string& remedy) {
    constexpr std::array<std::pair<inventory::PartKind, std::string_view>, 3> kDrivers{
        {{inventory::PartKind::gpu, "nvidia"},
         {inventory::PartKind::hca, "mlx5_core"},
         {inventory::PartKind::nvme, "nvme"}}};
    for (const auto& [kind, driver] : kDrivers) {
      const auto is_of_kind = [&](const std::string& part) {
        return inventory::kind_of_name(part) == kind;
      };
      const bool asked = std::ranges::any_of(
          measures, [&](const auto& each) { return std::ranges::any_of(each.second, is_of_kind); });
      if (!asked || std::ranges::count(found.parts, kind, &inventory::Part::kind) > 0) continue;
      cause.measured += fmt::format(": the node lists no {}", to_string(kind));
      remedy = fmt::format("look whether the driver {} is loaded (lsmod, dmesg)", driver);
    }
    constexpr std::size_t kReasons = 3;
    for (std::size_t i = 0; i < std::min(kReasons, found.unknown.size()); ++i)
      cause.measured += fmt::format("; {}: {}", found.unknown[i].fact, found.unknown[i].why);
  }

  const Unproven& without_proof_;
  std::set<std::array<std::string, 3>> reported_{};  // stage, measure, kind of part
  std::map<std::string, Measures, std::less<>> by_stage_{};
};

/// The same about the same part in many stages is one cause.
std::vector<Cause> merged(std::vector<Cause> causes) {
  std::vector<Cause> all;
  std::map<std::string, std::size_t> where;
  for (auto& cause : causes) {
    const auto key =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}", to_string(cause.decision), cause.part,
                    cause.criterion, measured_text(cause), expectation_text(cause), cause.remedy);
    const auto [found, fresh] = where.try_emplace(key, all.size());
    if (fresh)
      all.push_back(std::move(cause));
    else
      std::ranges::move(cause.stages, std::back_inserter(all[found->second].stages));
  }
  return all;
}

void judge_numbers(const inventory::Profile& profile, const NodeRecord& record, Verdict& verdict) {
  auto findings = record.findings;
  std::vector<std::string> steps;
  for (const auto& step : record.steps) steps.push_back(step.name);
  burnin::add_gains(steps, findings);
  verdict.checked = burnin::judge(profile, stages_reported(record), findings);
  std::vector<std::pair<std::string, std::string>> order;  // stage and part, as they are met first
  std::map<std::pair<std::string, std::string>, AllChecked> by_part;
  const KnownMissing missing{record, verdict.checked};
  const Unproven without_proof{verdict.checked};
  Unread unread{verdict.checked, without_proof};
  for (const auto& each : verdict.checked) {
    if (missing.explains(each) || unread.takes(each)) continue;
    const std::pair key{each.stage, each.part};
    if (!by_part.contains(key)) order.push_back(key);
    by_part[key].push_back(each);
  }
  for (const auto& key : order)
    add_causes(record, by_part[key], verdict.checked, without_proof, verdict.causes);
  unread.add_causes(record, verdict.causes);
}

void judge_parts(const NodeRecord& record, Verdict& verdict) {
  if (!record.audit) return;
  for (const auto& each : *record.audit) {
    const auto decision = is_failure(each.finding) ? Decision::fail : Decision::inconclusive;
    verdict.causes.push_back({decision, each.part,
                              fmt::format("audit: {}", to_string(each.finding)), each.observed,
                              each.expected, evidence_of_source(record, each.source), each.remedy});
    if (!each.count) continue;
    auto& quantity = verdict.causes.back().quantity;
    quantity.value = each.count->there;
    quantity.at_least = quantity.at_most = each.count->expected;
  }
}

/// Where the site's policy only warns, the audit's own words say it.
void judge_floor(const NodeRecord& record, Verdict& verdict) {
  if (!record.floor || record.floor->policy != "fail") return;
  for (const auto& each : record.floor->below) {
    Cause cause;
    cause.part = each.part;
    cause.criterion = "audit: below the security floor";
    cause.measured = each.version;
    cause.expected = fmt::format("at least {} ({}, {})", each.at_least, each.advisory, each.date);
    cause.remedy = fmt::format("update {} to a version at or above the floor", each.component);
    verdict.causes.push_back(std::move(cause));
  }
}

Cause cause_of(const NodeRecord& record, const StepRecord& step, Decision decision) {
  const bool is_stage = burnin::stage(step.name) != nullptr;
  Cause cause;
  cause.decision = decision;
  cause.criterion = fmt::format("{} {}", is_stage ? "stage" : "step", step.name);
  cause.measured = step.detail.empty() ? step.outcome : step.detail;
  cause.evidence = evidence_of(record, step.name);
  return cause;
}

/// Whether the step would have reported something that the profile has an opinion about.
bool would_prove(const inventory::Profile& profile, const StepRecord& step) {
  if (burnin::stage(step.name) != nullptr)
    return std::ranges::find(profile.criteria, burnin::base_name(step.name),
                             &inventory::Criterion::stage) != profile.criteria.end();
  const auto* kind = playbooks::step_kind(burnin::base_name(step.name));
  return kind == nullptr || kind->proves || kind->measures;
}

/// Whether that it was skipped leaves the node unproven. What the playbook itself left out, by its
/// conditions or for want of a partner, was never asked of the node.
bool leaves_a_gap(const inventory::Profile& profile, const StepRecord& step) {
  using record::Skipped;
  if (step.outcome != "skipped") return false;
  if (was_passed_over(step.skipped)) return would_prove(profile, step);
  return step.skipped != Skipped::condition && step.skipped != Skipped::partner;
}

/// One of the logs that are read after stages.
struct Log {
  std::string_view stage, words;
  std::string (*name)(std::string_view step);
};

/// A later reading of a log tells what an earlier one could not; the last one leaves a gap.
void judge_log(const inventory::Profile& profile, const NodeRecord& record, const Log& log,
               Verdict& verdict) {
  const bool judged = std::ranges::find(profile.criteria, log.stage,
                                        &inventory::Criterion::stage) != profile.criteria.end();
  if (!judged) return;
  const burnin::Findings* last = nullptr;
  std::string name;
  for (const auto& step : record.steps)
    for (const auto& own : {step.name, log.name(step.name)}) {
      const auto found = record.findings.find(own);
      if (found == record.findings.end() || burnin::base_name(own) != log.stage) continue;
      last = &found->second;
      name = own;
    }
  if (last == nullptr || !last->measurements.empty()) return;
  Cause cause;
  cause.decision = Decision::inconclusive;
  cause.criterion = "stage " + name;
  cause.measured = last->unknown.empty()
                       ? "nothing"
                       : fmt::format("{}: {}", log.words, last->unknown.front().why);
  cause.evidence = evidence_of(record, name);
  verdict.causes.push_back(std::move(cause));
}

/// What should have worked beside a stage and proved nothing leaves a gap, whatever the stage did.
void judge_companions(const NodeRecord& record, Verdict& verdict) {
  for (const auto& name : record.companions) {
    const auto& found = record.findings.at(name);
    if (!found.measurements.empty()) continue;
    Cause cause;
    cause.decision = Decision::inconclusive;
    cause.criterion = "stage " + name;
    cause.measured = found.unknown.empty() ? "nothing" : found.unknown.front().why;
    cause.evidence = evidence_of(record, name);
    verdict.causes.push_back(std::move(cause));
  }
}

/// An audit that wants hands for a part: the part is a cause of its own.
bool tells_by_its_findings(const NodeRecord& record, const StepRecord& step) {
  const auto* kind = playbooks::step_kind(burnin::base_name(step.name));
  return kind != nullptr && kind->kind == StepKind::audit && record.audit && !step.needs.empty();
}

/// slurm-drain does what slurm-hold could not, or says why it cannot be done.
bool is_done_again(const NodeRecord& record, const StepRecord& step) {
  const auto is_of = [](StepKind kind, const StepRecord& each) {
    const auto* known = playbooks::step_kind(burnin::base_name(each.name));
    return known != nullptr && known->kind == kind && !each.outcome.empty();
  };
  return is_of(StepKind::slurm_hold, step) &&
         std::ranges::any_of(record.steps, [&](const StepRecord& each) {
           return is_of(StepKind::slurm_drain, each);
         });
}

/// Steps that failed, and those that were skipped and leave a gap. Steps that were skipped because
/// of a failure are reported by it.
void judge_steps(const inventory::Profile& profile, const NodeRecord& record, Verdict& verdict) {
  bool failed = false;
  for (const auto& step : record.steps) {
    const bool over = !step.outcome.empty();
    if (!over || step.outcome == "done" || step.outcome == "skipped") continue;
    if (is_done_again(record, step)) continue;
    failed = true;
    if (tells_by_its_findings(record, step)) continue;
    verdict.causes.push_back(
        cause_of(record, step, step.hung ? Decision::fail : Decision::inconclusive));
  }
  for (const auto& step : record.steps) {
    const bool reported = failed && !was_passed_over(step.skipped);
    if (!reported && leaves_a_gap(profile, step))
      verdict.causes.push_back(cause_of(record, step, Decision::inconclusive));
  }
}

}  // namespace

Verdict decide(const inventory::Profile& profile, const NodeRecord& record,
               std::vector<Cause> differences) {
  Verdict verdict;
  judge_parts(record, verdict);
  judge_floor(record, verdict);
  judge_numbers(profile, record, verdict);
  let_pass_after_reset(record, verdict.causes);
  judge_steps(profile, record, verdict);
  judge_companions(record, verdict);
  const auto& bmc = burnin::bmc_log_stage();
  const auto& kernel = burnin::kernel_log_stage();
  judge_log(profile, record, {bmc.name, "the BMC's log", burnin::bmc_log_name}, verdict);
  judge_log(profile, record, {kernel.name, "the kernel's log", burnin::kernel_log_name}, verdict);
  std::ranges::move(differences, std::back_inserter(verdict.causes));
  verdict.causes = merged(std::move(verdict.causes));
  const bool proven = !verdict.checked.empty() || (record.audit && record.bmc_reported);
  if (!proven && verdict.causes.empty()) {
    Cause nothing;
    nothing.decision = Decision::inconclusive;
    nothing.criterion = "measurements";
    nothing.measured = "nothing";
    nothing.expected = "at least one";
    verdict.causes.push_back(std::move(nothing));
  }
  burnin::join_common_faults(verdict.checked, verdict.causes);
  burnin::mark_consequences(verdict.causes, verdict.checked);
  burnin::put_below_known(verdict.causes);
  std::ranges::stable_sort(verdict.causes, {}, [](const Cause& cause) {
    return std::pair{cause.decision != Decision::fail, !cause.consequence_of.empty()};
  });
  verdict.decision = verdict.causes.empty() ? Decision::pass : verdict.causes.front().decision;
  return verdict;
}

}  // namespace cupel::steps
