#include "orchestrator/steps/follower.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/last_word.h"
#include "orchestrator/steps/node_tools.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kBmcPatience{15};  // what it says of a node that did not come

/// By what its BMC says of a machine that does not answer, and by how its SSH fails; NODE stands
/// for its name.
std::string action_for_silent(std::string_view last_word, std::string_view why) {
  if (last_word.starts_with(to_string(bmc::PowerState::off)))
    return "find out why the machine is off: its power supplies, its BMC's log; "
           "then: cupel bmc NODE power on";
  // No cable is at fault: something on the machine answers.
  if (why.contains("Connection refused"))
    return "look at its screen or console (cupel bmc NODE console): the machine answers, and "
           "refuses connections to SSH";
  if (last_word.empty())
    return "look at the machine: its power, its screen, its network cables and its BMC's";
  return "look at the machine: its screen, its network cables";
}

Task<Result<StepEnd>> perform_ssh_wait(StepEnvironment& environment, const StepRequest& request) {
  const auto last_word = with_last_word(request.deadline);
  const auto for_bmc = std::min<milliseconds>(kBmcPatience, last_word.left() / 4);
  auto session = co_await connected(environment, request, Deadline::at(last_word.when() - for_bmc));
  if (session) co_return co_await look_at_tools(request, **session);
  // connected() has waited for as long as there was time: another try would not have any.
  auto ended = ended_by_ssh(std::move(session).error());
  const bool silent = ended && ended->outcome == engine::Outcome::retry;
  if (!silent) co_return ended;
  auto& end = *ended;
  end.outcome = end.at_last;
  const auto output = co_await last_word_of_bmc(environment, request);
  auto action = action_for_silent(output, end.detail);
  if (!output.empty()) end.detail += "; its BMC: " + output;
  ask_for(end, {{std::move(action)}});
  co_return ended;
}

}  // namespace

StepType ssh_wait() {
  return {
      .kind = playbooks::StepKind::ssh_wait, .perform = perform_ssh_wait, .recheck = &kNodeAnswers};
}

}  // namespace cupel::steps::kinds
