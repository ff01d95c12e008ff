#include "orchestrator/steps/group_rounds.h"

#include <fmt/format.h>

#include "base/for_each_of.h"
#include "burnin/script.h"
#include "orchestrator/steps/stage_output.h"
#include "orchestrator/steps/stage_together.h"

namespace cupel::steps {
namespace {

using std::chrono::seconds;

constexpr int kMostRounds = 200;  // repeats are rounds too
constexpr seconds kReach{60};     // beyond a job's own limit: to reach its node, and to read it

struct RoundMember {
  std::shared_ptr<Part> part;
  Deadline deadline;  // of the whole step
  std::optional<burnin::MemberJob> job{};
  std::optional<burnin::Output> output{};  // of this round
  Spool all{};                             // of every round, for the record
  std::string why_left{};                  // empty: it takes part
};

using RoundMembers = std::vector<std::shared_ptr<RoundMember>>;

void begin_record(RoundMember& member) {
  const auto mark = fmt::format("cupel-round: {}\n", member.job->role);
  member.all.output.text += mark;
  member.all.output.errors += mark;
}

/// Why what came back is none of this round's readings; empty: it is one.
std::string why_not_read(const Spool& spool) {
  if (spool.lost) return "its job is gone: the node restarted, or the job was ended";
  if (spool.stopped) return "its job was ended half done";
  if (const auto gave_up = burnin::script::check_gave_up(spool.output); !gave_up)
    return gave_up.error().what;
  if (spool.output.exit_status == 0) return {};
  return fmt::format("exit status {}: {}", spool.output.exit_status,
                     burnin::script::complaint(spool.output));
}

/// Errors: kCancelled, kStorage. Any other failure is the member's alone.
Task<Result<bool>> do_round(const std::shared_ptr<RoundMember>& member) {
  member->output.reset();
  if (!member->job) co_return true;
  auto& part = *member->part;
  auto meanwhile = std::move(part.follower->meanwhile);
  part.step->job->script = member->job->script;
  const auto limit = member->job->limit.count() > 0 ? member->job->limit : part.step->job->limit;
  part.request.deadline = member->deadline.sooner(limit + kReach);
  part.follower =
      std::make_shared<Follower>(part.environment, part.request,
                                 job_of(part.environment, part.request.node, *part.request.handle));
  part.follower->meanwhile = std::move(meanwhile);
  begin_record(*member);
  auto spool = co_await part.follower->follow();
  if (!spool) {
    auto& error = spool.error();
    if (error.code == Code::kCancelled || error.code == Code::kStorage) co_return std::move(error);
    member->why_left = error.what;
    co_return true;
  }
  member->all.output.text += spool->output.text;
  member->all.output.errors += spool->output.errors;
  member->why_left = why_not_read(*spool);
  if (member->why_left.empty()) member->output = std::move(spool->output);
  co_await part.follower->clean_up();
  co_return true;
}

/// Errors: kCancelled, kStorage; kNoMeasurement: none is left.
Task<Result<void>> do_all_rounds(burnin::GroupRounds& rounds, const RoundMembers& members) {
  for (int round = 0; round < kMostRounds; ++round) {
    auto jobs = rounds.next();
    if (jobs.empty()) co_return ok();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const bool takes_part = members[i]->why_left.empty();
      members[i]->job = takes_part ? std::move(jobs.at(i)) : std::nullopt;
    }
    const auto ended = co_await for_each_of<bool>(members, members.size(), do_round);
    for (const auto& each : ended)
      if (!each) co_return each.error();
    std::vector<std::optional<burnin::Output>> outputs;
    std::vector<bool> left;
    for (const auto& member : members) {
      outputs.push_back(std::move(member->output));
      left.push_back(!member->why_left.empty());
    }
    if (std::ranges::count(left, false) < 2)
      co_return Error{Code::kNoMeasurement, fmt::format("fewer than two nodes are left: {}: {}",
                                                        members.front()->part->request.node.name,
                                                        members.front()->why_left)};
    rounds.take(outputs, left);
  }
  co_return Error{Code::kFailed, fmt::format("it did not end within {} rounds", kMostRounds)};
}

/// The record of each member, and the logs of its kernel and its BMC.
Task<Result<bool>> end_member(const std::shared_ptr<RoundMember>& member) {
  auto& part = *member->part;
  part.request.deadline = member->deadline;
  CO_TRY(part.end, keep_output(part.environment, part.request, member->all));
  co_await read_logs(part);
  if (!member->why_left.empty()) {
    part.end->outcome = engine::Outcome::reject;
    part.end->detail = member->why_left;
    part.request.waiting("took no part to the end: " + member->why_left);
  }
  co_return true;
}

}  // namespace

Task<Result<std::vector<bool>>> do_in_rounds(StepEnvironment& environment,
                                             const burnin::GroupStage& stage, Parts parts,
                                             boost::json::object& of_group) {
  const auto& first = parts.front()->request;
  const auto named = members_of(parts);
  const auto& profile = environment.inventory.profile_of(first.node);
  const auto& site = environment.inventory.fabric;
  const auto* fabric = site ? &site->fabric : nullptr;
  CO_TRY(const auto rounds, stage.rounds({profile, named, first.step.with, fabric}));
  RoundMembers members;
  for (const auto& part : parts)
    members.push_back(std::make_shared<RoundMember>(RoundMember{part, part->request.deadline}));
  const auto measured = co_await do_all_rounds(*rounds, members);
  if (!measured) co_return measured.error();
  const auto ended = co_await for_each_of<bool>(members, members.size(), end_member);
  for (const auto& each : ended)
    if (!each) co_return each.error();
  CO_TRY(const auto findings, rounds->findings());
  keep_findings(parts, findings, of_group);
  co_return std::vector<bool>(parts.size(), true);
}

}  // namespace cupel::steps
