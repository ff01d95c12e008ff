#include "playbooks/job_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "burnin/job_numbers.h"
#include "burnin/parameters.h"
#include "burnin/stage.h"
#include "inventory/criterion.h"
#include "inventory/model.h"
#include "inventory/profile.h"
#include "inventory/yaml.h"
#include "playbooks/step_kind.h"

namespace cupel::playbooks {
namespace {

using inventory::Problem;

const StepKindRow& job_row() { return row_of(StepKind::slurm_job); }

}  // namespace

bool is_of_job(const inventory::Criterion& criterion) {
  return burnin::base_name(criterion.stage) == job_row().name;
}

void check_job_criterion(const inventory::Criterion& criterion, std::vector<Problem>& problems) {
  if (!burnin::is_job_measure(criterion.measure))
    problems.push_back({criterion.where,
                        fmt::format("'{}' measures what its job prints: job.NAME, with the name of "
                                    "a number of its last line, and not '{}'",
                                    criterion.stage, criterion.measure)});
  const bool of_node =
      criterion.parts.empty() || (criterion.parts.size() == 1 && criterion.parts.front().empty());
  if (!of_node)
    problems.push_back({criterion.where, fmt::format("'{}' measures the nodes as a whole: leave "
                                                     "parts out",
                                                     criterion.stage)});
}

Result<std::chrono::seconds> job_limit(const burnin::Parameters& with) {
  return burnin::duration_parameter(job_row().parameters, with, "limit");
}

void check_job_is_judged(const PlaybookStep& step, const inventory::Profile& profile,
                         std::vector<Problem>& problems) {
  const bool judged = std::ranges::any_of(profile.criteria, [&](const auto& criterion) {
    return criterion.stage == step.name || criterion.stage == job_row().name;
  });
  if (!judged)
    problems.push_back({step.where, fmt::format("profile '{}' has no criteria for '{}': nothing "
                                                "would be judged",
                                                profile.name, step.name)});
}

void check_jobs(const Playbook& playbook, const inventory::Inventory& inventory,
                std::vector<Problem>& problems) {
  for (const auto& step : playbook.steps) {
    if (step.kind != StepKind::slurm_job) continue;
    if (!inventory.slurm) {
      problems.push_back(
          {step.where, fmt::format("'{}' needs slurm: in the inventory", step.name)});
      continue;
    }
    const auto named = step.with.find("job");
    if (named == step.with.end() || inventory.slurm->job(named->second) != nullptr) continue;
    std::vector<std::string> known;
    for (const auto& job : inventory.slurm->jobs) known.push_back(job.name);
    problems.push_back(
        {step.where,
         fmt::format("slurm: jobs: of the inventory has no job '{}'{}", named->second,
                     inventory::did_you_mean(named->second, std::span<const std::string>{known}))});
  }
}

}  // namespace cupel::playbooks
