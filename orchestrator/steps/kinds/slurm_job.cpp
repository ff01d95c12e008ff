// A batch script of the site's on the nodes that were handed over: submitted once, under a name
// that is journalled before, and found again by it.
#include "orchestrator/handoff/slurm_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/digest.h"
#include "base/ownership.h"
#include "base/readable_json.h"
#include "base/text.h"
#include "burnin/job_numbers.h"
#include "burnin/stage.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "playbooks/job_steps.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::Outcome;
using engine::StepEnd;
using engine::StepRequest;
using handoff::SlurmJobs;
using handoff::SlurmJobState;

/// What a dead controller's sbatch had begun, and a file of a shared folder, show up within so many
/// looks: a minute.
constexpr int kLooks = 6;

using Nodes = std::vector<const inventory::Node*>;

/// The nodes of the step: those that Slurm was given in this run, those that it was given once and
/// that were drained since, and the rest.
struct Shared {
  Nodes given{}, drained{}, left_out{};
};

/// Whether a hand-off behind the step was done already: the step comes again by a person's word.
bool was_judged(const record::NodeRecord& record, const std::string& step) {
  const auto own = std::ranges::find(record.steps, step, &record::StepRecord::name);
  return std::any_of(own, record.steps.end(), [](const record::StepRecord& each) {
    const auto* kind = playbooks::step_kind(burnin::base_name(each.name));
    return each.attempts > 0 && kind != nullptr && kind->kind == playbooks::StepKind::hand_off;
  });
}

Nodes nodes_of(const StepRequest& request) {
  return request.members.empty() ? Nodes{&request.node} : Nodes{request.members};
}

Result<Shared> shared_out(const StepEnvironment& environment, const StepRequest& request) {
  Shared shared;
  for (const auto* node : nodes_of(request)) {
    TRY(const auto record, record::node_record(environment.store, request.run, node->name));
    if (!environment.inventory.is_of_slurm(*node))
      shared.left_out.push_back(node);
    else if (record.hand_off == "resumed")
      shared.given.push_back(node);
    else
      (was_judged(record, request.step.name) ? shared.drained : shared.left_out).push_back(node);
  }
  return shared;
}

std::string names_of(const Nodes& nodes) {
  constexpr std::size_t kNamed = 8;
  std::vector<std::string> names;
  for (const auto* node : nodes) names.push_back(node->name);
  const auto more = names.size() > kNamed ? names.size() - kNamed : 0;
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string drained(const Nodes& nodes) {
  return fmt::format(
      "nothing was submitted for {}: drained since the job was tried; begin a new "
      "run, in which Slurm is given what passes",
      names_of(nodes));
}

/// The job of the inventory that the step names. Errors: kInvalid.
Result<const inventory::SlurmJob*> site_job(const StepEnvironment& environment,
                                            const StepRequest& request) {
  const auto named = request.step.with.find("job");
  const auto name = named == request.step.with.end() ? std::string{} : named->second;
  const auto& slurm = environment.inventory.slurm;
  const auto* job = slurm ? slurm->job(name) : nullptr;
  if (job == nullptr)
    return Error{Code::kInvalid,
                 fmt::format("slurm: jobs: of the inventory has no job '{}' any more", name)};
  return job;
}

/// Of those of one name the one that counts: of an array, or where a dead controller's sbatch came
/// late, there are several. What still runs comes first, then what went wrong.
const SlurmJobState& one_of(const std::vector<SlurmJobState>& jobs) {
  const auto live = std::ranges::find_if(jobs, [](const auto& job) { return !job.over(); });
  if (live != jobs.end()) return *live;
  const auto bad = std::ranges::find_if(jobs, [](const auto& job) { return !job.is_good(); });
  return bad == jobs.end() ? jobs.front() : *bad;
}

/// Any other answer of squeue's ends no job that may be running.
bool is_final(Code code) { return code == Code::kCancelled || code == Code::kUnsupported; }

StepEnd rejected(std::string detail) {
  StepEnd end;
  end.outcome = Outcome::reject;
  end.detail = std::move(detail);
  return end;
}

/// One job, from its name to its end.
class JobRun {
 public:
  JobRun(StepEnvironment& environment, const StepRequest& request, const inventory::SlurmJob& job,
         std::string name, Shared shared)
      : environment_{environment},
        request_{request},
        jobs_{handoff::slurm_jobs(*environment.inventory.slurm, job)},
        name_{std::move(name)},
        shared_{std::move(shared)},
        until_{with_last_word(request.deadline)} {}

  /// Errors: kCancelled, kStorage; those of SlurmJobs, where it certainly was not submitted.
  Task<Result<void>> submit() {
    CO_TRY(const auto limit, playbooks::job_limit(request_.step.with));
    handoff::JobOrder order{.name = name_, .limit = limit};
    for (const auto* node : shared_.given) order.nodes.push_back(node->slurm_name);
    request_.waiting("Slurm to take the job");
    auto submitted = co_await jobs_->submit(std::move(order), until_);
    if (submitted || !is_lost(submitted.error().code)) co_return submitted;
    co_return ok();  // it may have been: follow() looks
  }

  /// Submits it where nothing of it is found, once.
  Task<Result<StepEnd>> follow() {
    bool may_submit = true;
    for (int looks = 0; until_.left() > environment_.ask_job_every;) {
      auto found = co_await jobs_->find(name_, until_);
      if (!found && is_final(found.error().code)) co_return std::move(found).error();
      if (!found) {
        waits_for_ = found.error().what;
      } else if (!found->empty()) {
        looks = 0;
        may_submit = false;
        const auto job = one_of(*found);
        if (job.over()) co_return co_await finish(job);
        if (job.is_hopeless()) co_return rejected(never_starts(job));
        say(job);
      } else if (++looks == kLooks) {
        if (!may_submit) co_return rejected(forgotten());
        CO_TRY(const auto begun, co_await may_have_begun());
        if (begun) co_return rejected(forgotten());
        may_submit = false;
        looks = 0;
        CO_TRY(co_await submit());
      } else {
        waits_for_ = "Slurm to know job " + name_;
      }
      request_.waiting(waits_for_);
      CO_TRY(co_await pause_for(environment_.ask_job_every));
    }
    co_return rejected(fmt::format("no time is left: it waited for {}", waits_for_));
  }

 private:
  static std::string look_at(const SlurmJobState& job) { return "squeue --job=" + job.id; }

  static std::string never_starts(const SlurmJobState& job) {
    return fmt::format("job {} never starts: Slurm's reason is {}: look with: {}", job.id,
                       job.reason, look_at(job));
  }

  void say(const SlurmJobState& job) {
    waits_for_ = job.waits()
                     ? fmt::format("job {} to start: Slurm's reason is {}", job.id, job.reason)
                     : fmt::format("job {} ({}) to end", job.id, job.state);
  }

  std::string forgotten() const {
    return fmt::format(
        "Slurm has no job {} any more, so that nothing says how it ended (MinJobAge "
        "of slurm.conf; the accounting has it, where the site has one); what it "
        "printed is in {}",
        name_, jobs_->output_of(name_));
  }

  /// Whether the job may have begun: it was submitted then, and Slurm has forgotten it. A folder
  /// that does not answer, or may not be read, does not say that it has not.
  Task<Result<bool>> may_have_begun() {
    const auto printed = co_await jobs_->end_of_output(name_, burnin::kJobOutputEnd, until_);
    if (!printed && printed.error().code == Code::kCancelled) co_return printed.error();
    co_return printed || !printed.error().what.contains("No such file or directory");
  }

  /// Errors: those of SlurmJobs::end_of_output() after the last look.
  Task<Result<std::string>> printed() {
    for (int looks = 1;; ++looks) {
      auto output = co_await jobs_->end_of_output(name_, burnin::kJobOutputEnd, until_);
      if (output || output.error().code == Code::kCancelled || looks == kLooks) co_return output;
      request_.waiting(jobs_->output_of(name_));
      CO_TRY(co_await pause_for(environment_.ask_job_every));
    }
  }

  Task<Result<StepEnd>> finish(SlurmJobState job) {
    auto output = co_await printed();
    if (!output && output.error().code == Code::kCancelled) co_return output.error();
    if (!job.is_good()) {
      constexpr std::size_t kMostShown = 160;
      auto last = output ? burnin::last_line_of_job(*output) : std::string_view{};
      co_return rejected(fmt::format(
          "job {} ended as {} ({}){}: look at {}", job.id, job.state, job.reason,
          last.empty() ? "" : "; its last line: " + shortened(printable(last), kMostShown),
          jobs_->output_of(name_)));
    }
    if (!output)
      co_return rejected(fmt::format(
          "job {} has ended, and what it printed is not here: {}: results: of the job must be a "
          "folder that the nodes and this machine share",
          job.id, output.error().what));
    co_return measured(job, *output);
  }

  Result<StepEnd> measured(const SlurmJobState& job, const std::string& output) {
    const auto findings = burnin::parse_job_numbers(output);
    if (!findings)
      return rejected(
          fmt::format("job {}: {} ({})", job.id, findings.error().what, jobs_->output_of(name_)));
    TRY(const auto evidence, environment_.store.keep_evidence(output));
    auto found = record::to_json(*findings);
    found["evidence"] = evidence;
    found["slurm_job"] = job.id;
    const auto count = shared_.given.size();
    auto detail = fmt::format("job {} on {} node{}:", job.id, count, count == 1 ? "" : "s");
    constexpr std::size_t kShown = 4;
    for (std::size_t i = 0; i < std::min(kShown, findings->measurements.size()); ++i)
      detail += fmt::format(" {} {}", findings->measurements[i].name,
                            plain(findings->measurements[i].value));
    if (!shared_.left_out.empty())
      detail += "; without what Slurm was not given: " + names_of(shared_.left_out);
    auto end = done(std::move(detail), std::move(found));
    if (request_.members.empty()) return end;
    TRY(end.found, shares(end.found));
    return end;
  }

  /// What each node has of it, in one document that the events of all of them name.
  Result<boost::json::object> shares(const boost::json::object& found) {
    boost::json::object document;
    for (const auto* node : shared_.given) document[node->name] = found;
    for (const auto* node : shared_.left_out)
      document[node->name] = boost::json::object{{"left_out", "Slurm was not given the node"}};
    // Without its numbers it must not pass the verdict that comes again.
    for (const auto* node : shared_.drained)
      document[node->name] =
          boost::json::object{{"outcome", "failed"}, {"detail", drained({node})}};
    make_readable(document);
    TRY(const auto hash, environment_.store.keep_evidence(boost::json::serialize(document)));
    return boost::json::object{{"together", true}, {"evidence", hash}};
  }

  StepEnvironment& environment_;
  const StepRequest& request_;
  std::unique_ptr<SlurmJobs> jobs_;
  std::string name_;
  Shared shared_;
  Deadline until_;
  std::string waits_for_{"Slurm"};
};

Task<Result<StepEnd>> perform_slurm_job(StepEnvironment& environment, const StepRequest& request) {
  const auto job = site_job(environment, request);
  if (!job) co_return ended_by(job.error());
  CO_TRY(auto shared, shared_out(environment, request));
  if (shared.given.empty() && !shared.drained.empty()) co_return rejected(drained(shared.drained));
  if (shared.given.empty())
    co_return done("nothing was submitted: Slurm was given none of its nodes");
  // Who may change it may run what they like as our user.
  if (const auto own = check_ownership((*job)->script); !own) co_return ended_by(own.error());
  auto name = fmt::format("cupel-{}-{}", request.run, random_hex(8));
  CO_TRY(co_await request.started(name));
  JobRun run{environment, request, **job, std::move(name), std::move(shared)};
  auto submitted = co_await run.submit();
  if (!submitted) co_return ended_by(std::move(submitted).error());
  auto ended = co_await run.follow();
  if (!ended) co_return ended_by(std::move(ended).error());
  co_return ended;
}

Task<Result<StepEnd>> reattach_slurm_job(StepEnvironment& environment, const StepRequest& request) {
  const auto job = site_job(environment, request);
  if (!job) co_return ended_by(job.error());
  CO_TRY(auto shared, shared_out(environment, request));
  if (const auto own = check_ownership((*job)->script); !own) co_return ended_by(own.error());
  JobRun run{environment, request, **job, *request.handle, std::move(shared)};
  auto ended = co_await run.follow();
  if (!ended) co_return ended_by(std::move(ended).error());
  co_return ended;
}

/// What Slurm has of a job that is no longer needed.
enum class Left { nothing, ended, going_on };

Task<Result<Left>> cancelled(SlurmJobs& jobs, std::string name, Deadline deadline) {
  CO_TRY(co_await jobs.cancel(name, deadline));
  CO_TRY(const auto found, co_await jobs.find(name, deadline));
  if (found.empty()) co_return Left::nothing;
  co_return std::ranges::all_of(found, &SlurmJobState::over) ? Left::ended : Left::going_on;
}

/// Until Slurm has nothing of it on a node any more. One that Slurm does not have is looked for a
/// minute long: slurmctld may have heard an sbatch that was cut off, and take its job late. By its
/// name alone: the inventory may have lost the job meanwhile.
Task<Result<void>> cancel_job(StepEnvironment& environment, const StepRequest& request) {
  const auto& slurm = environment.inventory.slurm;
  const auto& name = *request.handle;
  if (!slurm)
    co_return Error{Code::kInvalid,
                    fmt::format("the inventory has no slurm: any more: scancel --name={}", name)};
  const inventory::SlurmJob any{};
  const auto jobs = handoff::slurm_jobs(*slurm, any);
  std::string why;
  for (int looks = 1; looks <= kLooks; ++looks) {
    if (looks > 1) {
      CO_TRY(co_await pause_for(environment.ask_job_every));
    }
    const auto left = co_await cancelled(*jobs, name, request.deadline);
    if (!left && is_final(left.error().code)) co_return left.error();
    if (left && *left == Left::ended) co_return ok();
    if (left && *left == Left::nothing && looks == kLooks) co_return ok();
    why = left ? "it goes on" : left.error().what;
  }
  co_return Error{Code::kFailed,
                  fmt::format("Slurm has not ended job {0}: {1}: scancel --name={0}", name, why)};
}

}  // namespace

StepType slurm_job() {
  return {.kind = playbooks::StepKind::slurm_job,
          .perform = perform_slurm_job,
          .reattach = reattach_slurm_job,
          .abort = cancel_job};
}

}  // namespace cupel::steps::kinds
