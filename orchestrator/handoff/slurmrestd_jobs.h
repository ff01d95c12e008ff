#pragma once
// The site's jobs by slurmrestd: submitted, looked at and ended with the token of `slurm: rest`, as
// its user, without any tool of Slurm's on this machine.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/handoff/batch_script.h"
#include "orchestrator/handoff/slurm_job.h"
#include "orchestrator/handoff/slurmrestd_api.h"

namespace cupel::handoff {

/// A job of an answer, and whose it is.
struct RestJob {
  SlurmJobState job{};
  std::string user{};               // empty: not reported
  std::optional<double> user_id{};  // the accounting reports none
};

/// Those of this name in an answer of slurmctld's or of the accounting's, the oldest first; at most
/// 100. Other jobs are passed over, whatever they look like. Errors: kMalformed: no list of jobs,
/// or one of this name without id or state. Source: Slurm, "REST API",
/// v0.0.38_job_response_properties and v0.0.41_job_info; dbv0.0.38_job and v0.0.41_job.
Result<std::vector<RestJob>> parse_rest_jobs(const json::value& answer, std::string_view name);

/// What is sent to submit it, for one version of the API. Source: Slurm, "REST API",
/// v0.0.38_job_submission and v0.0.41_job_submit_req.
json::object rest_submission(const JobOrder& order, const BatchScript& script,
                             const std::string& partition, const inventory::SlurmJob& job,
                             const std::string& output, int version);

/// `site` has rest.
class SlurmrestdJobs : public SlurmJobs {
 public:
  SlurmrestdJobs(const inventory::SlurmSite& site, const inventory::SlurmJob& job);

  Task<Result<void>> submit(JobOrder order, Deadline deadline) override;
  Task<Result<std::vector<SlurmJobState>>> find(std::string name, Deadline deadline) override;
  Task<Result<void>> cancel(std::string name, Deadline deadline) override;

 private:
  using Jobs = std::vector<SlurmJobState>;
  Task<Result<Jobs>> listed(std::string name, Deadline deadline);
  Task<Result<Jobs>> by_name(std::string name, Deadline deadline);
  Task<Result<Jobs>> of_known_ids(std::string name, Deadline deadline);
  Task<Result<Jobs>> accounted(std::string name, Deadline deadline);
  Task<Result<void>> end_one(std::string id, Deadline deadline);
  Result<Jobs> own_jobs(const json::value& answer, const std::string& name) const;
  Result<bool> is_own(const RestJob& job) const;

  SlurmrestdApi api_;
  /// Of the job, once slurmctld has said it: all its jobs are listed no more than needed.
  std::vector<std::string> ids_{};
};

}  // namespace cupel::handoff
