#include "playbooks/plan.h"

#include "inventory/yaml.h"

namespace cupel::playbooks {
namespace {

using inventory::Problem;
using inventory::Profile;

constexpr int kTries = 8;

std::chrono::seconds expected_for(StepKind kind, const inventory::Patience& patience) {
  using std::chrono::seconds;
  switch (kind) {
    case StepKind::power_on:
    case StepKind::power_cycle:
      return patience.power_on / 4;
    case StepKind::ssh_wait:
      return patience.post / 2;
    case StepKind::bmc_facts:
      return seconds{30};
    default:
      return seconds{2};
  }
}

/// A profile's criteria must be about stages and measurements that exist, else they can never be
/// met and never be missed.
void check_criteria(const Profile& profile, std::vector<Problem>& problems) {
  for (const auto& criterion : profile.criteria) {
    const auto* stage = burnin::stage(criterion.stage);
    if (stage == nullptr) {
      std::vector<std::string_view> known;
      for (const auto& each : burnin::stages()) known.push_back(each.name);
      problems.push_back(
          {criterion.where, "there is no stage '" + criterion.stage + "'" +
                                inventory::did_you_mean(criterion.stage, std::span{known})});
      continue;
    }
    if (std::ranges::find(stage->measures, criterion.measure) != stage->measures.end()) continue;
    problems.push_back(
        {criterion.where, "stage '" + criterion.stage + "' does not measure '" + criterion.measure +
                              "'" + inventory::did_you_mean(criterion.measure, stage->measures)});
  }
}

std::optional<burnin::Job> job_of(const PlaybookStep& step, const Profile& profile,
                                  std::vector<Problem>& problems) {
  const auto* stage = burnin::stage(step.name);
  auto job = stage->prepare(profile, step.with);
  if (!job) {
    problems.push_back({step.where, "stage '" + step.name + "': " + job.assume_error().what});
    return std::nullopt;
  }
  const bool judged = std::ranges::any_of(
      profile.criteria, [&](const auto& criterion) { return criterion.stage == step.name; });
  if (!judged)
    problems.push_back({step.where, "profile '" + profile.name + "' has no criteria for stage '" +
                                        step.name + "': nothing would be judged"});
  return std::move(job).assume_value();
}

PlannedStep planned(const PlaybookStep& step, const Profile& profile,
                    std::vector<Problem>& problems) {
  PlannedStep plan;
  plan.kind = step.kind;
  plan.name = step.name;
  plan.with = step.with;
  plan.on_failure = step.on_failure;
  plan.always = row_of(step.kind).always;
  plan.tries = step.tries.value_or(kTries);
  plan.expected = expected_for(step.kind, profile.patience);
  auto deadline = default_deadline(step.kind, profile.patience);
  if (step.kind == StepKind::stage) {
    plan.job = job_of(step, profile, problems);
    if (plan.job) {
      plan.expected = plan.job->expected;
      deadline += plan.job->limit;
    }
  }
  plan.deadline = step.deadline.value_or(deadline);
  return plan;
}

}  // namespace

std::size_t Plan::step_count() const {
  std::size_t count = 0;
  for (const auto& node : nodes) count += node.steps->size();
  return count;
}

std::optional<Plan> make_plan(const Playbook& playbook, const inventory::Inventory& inventory,
                              const std::vector<const inventory::Node*>& nodes,
                              std::vector<Problem>& problems) {
  const auto before = problems.size();
  Plan plan;
  plan.playbook = playbook.name;
  plan.nodes_at_once = playbook.nodes_at_once;
  std::map<std::string, std::shared_ptr<const std::vector<PlannedStep>>, std::less<>> of_profile;
  for (const auto* node : nodes) {
    auto& steps = of_profile[node->profile];
    if (!steps) {
      const auto& profile = inventory.profile_of(*node);
      check_criteria(profile, problems);
      std::vector<PlannedStep> fresh;
      for (const auto& step : playbook.steps) fresh.push_back(planned(step, profile, problems));
      steps = std::make_shared<const std::vector<PlannedStep>>(std::move(fresh));
    }
    plan.nodes.push_back({node, steps});
  }
  if (problems.size() > before) return std::nullopt;
  return plan;
}

}  // namespace cupel::playbooks
