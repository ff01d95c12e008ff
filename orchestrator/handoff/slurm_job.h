#pragma once
// A batch script of the site's on nodes that were handed over: submitted by sbatch, followed by
// squeue, ended by scancel; or all of it by slurmrestd (slurmrestd_jobs.h). A job is found by its
// name, which no other job ever had.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "inventory/slurm_site.h"

namespace cupel::handoff {

struct JobOrder {
  std::string name{};                // "cupel-12-1f00c4d2a9b3e871"
  std::vector<std::string> nodes{};  // as Slurm knows them
  std::chrono::seconds limit{};      // of its run; Slurm counts in minutes
};

/// What slurmctld, or Slurm's accounting, says of a job.
struct SlurmJobState {
  std::string id{};      // "17"
  std::string state{};   // "PENDING", "RUNNING", "COMPLETED", "FAILED": man squeue, JOB STATE CODES
  std::string reason{};  // why it does not run, or did not end well: man squeue, JOB REASON CODES
  friend bool operator==(const SlurmJobState&, const SlurmJobState&) = default;

  /// It waits for its nodes.
  bool waits() const;
  /// It has ended, well or not: nothing of it is on a node any more.
  bool over() const;
  /// It came to its end, and its script said so by its exit status.
  bool is_good() const { return state == "COMPLETED"; }
  /// It waits for what does not come by itself: it asks for what its partition never gives.
  bool is_hopeless() const;
};

/// The lines "17|PENDING|Resources" of squeue or sacct, the oldest job first; what is no such line
/// is passed over. At most 100. Pure.
std::vector<SlurmJobState> parse_job_states(std::string_view printed);

/// How Slurm is asked for one job of the site's. Errors of all of these: kUnsupported (the tool is
/// not installed), kUnreachable (slurmctld does not answer), kTimeout, kMalformed, kFailed with
/// Slurm's words; by slurmrestd also kRefused, kUntrusted, kBusy and kInvalid, as ApiClient. 20 s
/// for each call.
class SlurmJobs {
 public:
  virtual ~SlurmJobs() = default;

  /// The job's output, by which it is found again as by its name.
  std::string output_of(std::string_view name) const;

  /// The job's environment has no more than PATH, and by sbatch SLURM_CONF: ours may hold secrets.
  /// kTimeout, kUnreachable and kCancelled say nothing about whether it was submitted; any other
  /// error says that it was not. Source: man sbatch (22.05).
  virtual Task<Result<void>> submit(JobOrder order, Deadline deadline) = 0;

  /// Those of this user with this name, the oldest first: of slurmctld, which forgets a job some
  /// minutes after its end (slurm.conf, MinJobAge); then of the accounting, where the site has one.
  virtual Task<Result<std::vector<SlurmJobState>>> find(std::string name, Deadline deadline) = 0;

  /// Ends those of this name. Idempotent: it does nothing where there is no such job.
  virtual Task<Result<void>> cancel(std::string name, Deadline deadline) = 0;

  /// The last `most` bytes of what the job printed, at most a mebibyte, from the folder that the
  /// nodes and this machine share. By tail(1): where a shared folder does not answer, that waits,
  /// and is ended, and not our loop. Errors: kFailed also where no file is there (yet: NFS shows a
  /// new file a minute late).
  Task<Result<std::string>> end_of_output(std::string name, std::size_t most, Deadline deadline);

 protected:
  SlurmJobs(const inventory::SlurmSite& site, const inventory::SlurmJob& job)
      : site_{site}, job_{job} {}

  /// A program of this machine, without our environment.
  Task<Result<std::string>> run_tool(std::vector<std::string> argv, Deadline deadline);
  const std::string& partition() const;

  const inventory::SlurmSite& site_;
  const inventory::SlurmJob& job_;
};

/// By slurmrestd where the site has `rest`, else by Slurm's own tools. Both must outlive it.
std::unique_ptr<SlurmJobs> slurm_jobs(const inventory::SlurmSite& site,
                                      const inventory::SlurmJob& job);

}  // namespace cupel::handoff
