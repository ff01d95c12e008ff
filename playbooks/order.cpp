#include "playbooks/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "burnin/gpu/gpu_reset.h"
#include "burnin/stage.h"
#include "inventory/yaml.h"
#include "playbooks/roll_out.h"

namespace cupel::playbooks {
namespace {

using inventory::Problem;

class Check {
 public:
  Check(const Playbook& playbook, bool complete, std::vector<Problem>& problems)
      : playbook_{playbook}, complete_{complete}, problems_{problems} {
    for (const auto& [resource, count] : playbook.limits) resources_.push_back(resource);
  }

  void step(const PlaybookStep& step) {
    check_name(step);
    check_verdict(step);
    if (complete_) check_conditions(step);
    if (complete_) check_claims(step);
    if (step.together != Together::alone && step.kind != StepKind::stage &&
        step.kind != StepKind::slurm_job)
      report(step, fmt::format("'{}' is done to each machine by itself; only a stage can be done "
                               "together",
                               step.name));
    check_group(step);
    check_reset(step);
    learn(step);
  }

  /// Once all steps were looked at.
  void end() {
    if (complete_ && unjudged_job_ != nullptr)
      report(*unjudged_job_,
             fmt::format("'{}' needs a verdict and a hand-off behind it, both with as: NAME",
                         unjudged_job_->name));
  }

 private:
  void report(const PlaybookStep& step, std::string what) {
    problems_.push_back({step.where, std::move(what)});
  }

  void check_group(const PlaybookStep& step) {
    const auto* stage = step.kind == StepKind::stage ? burnin::stage(step.name) : nullptr;
    if (stage != nullptr && stage->group != nullptr && step.together == Together::alone)
      report(step, fmt::format("'{}' is a measurement of several nodes: it needs group_by: pairs, "
                               "rack or all",
                               step.name));
  }

  void check_reset(const PlaybookStep& step) {
    if (step.kind != StepKind::stage || !burnin::resets_gpus(step.name)) return;
    if (std::exchange(resets_gpus_, true))
      report(step, fmt::format("'{}' is a second reset of GPUs: a run does one, so that what needs "
                               "another shows",
                               step.name));
  }

  void check_name(const PlaybookStep& step) {
    const auto name =
        step.each ? fmt::format("{}@{{{}}}", step.name, to_string(*step.each)) : step.name;
    if (names_.insert(name).second) return;
    report(step, fmt::format("'{}' stands twice in the playbook; with as: NAME it may", step.name));
  }

  void check_verdict(const PlaybookStep& step) {
    const bool judges = step.kind == StepKind::verdict;
    if (complete_ && step.kind == StepKind::hand_off && !judged_)
      report(step, "hand-off must come after verdict: nothing is handed over that was not judged");
    if (step.kind == StepKind::slurm_job) return check_job(step);
    const bool acts = !judges && step.kind != StepKind::hand_off &&
                      step.kind != StepKind::power_off && step.kind != StepKind::approval;
    if (unjudged_job_ != nullptr && acts)
      report(step, fmt::format("'{}' after hand-off: jobs may run on the node by now", step.name));
    else if (judged_ && acts)
      report(step, fmt::format("'{}' after verdict would not be judged", step.name));
    const bool waits = !left_for_the_run(step.when).empty();
    if (waits && (judges || step.kind == StepKind::hand_off))
      report(step, fmt::format("'{}' cannot hang on a fact or a measurement: what was not found "
                               "out must be judged too",
                               step.name));
    judged_ = judged_ || judges;
    if (step.kind != StepKind::hand_off) return;
    handed_over_ = true;
    unjudged_job_ = nullptr;
  }

  /// What it finds on a node that has been handed over takes another verdict, and another hand-off.
  void check_job(const PlaybookStep& step) {
    if (complete_ && !handed_over_)
      report(step,
             fmt::format("'{}' must come after hand-off: Slurm starts jobs only on nodes that "
                         "it was given",
                         step.name));
    judged_ = false;
    unjudged_job_ = &step;
  }

  void check_conditions(const PlaybookStep& step) {
    for (const auto& condition : step.when) {
      const bool fact = condition.about == Condition::About::fact;
      if (!fact && condition.about != Condition::About::measure) continue;
      const auto& known = fact ? facts_ : measures_;
      if (std::ranges::find(known, condition.name) != known.end()) continue;
      problems_.push_back({condition.where,
                           fmt::format("no earlier step {} '{}'{}", fact ? "tells" : "measures",
                                       printable(condition.name),
                                       inventory::did_you_mean(condition.name, std::span{known}))});
    }
  }

  void check_claims(const PlaybookStep& step) {
    std::set<std::string> named;
    for (const auto& claim : step.claims) {
      const auto limit = playbook_.limits.find(limited_by(claim.resource));
      if (!named.insert(claim.resource).second)
        report(step, fmt::format("'{}' claims {} twice", step.name, claim.resource));
      if (limit == playbook_.limits.end())
        report(step, fmt::format("'{}' claims {}, but limits does not say how many there are{}",
                                 step.name, claim.resource,
                                 inventory::did_you_mean(
                                     claim.resource, std::span<const std::string>{resources_})));
      else if (claim.count > limit->second)
        report(step,
               fmt::format("'{}' claims {} of {}, and there are only {}: it could never begin",
                           step.name, claim.count, claim.resource, limit->second));
    }
  }

  /// What later conditions may ask.
  void learn(const PlaybookStep& step) {
    const auto facts = row_of(step.kind).facts;
    facts_.insert(facts_.end(), facts.begin(), facts.end());
    // What was found together is kept for the verdict; a condition of one node does not see it.
    if (step.kind != StepKind::stage || step.together != Together::alone) return;
    const auto measures = burnin::stage(step.name)->measures;
    measures_.insert(measures_.end(), measures.begin(), measures.end());
  }

  const Playbook& playbook_;
  bool complete_;
  std::vector<Problem>& problems_;
  std::vector<std::string> resources_{};
  std::set<std::string> names_{};
  std::vector<std::string_view> facts_{}, measures_{};
  bool judged_ = false, handed_over_ = false, resets_gpus_ = false;
  const PlaybookStep* unjudged_job_ = nullptr;  // that no hand-off follows yet
};

}  // namespace

void check_order(const Playbook& playbook, bool complete, std::vector<Problem>& problems) {
  Check check{playbook, complete, problems};
  for (const auto& step : playbook.steps) check.step(step);
  check.end();
}

}  // namespace cupel::playbooks
