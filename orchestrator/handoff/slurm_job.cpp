#include "orchestrator/handoff/slurm_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "orchestrator/handoff/slurm_tool.h"
#include "orchestrator/handoff/slurmrestd_jobs.h"

namespace cupel::handoff {
namespace {

constexpr std::chrono::seconds kJobPatience{20};
constexpr std::size_t kMostJobs = 100, kLongestWord = 80, kMostOutput = 1u << 20;
constexpr int kNoSuchProgram = 127;  // of env(1)

bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_job_id(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// squeue and sbatch ask slurmctld again by themselves.
Error error_of_tool(const std::string& tool, const ProcessOutcome& outcome) {
  if (outcome.exit_status == kNoSuchProgram)
    return {Code::kUnsupported, fmt::format("there is no {} here: install slurm-client", tool)};
  constexpr std::size_t kMostShown = 300;
  const auto words = shortened(words_of_slurm(outcome), kMostShown);
  const auto text = lower_case(words);
  if (is_without_slurmctld(text) || text.contains("timed out"))
    return {Code::kUnreachable, fmt::format("slurmctld does not answer {}: {}", tool, words)};
  return {Code::kFailed,
          fmt::format("{} ended with exit status {}: {}", tool, outcome.exit_status, words)};
}

std::string user_id() { return std::to_string(::geteuid()); }

/// By sbatch, squeue, sacct and scancel of this machine.
class SlurmToolJobs : public SlurmJobs {
 public:
  SlurmToolJobs(const inventory::SlurmSite& site, const inventory::SlurmJob& job)
      : SlurmJobs{site, job} {}

  Task<Result<void>> submit(JobOrder order, Deadline deadline) override;
  Task<Result<std::vector<SlurmJobState>>> find(std::string name, Deadline deadline) override;
  Task<Result<void>> cancel(std::string name, Deadline deadline) override;
};

Task<Result<void>> SlurmToolJobs::submit(JobOrder order, Deadline deadline) {
  const auto output = output_of(order.name);
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(order.limit).count();
  std::vector<std::string> argv{"sbatch",
                                "--parsable",
                                "--no-requeue",
                                "--job-name=" + order.name,
                                "--comment=submitted by cupel",
                                fmt::format("--nodes={}", order.nodes.size()),
                                fmt::format("--nodelist={}", fmt::join(order.nodes, ",")),
                                "--partition=" + partition(),
                                fmt::format("--time={}", minutes),
                                "--output=" + output,
                                "--chdir=" + job_.results};
  if (!job_.reservation.empty()) argv.push_back("--reservation=" + job_.reservation);
  argv.push_back(job_.script);
  CO_TRY(co_await run_tool(std::move(argv), deadline));
  co_return ok();
}

Task<Result<std::vector<SlurmJobState>>> SlurmToolJobs::find(std::string name, Deadline deadline) {
  std::vector<std::string> argv{"squeue",         "--noheader",
                                "--states=all",   "--user=" + user_id(),
                                "--name=" + name, "--format=%A|%T|%r"};
  CO_TRY(const auto printed, co_await run_tool(std::move(argv), deadline));
  auto found = parse_job_states(printed);
  if (!found.empty()) co_return found;
  std::vector<std::string> kept{"sacct",
                                "--noheader",
                                "--parsable2",
                                "--allocations",
                                "--user=" + user_id(),
                                "--name=" + name,
                                "--starttime=now-30days",
                                "--format=JobIDRaw,State,Reason"};
  const auto accounted = co_await run_tool(std::move(kept), deadline);
  // A site without accounting, or without its tool, has no more to say.
  if (!accounted) co_return found;
  co_return parse_job_states(*accounted);
}

Task<Result<void>> SlurmToolJobs::cancel(std::string name, Deadline deadline) {
  std::vector<std::string> argv{"scancel", "--user=" + user_id(), "--name=" + name};
  CO_TRY(co_await run_tool(std::move(argv), deadline));
  co_return ok();
}

}  // namespace

bool SlurmJobState::waits() const {
  constexpr std::array<std::string_view, 7> kWaiting{"PENDING",      "CONFIGURING", "REQUEUED",
                                                     "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT",
                                                     "RESV_DEL_HOLD"};
  return is_one_of(kWaiting, state);
}

bool SlurmJobState::over() const {
  constexpr std::array<std::string_view, 10> kOver{
      "COMPLETED", "FAILED",    "CANCELLED", "TIMEOUT",       "NODE_FAIL",
      "PREEMPTED", "BOOT_FAIL", "DEADLINE",  "OUT_OF_MEMORY", "REVOKED"};
  return is_one_of(kOver, state);
}

bool SlurmJobState::is_hopeless() const {
  constexpr std::array<std::string_view, 11> kNever{
      "BadConstraints",     "PartitionTimeLimit", "PartitionNodeLimit", "PartitionConfig",
      "InvalidAccount",     "InvalidQOS",         "AccountNotAllowed",  "QOSNotAllowed",
      "ReservationDeleted", "JobHeldAdmin",       "JobHeldUser"};
  return waits() && is_one_of(kNever, reason);
}

std::vector<SlurmJobState> parse_job_states(std::string_view printed) {
  std::vector<SlurmJobState> found;
  for (const auto line : lines(printed)) {
    const auto parts = split(line, '|');
    if (parts.size() != 3 || !is_job_id(trimmed(parts[0])) || found.size() == kMostJobs) continue;
    // "CANCELLED by 1000" of sacct.
    const auto state = words(parts[1]);
    if (state.empty()) continue;
    found.push_back({.id = shortened(trimmed(parts[0]), kLongestWord),
                     .state = shortened(printable(state.front()), kLongestWord),
                     .reason = shortened(printable(trimmed(parts[2])), kLongestWord)});
  }
  std::ranges::stable_sort(
      found, {}, [](const SlurmJobState& job) { return std::pair{job.id.size(), job.id}; });
  return found;
}

std::string SlurmJobs::output_of(std::string_view name) const {
  return fmt::format("{}/{}.out", job_.results, name);
}

const std::string& SlurmJobs::partition() const {
  return job_.partition.empty() ? site_.partition : job_.partition;
}

Task<Result<std::string>> SlurmJobs::run_tool(std::vector<std::string> argv, Deadline deadline) {
  const auto* path = std::getenv("PATH");
  ProcessRequest request;
  request.output_limit = kMostOutput;
  request.argv = {"env", "-i", fmt::format("PATH={}", path == nullptr ? "/usr/bin:/bin" : path)};
  const auto* environment = std::getenv("SLURM_CONF");
  const auto configuration = !site_.configuration.empty() ? site_.configuration
                             : environment != nullptr     ? std::string{environment}
                                                          : std::string{};
  if (!configuration.empty()) request.argv.push_back("SLURM_CONF=" + configuration);
  const auto tool = argv.front();
  for (auto& each : argv) request.argv.push_back(std::move(each));
  auto outcome = co_await run_process(std::move(request), deadline.sooner(kJobPatience));
  if (!outcome) co_return std::move(outcome).error().within(tool);
  if (outcome->exit_status != 0) co_return error_of_tool(tool, *outcome);
  co_return std::move(outcome->output);
}

Task<Result<std::string>> SlurmJobs::end_of_output(std::string name, std::size_t most,
                                                   Deadline deadline) {
  std::vector<std::string> argv{"tail", "-c", std::to_string(most), "--", output_of(name)};
  return run_tool(std::move(argv), deadline);
}

std::unique_ptr<SlurmJobs> slurm_jobs(const inventory::SlurmSite& site,
                                      const inventory::SlurmJob& job) {
  if (site.rest) return std::make_unique<SlurmrestdJobs>(site, job);
  return std::make_unique<SlurmToolJobs>(site, job);
}

}  // namespace cupel::handoff
