// The node goes back to Slurm only with its proof.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "burnin/settings/settings.h"
#include "burnin/verdict_text.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/steps/kinds/kinds.h"

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
/// there, and the node is not really handed over.
Task<Result<void>> wait_until_ready(handoff::Slurm& slurm, const StepRequest& request) {
  const auto deadline = request.deadline.sooner(kSignOfLife);
  for (;;) {
    CO_TRY(const auto now, co_await slurm.node(request.node.slurm_name, request.deadline));
    if (now.drained())
      co_return Error{Code::kFailed, "Slurm still says DRAIN of " + now.name + " after RESUME"};
    const bool silent = now.has("NOT_RESPONDING") || now.has("DOWN");
    if (!silent) co_return ok();
    if (deadline.left() <= kReadyPoll)
      co_return Error{Code::kFailed,
                      fmt::format("{} was resumed, but slurmctld hears no slurmd there: start it, "
                                  "then look with: scontrol show node {}",
                                  now.name, now.name)};
    request.waiting("slurmctld hears no slurmd there yet");
    CO_TRY(co_await pause_for(kReadyPoll));
  }
}

Task<Result<StepEnd>> give(handoff::Slurm& slurm, const StepRequest& request) {
  const auto& name = request.node.slurm_name;
  CO_TRY(co_await slurm.add_features(name, slurm.site().features, request.deadline));
  CO_TRY(co_await slurm.resume(name, request.deadline));
  CO_TRY(co_await wait_until_ready(slurm, request));
  co_return done("resumed in Slurm", {{"slurm", "resumed"}});
}

Task<Result<StepEnd>> keep(handoff::Slurm& slurm, const StepRequest& request,
                           const burnin::Verdict& verdict) {
  const auto& name = request.node.slurm_name;
  const auto reason = handoff::slurm_reason(reason_for(slurm.signature(), verdict, request.run));
  CO_TRY(co_await slurm.drain(name, reason, request.deadline));
  CO_TRY(const auto after, co_await slurm.node(name, request.deadline));
  if (!after.drained())
    co_return Error{Code::kFailed, "Slurm does not say DRAIN of " + name + " after DRAIN"};
  co_return done("kept drained in Slurm: " + reason, {{"slurm", "drained"}, {"reason", reason}});
}

/// What this run, or one before it that nobody ended, has set on the node and not put back. A node
/// on which no stage has run need not answer SSH.
Task<Result<std::vector<std::string>>> settings_left(Doors& doors, const StepRequest& request,
                                                     const record::NodeRecord& record) {
  const auto ran = [](const auto& step) {
    return step.attempts > 0 && burnin::stage(step.name) != nullptr;
  };
  if (std::ranges::none_of(record.steps, ran)) co_return std::vector<std::string>{};
  const auto deadline = request.deadline.sooner(kAsked);
  CO_TRY(const auto session, co_await doors.ssh(request.node, deadline));
  std::string told;
  const auto keep = [&told](ssh::Stream stream, std::string_view piece) {
    if (stream == ssh::Stream::out) told += piece.substr(0, kLongestAnswer - told.size());
  };
  const auto command = "sh -c " + shell_quoted(burnin::settings_left_script());
  CO_TRY(const auto ran_so, co_await session->run(command, {}, keep, deadline));
  if (ran_so.exit_status != 0)
    co_return Error{Code::kFailed, "it could not be asked for settings that were left"};
  std::vector<std::string> left;
  for (const auto line : lines(told))
    if (!trimmed(line).empty()) left.push_back(printable(trimmed(line)));
  co_return left;
}

burnin::Verdict not_as_before(const std::vector<std::string>& left) {
  burnin::Cause cause;
  cause.decision = burnin::Decision::inconclusive;
  cause.criterion = "settings";
  cause.measured = fmt::format("not put back: {}", fmt::join(left, ", "));
  cause.remedy = "run a playbook with settings-restore on it";
  burnin::Verdict verdict;
  verdict.causes.push_back(std::move(cause));
  return verdict;
}

Task<Result<StepEnd>> perform_hand_off(Doors& doors, const StepRequest& request) {
  if (!doors.slurm) co_return done("the inventory has no Slurm");
  CO_TRY(const auto record, record::node_record(doors.store, request.run, request.node.name));
  // Without a verdict there is no proof: what is not known to be good stays out.
  auto verdict = record.verdict.value_or(burnin::Verdict{});
  if (verdict.decision == burnin::Decision::pass) {
    auto left = co_await settings_left(doors, request, record);
    if (!left) co_return ended_by_ssh(std::move(left).error());
    if (!left->empty()) verdict = not_as_before(*left);
  }
  auto& slurm = *doors.slurm;
  auto handed = verdict.decision == burnin::Decision::pass ? co_await give(slurm, request)
                                                           : co_await keep(slurm, request, verdict);
  if (handed) co_return handed;
  co_return ended_by(std::move(handed).error());
}

}  // namespace

StepType hand_off() { return {.kind = playbooks::StepKind::hand_off, .perform = perform_hand_off}; }

}  // namespace cupel::steps::kinds
