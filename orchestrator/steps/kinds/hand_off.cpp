// The node goes back to Slurm, or Kubernetes, only with its proof.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "burnin/stage.h"
#include "burnin/undo.h"
#include "burnin/verdict_text.h"
#include "inventory/model.h"
#include "inventory/nvlink_domain.h"
#include "orchestrator/record/fact_of.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

constexpr std::chrono::seconds kSignOfLife{90};  // slurmctld pings within a few seconds
constexpr std::chrono::milliseconds kReadyPoll{500};
constexpr std::chrono::seconds kAsked{30};    // a node, for a short answer
constexpr std::size_t kLongestAnswer = 4096;  // bytes

std::string reason_for(std::string_view signature, const burnin::Verdict& verdict,
                       engine::RunId run) {
  std::string text;
  for (const auto& cause : verdict.causes) {
    if (cause.decision != verdict.decision) continue;
    text = burnin::to_string(cause);
    break;
  }
  const auto causes =
      std::ranges::count_if(verdict.causes, &std::string::empty, &burnin::Cause::consequence_of);
  const auto others = std::max<std::ptrdiff_t>(causes - 1, 0);
  const auto more = others == 0 ? std::string{} : fmt::format(" and {} more", others);
  return fmt::format("{}: {}: {}{} (run {})", signature, to_string(verdict.decision),
                     text.empty() ? "no evidence" : text, more, run);
}

/// RESUME makes slurmctld ask the node's slurmd for a sign of life; until it comes no job starts
/// there, and the node is not really handed over. The same with a kubelet.
Task<Result<void>> wait_until_ready(StepEnvironment& environment, const StepRequest& request) {
  const auto scheduler_of_node = environment.scheduler_for(request.node);
  auto& scheduler = *scheduler_of_node;
  const auto& profile = environment.inventory.profile_of(request.node);
  const auto deadline = request.deadline.sooner(kSignOfLife);
  for (;;) {
    CO_TRY(const auto now, co_await scheduler.look(request.node, profile, request.deadline));
    if (now.drained)
      co_return Error{Code::kFailed, fmt::format("{} reports {} as drained after it was resumed",
                                                 scheduler.name(), now.name)};
    if (now.silent.empty()) co_return ok();
    if (deadline.left() <= kReadyPoll)
      co_return Error{Code::kFailed,
                      fmt::format("{} was resumed, but {}: start it, then look with: {}", now.name,
                                  now.silent, now.look_with)};
    request.waiting(now.silent + " yet");
    CO_TRY(co_await pause_for(kReadyPoll));
  }
}

boost::json::object found_in(const handoff::Scheduler& scheduler, std::string_view state) {
  boost::json::object found;
  for (const auto key : scheduler.keys()) found[key] = state;
  return found;
}

StepEnd kept(const handoff::Scheduler& scheduler, const std::string& reason) {
  auto found = found_in(scheduler, "drained");
  found["reason"] = reason;
  return done(fmt::format("kept drained in {}: {}", scheduler.name(), reason), std::move(found));
}

/// That all of its GPUs reported in this run.
std::optional<inventory::NvlinkDomain> domain_of(const record::NodeRecord& record) {
  return inventory::parse_nvlink_domain(record::fact_of(record, inventory::kDomainFact));
}

/// Its domain first: jobs are placed by it as soon as the node takes any.
Task<Result<StepEnd>> give(StepEnvironment& environment, const StepRequest& request,
                           const record::NodeRecord& record) {
  const auto scheduler_of_node = environment.scheduler_for(request.node);
  auto& scheduler = *scheduler_of_node;
  if (const auto domain = domain_of(record)) {
    CO_TRY(co_await scheduler.place(request.node, *domain, request.deadline));
  }
  CO_TRY(const auto left, co_await scheduler.release(request.node, request.deadline));
  if (!left.empty()) co_return kept(scheduler, left);
  CO_TRY(co_await wait_until_ready(environment, request));
  co_return done(fmt::format("resumed in {}", scheduler.name()), found_in(scheduler, "resumed"));
}

Task<Result<StepEnd>> keep(StepEnvironment& environment, const StepRequest& request,
                           const burnin::Verdict& verdict) {
  const auto scheduler_of_node = environment.scheduler_for(request.node);
  auto& scheduler = *scheduler_of_node;
  const auto& profile = environment.inventory.profile_of(request.node);
  const auto reason = handoff::one_line_reason(
      handoff::with_short_urls(reason_for(scheduler.signature(), verdict, request.run)));
  CO_TRY(co_await scheduler.hold(request.node, reason, request.deadline));
  CO_TRY(const auto after, co_await scheduler.look(request.node, profile, request.deadline));
  if (!after.drained)
    co_return Error{Code::kFailed, fmt::format("{} does not report {} as drained after it was",
                                               scheduler.name(), after.name)};
  co_return kept(scheduler, reason);
}

/// Its reservation ends with the run, whatever became of the node.
Task<Result<StepEnd>> hand_over(StepEnvironment& environment, const StepRequest& request,
                                const burnin::Verdict& verdict, const record::NodeRecord& record) {
  const auto scheduler_of_node = environment.scheduler_for(request.node);
  auto& scheduler = *scheduler_of_node;
  CO_TRY(co_await scheduler.unreserve(request.node, fmt::to_string(request.run), request.deadline));
  if (verdict.decision == burnin::Decision::pass)
    co_return co_await give(environment, request, record);
  co_return co_await keep(environment, request, verdict);
}

bool ran_a_stage(const record::NodeRecord& record) {
  return std::ranges::any_of(record.steps, [](const auto& step) {
    return step.attempts > 0 && burnin::stage(step.name) != nullptr;
  });
}

/// What this run, or one before it that nobody ended, has changed on the node by this stage and not
/// changed back.
Task<Result<std::vector<std::string>>> left_by(ssh::Session& session, const burnin::Stage& stage,
                                               Deadline deadline) {
  std::string reported;
  const auto keep = [&reported](ssh::Stream stream, std::string_view piece) {
    if (stream == ssh::Stream::out) reported += piece.substr(0, kLongestAnswer - reported.size());
  };
  const auto command = "sh -c " + shell_quoted(stage.undo->left_script());
  CO_TRY(const auto ran, co_await session.run(command, {}, keep, deadline));
  if (ran.exit_status != 0)
    co_return Error{Code::kFailed,
                    fmt::format("it could not be asked for {} that were left", stage.name)};
  std::vector<std::string> left;
  for (const auto line : lines(reported))
    if (!trimmed(line).empty()) left.push_back(printable(trimmed(line)));
  co_return left;
}

burnin::Cause not_as_before(const burnin::Stage& stage, const std::vector<std::string>& left) {
  burnin::Cause cause;
  cause.decision = burnin::Decision::inconclusive;
  cause.criterion = stage.name;
  cause.measured = fmt::format("not put back: {}", fmt::join(left, ", "));
  cause.remedy = fmt::format("run a playbook with {} on it", stage.undo->stage);
  return cause;
}

/// Why a node that passed is not given away. One on which no stage has run need not answer SSH.
Task<Result<std::vector<burnin::Cause>>> changes_left(StepEnvironment& environment,
                                                      const StepRequest& request,
                                                      const record::NodeRecord& record) {
  std::vector<burnin::Cause> causes;
  if (!ran_a_stage(record)) co_return causes;
  const auto deadline = request.deadline.sooner(kAsked);
  CO_TRY(const auto session, co_await environment.ssh(request.node, deadline));
  for (const auto& stage : burnin::stages()) {
    if (stage.undo == nullptr) continue;
    CO_TRY(const auto left, co_await left_by(*session, stage, deadline));
    if (!left.empty()) causes.push_back(not_as_before(stage, left));
  }
  co_return causes;
}

Task<Result<StepEnd>> perform_hand_off(StepEnvironment& environment, const StepRequest& request) {
  if (!environment.scheduler_for(request.node))
    co_return done("no scheduler: the inventory names none, or the rehearsal has none (--slurm)");
  CO_TRY(const auto record, record::node_record(environment.store, request.run, request.node.name));
  // Without a verdict there is no proof: what is not known to be good stays out.
  auto verdict = record.verdict.value_or(burnin::Verdict{});
  if (verdict.decision == burnin::Decision::pass) {
    auto left = co_await changes_left(environment, request, record);
    if (!left) co_return ended_by_ssh(std::move(left).error());
    if (!left->empty()) verdict = {.causes = *std::move(left)};
  }
  auto handed = co_await hand_over(environment, request, verdict, record);
  if (handed) co_return handed;
  co_return ended_by(std::move(handed).error());
}

}  // namespace

StepType hand_off() { return {.kind = playbooks::StepKind::hand_off, .perform = perform_hand_off}; }

}  // namespace cupel::steps::kinds
