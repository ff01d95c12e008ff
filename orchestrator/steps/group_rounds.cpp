#include "orchestrator/steps/group_rounds.h"

#include <fmt/format.h>

#include <map>

#include "base/for_each_of.h"
#include "burnin/agent_stage.h"
#include "burnin/script.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/engine/fold.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/steps/shared_value.h"
#include "orchestrator/steps/stage_output.h"
#include "orchestrator/steps/stage_together.h"
#include "playbooks/plan.h"

namespace cupel::steps {
namespace {

using std::chrono::seconds;

constexpr int kMostRounds = 200;  // repeats are rounds too
constexpr seconds kReach{60};     // beyond a job's own limit: to reach its node, and to read it

/// Members of a round that wait for the same leader: for its value, and then for each other.
struct Meeting {
  explicit Meeting(const asio::any_io_executor& executor) : value{executor}, start{executor} {}

  SharedValue value, start;
  std::size_t checking = 0;  // members whose check has not said yes yet

  void give_up(const Error& why) {
    value.give_up(why);
    start.give_up(why);
  }
};

struct RoundMember {
  std::shared_ptr<Part> part;
  Deadline deadline;  // of the whole step
  std::optional<burnin::MemberJob> job{};
  std::optional<burnin::Output> output{};  // of this round
  Spool all{};                             // of every round, for the record
  std::string why_left{};                  // empty: it takes part
  std::shared_ptr<Meeting> meeting{};      // nullptr: it waits for nobody, and nobody for it
  bool leads = false;
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
  if (auto why = burnin::gave_up_in(spool.output)) return *std::move(why);
  if (spool.output.exit_status == 0) return {};
  // Lines of cupel-node are no complaint.
  const bool is_agents = spool.output.text.starts_with(R"({"kind":"stage")");
  return fmt::format("exit status {}: {}", spool.output.exit_status,
                     burnin::script::complaint(
                         {is_agents ? std::string{} : spool.output.text, spool.output.errors}));
}

/// Runs one script to its end on the member's node. Errors: kCancelled, kStorage; any other leaves
/// the member out, and says so in why_left.
Task<Result<std::optional<Spool>>> run_script(RoundMember& member, std::string script) {
  auto& part = *member.part;
  auto meanwhile = std::move(part.follower->meanwhile);
  auto listens = std::move(part.follower->on_output);
  auto session = part.follower->take_session();
  part.step->job->script = std::move(script);
  const auto limit = member.job->limit.count() > 0 ? member.job->limit : part.step->job->limit;
  part.request.deadline = member.deadline.sooner(limit + kReach);
  part.follower =
      std::make_shared<Follower>(part.environment, part.request,
                                 job_of(part.environment, part.request.node, *part.request.handle));
  part.follower->meanwhile = std::move(meanwhile);
  part.follower->on_output = std::move(listens);
  part.follower->go_on_over(std::move(session));
  auto spool = co_await part.follower->follow();
  if (!spool) {
    auto& error = spool.error();
    if (error.code == Code::kCancelled || error.code == Code::kStorage) co_return std::move(error);
    member.why_left = error.what;
    co_return std::optional<Spool>{};
  }
  member.all.output.text += spool->output.text;
  member.all.output.errors += spool->output.errors;
  member.why_left = why_not_read(*spool);
  co_await part.follower->clean_up();
  co_return std::optional{*std::move(spool)};
}

/// Waits for the leader's value, checks it on this node, and waits until all others have. The
/// script that is to run then; nothing: none is. Errors: kCancelled, kStorage.
Task<Result<std::optional<std::string>>> pass_check(RoundMember& member) {
  auto& meeting = *member.meeting;
  const auto shared = co_await meeting.value.wait();
  if (!shared) {
    if (shared.error().code == Code::kCancelled) co_return shared.error();
    co_return std::optional<std::string>{};
  }
  const auto& with = member.job->with_shared;
  CO_TRY(const auto checked, co_await run_script(member, with.check(*shared)));
  // A refusal leaves it in: what it could not reach may be at fault, and it meets others later.
  const auto why = !member.why_left.empty() ? member.why_left : with.refusal(checked->output);
  if (!why.empty()) {
    meeting.give_up({Code::kFailed, member.part->request.node.name + ": " + why});
    co_return std::optional<std::string>{};
  }
  if (--meeting.checking == 0) meeting.start.give("all");
  const auto started = co_await meeting.start.wait();
  if (!started && started.error().code == Code::kCancelled) co_return started.error();
  if (!started) co_return std::optional<std::string>{};
  co_return std::optional{with.script(*shared)};
}

/// Hands over the leader's value as soon as it is in what it has said.
void listen_for_value(RoundMember& leader, const burnin::GroupRounds& rounds, std::size_t number) {
  leader.part->follower->on_output = [meeting = leader.meeting, &rounds, number,
                                      output = std::string{}](std::string_view piece) mutable {
    constexpr std::size_t kMost = 1 << 20;
    if (meeting->value.value() || meeting->value.why_given_up() || output.size() > kMost) return;
    output += piece;
    auto value = rounds.shared(number, output);
    if (!value)
      meeting->give_up(value.error());
    else if (*value && burnin::is_shared_value(**value))
      meeting->value.give(**std::move(value));
  };
}

/// Errors: kCancelled, kStorage. Any other failure is the member's alone, or its leader's group's.
Task<Result<bool>> do_round(const std::shared_ptr<RoundMember>& member) {
  member->output.reset();
  if (!member->job) co_return true;
  begin_record(*member);
  auto script = std::optional{member->job->script};
  if (member->meeting && !member->leads) {
    CO_TRY(script, co_await pass_check(*member));
  }
  if (!script) co_return true;
  CO_TRY(auto spool, co_await run_script(*member, *std::move(script)));
  member->part->follower->on_output = {};
  const auto& name = member->part->request.node.name;
  if (member->leads) {
    const auto why =
        member->why_left.empty() ? "it ended before the others had begun" : member->why_left;
    member->meeting->give_up({Code::kFailed, name + ": " + why});
  }
  if (spool && member->why_left.empty()) member->output = std::move(spool->output);
  co_return true;
}

/// Who waits for whom in this round.
void arrange_meetings(const RoundMembers& members, const burnin::GroupRounds& rounds,
                      const asio::any_io_executor& executor) {
  std::map<std::size_t, std::shared_ptr<Meeting>> meetings;
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto& member = *members[i];
    member.meeting.reset();
    member.leads = false;
    if (!member.job || !member.job->leader) continue;
    auto& meeting = meetings[*member.job->leader];
    if (!meeting) meeting = std::make_shared<Meeting>(executor);
    member.meeting = meeting;
    member.leads = *member.job->leader == i;
    if (member.leads)
      listen_for_value(member, rounds, i);
    else
      ++meeting->checking;
  }
  for (const auto& [leader, meeting] : meetings)
    if (leader >= members.size() || !members[leader]->job)
      meeting->give_up({Code::kFailed, "the member that they wait for takes no part"});
}

/// Of groups in which nobody was begun.
void tell_given_up(const RoundMembers& members, burnin::GroupRounds& rounds) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& member = *members[i];
    if (!member.leads || member.meeting->start.value()) continue;
    const auto& why = member.meeting->start.why_given_up();
    rounds.gave_up(i,
                   why ? std::string_view{why->what} : std::string_view{"none of them was begun"});
  }
}

/// Errors: kCancelled, kStorage; kNoMeasurement: none is left.
Task<Result<void>> do_all_rounds(burnin::GroupRounds& rounds, const RoundMembers& members) {
  const auto executor = co_await asio::this_coro::executor;
  for (int round = 0; round < kMostRounds; ++round) {
    auto jobs = rounds.next();
    if (jobs.empty()) co_return ok();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const bool takes_part = members[i]->why_left.empty();
      members[i]->job = takes_part ? std::move(jobs.at(i)) : std::nullopt;
    }
    arrange_meetings(members, rounds, executor);
    const auto ended = co_await for_each_of<bool>(members, members.size(), do_round);
    for (const auto& each : ended)
      if (!each) co_return each.error();
    tell_given_up(members, rounds);
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

/// The node's own events. What other stages found is left out: it may be large.
void add_events_of(const store::Store& store, engine::RunId run, const std::string& node,
                   std::string_view stage, std::vector<engine::Event>& all) {
  auto events = store.events(run, node);
  if (!events) return;
  for (auto& event : *events) {
    if (event.node != node) continue;
    const bool of_another =
        event.kind == engine::EventKind::step_ended && burnin::base_name(event.step) != stage;
    if (of_another) event.data = {{"outcome", engine::text_in(event, "outcome")}};
    all.push_back(std::move(event));
  }
}

std::optional<burnin::Findings> newest_of(const record::NodeRecord& record, std::string_view stage,
                                          std::string_view but) {
  std::optional<burnin::Findings> found;
  for (const auto& step : record.steps) {
    const auto findings = record.findings.find(step.name);
    const bool ended = step.outcome == "done" && findings != record.findings.end();
    if (ended && step.name != but && burnin::base_name(step.name) == stage)
      found = findings->second;
  }
  return found;
}

}  // namespace

std::vector<std::optional<burnin::Findings>> found_before(const store::Store& store,
                                                          engine::RunId run,
                                                          std::span<const std::string> nodes,
                                                          std::string_view stage,
                                                          std::string_view but) {
  std::vector<engine::Event> all;
  std::vector<std::size_t> ends;
  for (const auto& node : nodes) {
    add_events_of(store, run, node, stage, all);
    ends.push_back(all.size());
  }
  // All at once: the document of a group has what was found on each of its nodes.
  record::hand_out(store, all);
  std::vector<std::optional<burnin::Findings>> found;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < nodes.size(); begin = ends[i++]) {
    const auto folded = engine::fold(std::span{all}.subspan(begin, ends[i] - begin));
    found.push_back(newest_of(record::record_of(nodes[i], folded), stage, but));
  }
  return found;
}

Task<Result<std::vector<bool>>> do_in_rounds(StepEnvironment& environment,
                                             const burnin::GroupStage& stage, Parts parts,
                                             boost::json::object& of_group) {
  const auto& first = parts.front()->request;
  const auto named = members_of(parts);
  const auto& profile = environment.inventory.profile_of(first.node);
  const auto& site = environment.inventory.fabric;
  const burnin::RoundsRequest asked{.profile = profile,
                                    .members = named,
                                    .parameters = first.step.with,
                                    .fabric = site ? &site->fabric : nullptr,
                                    .nccl = site ? &site->nccl : nullptr,
                                    .found_before =
                                        [&](std::string_view stage) {
                                          std::vector<std::string> names;
                                          for (const auto& part : parts)
                                            names.push_back(part->request.node.name);
                                          return found_before(environment.store, first.run, names,
                                                              stage, first.step.name);
                                        },
                                    .forwarding = site ? &site->forwarding : nullptr};
  CO_TRY(const auto rounds, stage.rounds(asked));
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
