#pragma once
// What a plan must hold of the step slurm-job: a job that the inventory has, and criteria that its
// numbers can meet.
#include <chrono>
#include <vector>

#include "base/result.h"
#include "burnin/job.h"
#include "inventory/fwd.h"
#include "inventory/problem.h"
#include "playbooks/playbook.h"

namespace cupel::playbooks {

/// Whether it judges what a step slurm-job gives: "slurm-job", "slurm-job@nccl".
bool is_of_job(const inventory::Criterion& criterion);
/// That such numbers can have its name (burnin/job_numbers.h).
void check_job_criterion(const inventory::Criterion& criterion,
                         std::vector<inventory::Problem>& problems);

/// How long the job may run, by `with: {limit: ...}` of a step slurm-job. Errors: kInvalid.
Result<std::chrono::seconds> job_limit(const burnin::Parameters& with);

/// A job that no criterion judges proves nothing.
void check_job_is_judged(const PlaybookStep& step, const inventory::Profile& profile,
                         std::vector<inventory::Problem>& problems);

/// Each job that the playbook names is one of the inventory's.
void check_jobs(const Playbook& playbook, const inventory::Inventory& inventory,
                std::vector<inventory::Problem>& problems);

}  // namespace cupel::playbooks
