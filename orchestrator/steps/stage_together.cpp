#include "orchestrator/steps/stage_together.h"

#include <fmt/format.h>

#include "base/all_or_none.h"
#include "base/for_each_of.h"
#include "base/readable_json.h"
#include "burnin/stage.h"
#include "inventory/node.h"
#include "orchestrator/ssh/node_paths.h"
#include "orchestrator/ssh/programs.h"
#include "orchestrator/steps/group_members.h"
#include "orchestrator/steps/group_rounds.h"
#include "orchestrator/steps/stage_beside.h"
#include "orchestrator/steps/stage_output.h"
#include "playbooks/plan.h"

namespace cupel::steps {

using engine::StepEnd;
using engine::StepRequest;

using std::chrono::seconds;

ssh::JobHandle job_of(const StepEnvironment& environment, const inventory::Node& node,
                      std::string folder) {
  ssh::JobHandle handle{std::move(folder), node.ssh.sudo};
  if (environment.programs) handle.programs = environment.programs->on_node();
  return handle;
}

namespace {

constexpr seconds kCleanUpPatience{10};
constexpr seconds kStopPatience{30};  // TERM, and KILL for a supervisor that does not hear it
/// A node that is not reached in this time is not waited for: what runs there has its own limit.
constexpr seconds kLetGoPatience{60};
constexpr std::size_t kCleanUpsAtOnce = 32, kMarksAtOnce = 32;

/// Each node has a folder of its own; all of them are found again by the one handle of the step.
Parts parts_of(StepEnvironment& environment, const StepRequest& request,
               const std::string& handle) {
  Parts parts;
  for (const auto* member : request.members) {
    auto waiting = [tell = request.waiting, name = member->name](const std::string& what) {
      tell(what.empty() ? what : name + ": " + what);
    };
    auto job = job_of(environment, *member, handle + "-" + member->name);
    auto step = std::make_shared<playbooks::PlannedStep>(request.step);
    StepRequest mine{request.run, *member,          {},           *step, request.attempt,
                     job.folder,  request.deadline, request.stop, {},    waiting};
    auto part = std::make_shared<Part>(Part{environment, std::move(step), std::move(mine)});
    part->follower = std::make_shared<Follower>(environment, part->request, std::move(job));
    part->kernel.emplace(environment, part->request);
    part->follower->meanwhile = [watch = &*part->kernel](ssh::Session& session) {
      return watch->meanwhile(session);
    };
    parts.push_back(std::move(part));
  }
  return parts;
}

/// Where the log of each node's kernel stands, before any of them works.
Task<void> mark_logs(Parts parts) {
  const auto mark = [](const std::shared_ptr<Part>& part) -> Task<Result<bool>> {
    co_await part->kernel->before();
    co_return true;
  };
  [[maybe_unused]] const auto marked =
      co_await for_each_of<bool>(std::move(parts), kMarksAtOnce, mark);
}

/// Errors: whatever makes the part of the others worthless.
Task<Result<bool>> do_part(const std::shared_ptr<Part>& part) {
  const auto& name = part->request.node.name;
  auto spool = co_await part->follower->follow();
  if (!spool) co_return std::move(spool).error().within(name);
  co_await read_beside(part->environment, part->request, spool->output);
  CO_TRY(part->end, read_output(part->environment, part->request, *spool));
  co_await read_logs(*part);
  if (part->end->outcome != engine::Outcome::done)
    co_return Error{Code::kFailed, name + ": " + part->end->detail};
  co_return true;
}

Task<void> clean_up_all(Parts parts) {
  const auto clean = [](const std::shared_ptr<Part>& part) -> Task<Result<bool>> {
    if (part->when_written) part->when_written();
    co_await part->follower->clean_up();
    co_return true;
  };
  [[maybe_unused]] const auto cleaned =
      co_await for_each_of<bool>(std::move(parts), kCleanUpsAtOnce, clean);
}

/// What was found on each node lies in one document, which all of their events name: a rack's
/// findings in each of its events would be the rack's square.
Result<void> keep_shares(StepEnvironment& environment, const Parts& parts,
                         boost::json::object of_group, StepEnd& end) {
  auto shares = std::move(of_group);
  for (const auto& part : parts)
    if (part->end) shares[part->request.node.name] = part->end->found;
  make_readable(shares);
  TRY(const auto hash, environment.store.keep_evidence(boost::json::serialize(shares)));
  end.found["together"] = true;
  end.found["evidence"] = hash;
  return ok();
}

/// The node answered, and what failed there says nothing of whether it still does.
Error while_it_answered(Error error, std::string_view node) {
  if (error.code == Code::kUnreachable) error.code = Code::kFailed;
  return std::move(error).within(node);
}

/// By its folder, which cupel-node makes first. Not known of a login that is not root: its folder
/// is in its home.
Task<bool> was_never_started(ssh::Session& session, ssh::JobHandle job, bool is_root,
                             Deadline deadline) {
  std::vector<std::string> paths{job.folder};
  const auto looks = co_await ssh::look_at_paths(session, std::move(paths), job.sudo, deadline);
  const bool is_missing = looks && !looks->at(job.folder).there;
  co_return is_root ? is_missing : false;
}

/// Stops it by the node's cupel-node, which is brought again where somebody has removed it. False:
/// nothing of it is there.
Task<Result<bool>> stop_part(const Part& part, ssh::Session& session, ssh::JobHandle job) {
  const auto& request = part.request;
  const auto stopping = request.deadline.sooner(kStopPatience);
  auto stopped = co_await ssh::stop_job(session, job, stopping);
  if (stopped) co_return true;
  if (is_transient(stopped.error().code)) co_return std::move(stopped).error();
  const bool is_root = job.sudo || request.node.ssh.user == "root";
  if (co_await was_never_started(session, job, is_root, stopping)) co_return false;
  if (stopped.error().code != Code::kNotFound || !part.environment.programs)
    co_return std::move(stopped).error();
  std::vector<std::string> names{std::string{ssh::kNodeProgram}};
  const auto brought =
      co_await ssh::ensure_programs(session, *part.environment.programs, std::move(names),
                                    job.folder, job.sudo, request.deadline);
  if (!brought || !brought->keeper) co_return std::move(stopped).error();
  CO_TRY(co_await ssh::stop_job(session, job, request.deadline.sooner(kStopPatience)));
  co_return true;
}

/// One node's job. Errors: kUnreachable: the node did not answer in all that time.
Task<Result<bool>> end_part(const std::shared_ptr<Part>& part) {
  const auto& request = part->request;
  const auto& name = request.node.name;
  const auto job = job_of(part->environment, request.node, *request.handle);
  auto session = co_await connected(part->environment, request, request.deadline);
  if (!session) {
    auto& error = session.error();
    if (error.code == Code::kTimeout) error.code = Code::kUnreachable;
    co_return std::move(error).within(name);
  }
  auto stopped = co_await stop_part(*part, **session, job);
  if (!stopped) co_return while_it_answered(std::move(stopped).error(), name);
  if (!*stopped) co_return true;
  const auto forgetting = request.deadline.sooner(kCleanUpPatience);
  auto gone = co_await ssh::forget_job(**session, job, forgetting);
  if (!gone) co_return while_it_answered(std::move(gone).error(), name);
  co_return true;
}

}  // namespace

Task<Result<StepEnd>> follow_together(StepEnvironment& environment, const StepRequest& request,
                                      std::string handle) {
  const auto parts = parts_of(environment, request, handle);
  const auto* group = burnin::stage(request.step.name)->group;
  if (!request.handle) co_await mark_logs(parts);
  boost::json::object of_group;
  const bool in_rounds = group != nullptr && group->rounds != nullptr;
  if (in_rounds && request.handle) {
    // An earlier controller's round: which one it was is not known.
    auto gone = co_await end_on_nodes(environment, request);
    if (!gone) co_return ended_by(std::move(gone).error());
  }
  auto all = group == nullptr ? co_await all_or_none<bool>(parts, do_part)
             : in_rounds      ? co_await do_in_rounds(environment, *group, parts, of_group)
                              : co_await do_as_group(environment, *group, parts, of_group);
  if (all) {
    auto end = done(fmt::format("measured on {} nodes together", parts.size()));
    CO_TRY(keep_shares(environment, parts, std::move(of_group), end));
    end.when_written = [parts]() { return clean_up_all(parts); };
    co_return end;
  }
  auto ended = ended_by(std::move(all).error());
  if (ended) {
    auto& end = *ended;
    CO_TRY(keep_shares(environment, parts, {}, end));
    end.begin_anew = std::ranges::any_of(
        parts, [](const auto& part) { return part->end && part->end->begin_anew; });
    // A member that waited for the others while no controller was there to start them.
    if (group != nullptr && request.handle) end.begin_anew = true;
  }
  co_return ended;
}

Task<Result<void>> end_on_nodes(StepEnvironment& environment, const StepRequest& request) {
  auto bounded = request;
  bounded.deadline = request.deadline.sooner(kLetGoPatience);
  auto parts = parts_of(environment, bounded, *request.handle);
  if (request.members.empty())
    parts.push_back(std::make_shared<Part>(Part{environment, nullptr, bounded}));
  const auto all = co_await for_each_of<bool>(std::move(parts), kCleanUpsAtOnce, end_part);
  for (const auto& each : all)
    if (!each) co_return each.error();
  co_return ok();
}

}  // namespace cupel::steps
