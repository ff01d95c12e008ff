#pragma once
// Asking a BMC to change or to do something: what was asked stands in the error of a refusal, so
// that an unknown refusal is a ready row for the table of differences.
#include "bmc/redfish/client.h"
#include "bmc/redfish/task_end.h"

namespace cupel::bmc::redfish {

/// An action found in a resource.
struct Action {
  std::string target;
  json::value reported;  // what the resource says of it
};

/// The action at `path` ("Actions/#ComputerSystem.Reset"); nothing where there is none, or where
/// its target leads off the BMC.
std::optional<Action> action_at(const json::value& resource, std::string_view path);

/// The words that the action allows for a parameter, inline or in its ActionInfo; empty: not
/// reported. Source: DSP0266, 7.11 (Redfish.ActionInfo, AllowableValues).
Task<Result<std::vector<std::string>>> allowed_words(Client& client, Action action,
                                                     std::string parameter, Deadline deadline);

/// The texts in an array, however nested ([["On", "ForceOff"]]).
std::vector<std::string> texts_of(const json::value* list);

/// POST. Errors: as Client::post; a refusal's names the request, without secrets.
Task<Result<Answer>> act(Client& client, std::string target, json::value body, Deadline deadline);

/// A change whose sender reads back what came of it.
struct Sent {
  bool goes_on = false;         // the BMC said that it is at it still (202)
  std::optional<Error> lost{};  // it may have done it: its answer was lost on the way

  /// Where the change does not show: why the answer was lost, else `accepted`.
  Error not_shown(Error accepted) const {
    if (lost) return *lost;
    return accepted;
  }
};

/// PATCH. An answer that was lost is no error: reading back tells whether it was done. Where the
/// BMC answers with a task, that is waited for. `then`: is_fine: it may still run after `for_task`
/// (0: it waits for a restart); fails: it is waited for to its end. Errors: as Client::patch and
/// wait_for_task (task_end.h); a refusal's names the request, without secrets.
Task<Result<Sent>> send_change(Client& client, std::string uri, json::value body, Answer before,
                               Deadline deadline, StillRunning then = StillRunning::is_fine,
                               std::chrono::seconds for_task = std::chrono::seconds{20});
/// The same for a resource that was not read yet: reads it first, for its ETag.
Task<Result<Sent>> send_change(Client& client, std::string uri, json::value body,
                               Deadline deadline);
/// send_change() of what cannot be read back: an answer that was lost is an error.
Task<Result<void>> change(Client& client, std::string uri, json::value body, Answer before,
                          Deadline deadline);
/// act(), where an answer that was lost is no error either, and a task has ended. Errors: as act
/// and wait_for_task.
Task<Result<Sent>> send_act(Client& client, std::string target, json::value body,
                            Deadline deadline);

/// What to say of a request: the body with every password in it left out.
std::string without_secrets(const json::value& body);

/// How often, and how far apart, what was written is read back: some BMCs take seconds to show it.
inline constexpr int kReadsBack = 4;
inline constexpr std::chrono::seconds kBetweenReads{1};

}  // namespace cupel::bmc::redfish
