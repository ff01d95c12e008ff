#include "orchestrator/steps/group_members.h"

#include <fmt/format.h>

#include "base/all_or_none.h"
#include "base/text.h"
#include "burnin/script.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/subject.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/steps/bmc_watch.h"
#include "orchestrator/steps/shared_value.h"
#include "orchestrator/steps/stage_output.h"
#include "orchestrator/store/group_document.h"
#include "playbooks/plan.h"

namespace cupel::steps {
namespace {

struct GroupMember {
  std::shared_ptr<Part> part;
  const burnin::GroupStage& stage;
  std::shared_ptr<SharedValue> shared;  // nullptr: nothing is handed over
  burnin::MemberJob job{};
  bool leads = false;
  burnin::Output output{};
};

using GroupMembers = std::vector<std::shared_ptr<GroupMember>>;

/// Looks for the shared value in what the first member says, as it comes.
void listen_for_shared(GroupMember& first) {
  first.part->follower->on_output = [&first,
                                     output = std::string{}](std::string_view piece) mutable {
    if (first.shared->value()) return;
    output += piece;
    auto value = first.stage.shared(output);
    if (value && burnin::is_shared_value(*value)) first.shared->give(*std::move(value));
  };
}

std::string role_of(const GroupMember& member) {
  return fmt::format("{} ({})", member.part->request.node.name, member.job.role);
}

/// Why its part was not done; empty: it was.
std::string why_not_done(const GroupMember& member, const engine::StepEnd& end) {
  if (end.outcome != engine::Outcome::done) return end.detail;
  if (const auto gave_up = burnin::script::check_gave_up(member.output); !gave_up)
    return gave_up.error().what;
  if (member.output.exit_status != 0)
    return fmt::format("exit status {}: {}", member.output.exit_status,
                       burnin::script::complaint(member.output));
  if (member.leads && member.shared && !member.shared->value())
    return "it ended before it had reported what the others need";
  return {};
}

/// Errors: whatever makes the part of the others worthless.
Task<Result<bool>> do_member(const std::shared_ptr<GroupMember>& member) {
  auto& part = *member->part;
  auto script = member->job.script;
  if (member->shared && !member->leads) {
    CO_TRY(const auto shared, co_await member->shared->wait());
    script = "shared=" + shell_quoted(shared) + "\n" + script;
  }
  part.step->job->script = std::move(script);
  if (member->shared && member->leads) listen_for_shared(*member);
  auto spool = co_await part.follower->follow();
  if (!spool) co_return std::move(spool).error().within(role_of(*member));
  CO_TRY(part.end, keep_output(part.environment, part.request, *spool));
  member->output = std::move(spool->output);
  co_await read_logs(part);
  auto why = why_not_done(*member, *part.end);
  if (why.empty()) co_return true;
  part.end->outcome = engine::Outcome::reject;
  part.end->detail = why;
  co_return Error{Code::kFailed, role_of(*member) + ": " + why};
}

void put_findings(const burnin::Findings& findings, engine::StepEnd& end) {
  const auto found = record::to_json(findings);
  for (const auto& [key, value] : found) end.found[key] = value;
  if (findings.facts.empty()) return;
  auto& facts = end.found["facts"];
  if (!facts.is_object()) facts = boost::json::object{};
  for (const auto& [name, value] : findings.facts) facts.get_object()[name] = value;
}

Result<void> analyse(StepEnvironment& environment, const burnin::GroupStage& stage,
                     const Parts& parts, const GroupMembers& members,
                     boost::json::object& of_group) {
  std::vector<burnin::Output> outputs;
  for (const auto& member : members) outputs.push_back(member->output);
  const auto& first = parts.front()->request;
  TRY(auto findings, stage.analyse_group(environment.inventory.profile_of(first.node),
                                         members_of(parts), outputs));
  keep_findings(parts, findings, of_group);
  return ok();
}

}  // namespace

std::vector<burnin::Member> members_of(const Parts& parts) {
  std::vector<burnin::Member> members;
  for (const auto& part : parts)
    members.push_back({part->request.node.name, part->request.node.ssh.endpoint.host});
  return members;
}

void keep_findings(const Parts& parts, const burnin::GroupFindings& findings,
                   boost::json::object& of_group) {
  for (std::size_t i = 0; i < parts.size() && i < findings.members.size(); ++i)
    put_findings(findings.members[i], *parts[i]->end);
  std::vector<store::LinkNumber> links;
  for (const auto& [link, measured, behind] : findings.links)
    links.push_back(
        {to_text(link), measured.name, measured.unit, measured.value, measured.traced_to, behind});
  const auto& first = parts.front()->request;
  store::add_links(of_group, first.step.name, first.node.name, links, findings.reasons);
}

Task<void> read_logs(Part& part) {
  co_await part.kernel->after(*part.end, part.follower->session());
  LogWatch log{part.environment, part.request};
  co_await log.after(*part.end);
  part.when_written = [written = log.when_written(), of_kernel = part.kernel->when_written()] {
    written();
    of_kernel();
  };
}

Task<Result<std::vector<bool>>> do_as_group(StepEnvironment& environment,
                                            const burnin::GroupStage& stage, Parts parts,
                                            boost::json::object& of_group) {
  const auto members = members_of(parts);
  if (members.size() < stage.least || members.size() > stage.most)
    co_return Error{Code::kInvalid, fmt::format("it takes {} to {} nodes, not {}", stage.least,
                                                stage.most, members.size())};
  CO_TRY(auto jobs, stage.prepare_group(members, parts.front()->request.step.with));
  const auto executor = co_await asio::this_coro::executor;
  std::shared_ptr<SharedValue> shared;
  if (stage.shared != nullptr) shared = std::make_shared<SharedValue>(executor);
  GroupMembers all;
  for (std::size_t i = 0; i < parts.size(); ++i)
    all.push_back(std::make_shared<GroupMember>(
        GroupMember{parts[i], stage, shared, std::move(jobs.at(i)), i == 0}));
  auto ended = co_await all_or_none<bool>(all, do_member);
  if (!ended) co_return ended;
  CO_TRY(analyse(environment, stage, parts, all, of_group));
  co_return ended;
}

}  // namespace cupel::steps
