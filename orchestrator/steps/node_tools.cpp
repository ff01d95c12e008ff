#include "orchestrator/steps/node_tools.h"

#include <fmt/format.h>

#include "base/text.h"
#include "inventory/node.h"
#include "orchestrator/ssh/run_script.h"
#include "playbooks/plan.h"
#include "playbooks/playbook.h"

namespace cupel::steps {
namespace {

using engine::StepEnd;
using engine::StepRequest;

constexpr std::chrono::seconds kLookPatience{20};

StepEnd needs_a_person(std::string action, std::string detail) {
  auto end = done(std::move(detail));
  end.outcome = engine::Outcome::needs_operator;
  // That it was done is not seen from afar by whether the machine answers.
  ask_for(end, {{.action = std::move(action), .part = {}, .goes_on = false}});
  return end;
}

}  // namespace

std::optional<std::string> what_to_install(const burnin::Look& look, bool sudo,
                                           std::string_view user) {
  if (!look.whole && sudo)
    return fmt::format("let {} use sudo there without a password, or log in as root", user);
  if (look.lacking.empty()) return std::nullopt;
  const auto how = burnin::how_to_install(look.lacking);
  return fmt::format("install {}{}{}", fmt::join(look.lacking, ", "), how.empty() ? "" : ": ", how);
}

Task<Result<StepEnd>> look_at_tools(const StepRequest& request, ssh::Session& session) {
  if (!request.step.job) co_return done("answers");
  const auto& script = request.step.job->script;
  const auto& access = request.node.ssh;
  const auto deadline = request.deadline.sooner(kLookPatience);
  auto heard = co_await ssh::run_script(session, script, {}, access.sudo, deadline);
  if (!heard) co_return ended_by_ssh(std::move(heard).error());
  const auto& result = *heard;
  const auto look = burnin::read_look(result.out);
  auto action = what_to_install(look, access.sudo, access.user);
  if (!action && !look.whole)
    co_return done("answers; what is installed there could not be looked at: " +
                   shortened(printable(trimmed(result.err)), 200));
  if (!action) co_return done("answers");
  const auto detail =
      look.lacking.empty()
          ? "sudo -n does not work there: " + shortened(printable(trimmed(result.err)), 200)
          : fmt::format("{} {} not installed on the node, and stages of this run need {}",
                        fmt::join(look.lacking, ", "), look.lacking.size() == 1 ? "is" : "are",
                        look.lacking.size() == 1 ? "it" : "them");
  // A playbook that only looks sees all it can; the stage says for itself what it could not.
  if (request.step.on_failure == playbooks::OnFailure::go_on)
    co_return done("answers; " + detail + "; " + *action);
  co_return needs_a_person(std::move(*action), detail);
}

}  // namespace cupel::steps
