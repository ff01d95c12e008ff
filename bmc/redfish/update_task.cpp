// How far an update is: a Task, a Job, a task's monitor, or the service's own words. A task proves
// nothing about versions.
#include <array>
#include <cmath>

#include "base/text.h"
#include "bmc/redfish/refusals.h"
#include "bmc/redfish/update.h"
#include "bmc/redfish/uri.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {
namespace {

using State = UpdateProgress::State;
constexpr std::size_t kMostMessages = 8, kLongestMessages = 600, kLongestWord = 80;

/// Whoever asks for progress, in whatever process, takes an update for running: it asks again soon.
constexpr std::chrono::minutes kAskedAgain{2};

struct Meaning {
  std::string_view word;
  State state;
};

// Source: DSP0268, Task.TaskState. Suspended and Interrupted are "expected to restart".
constexpr std::array<Meaning, 14> kTaskStates{{{"New", State::running},
                                               {"Starting", State::running},
                                               {"Running", State::running},
                                               {"Suspended", State::running},
                                               {"Interrupted", State::running},
                                               {"Pending", State::running},
                                               {"Stopping", State::running},
                                               {"Service", State::running},
                                               {"Cancelling", State::running},
                                               {"Completed", State::done},
                                               {"Killed", State::failed},
                                               {"Exception", State::failed},
                                               {"Cancelled", State::failed},
                                               {"Failed", State::failed}}};
// Those of JobState that mean something else than going on, and a Lifecycle Controller's.
constexpr std::array<Meaning, 11> kJobStates{{{"Completed", State::done},
                                              {"Scheduled", State::needs_reset},
                                              {"RebootPending", State::needs_reset},
                                              {"PendingActivation", State::needs_reset},
                                              {"CompletedWithErrors", State::failed},
                                              {"Failed", State::failed},
                                              {"RebootFailed", State::failed},
                                              {"Exception", State::failed},
                                              {"Cancelled", State::failed},
                                              {"Invalid", State::failed},
                                              {"Killed", State::failed}}};
/// States in which some leave a task whose image is staged, at 100 % and with such a message: they
/// wait for the reset, and would not end before it.
constexpr std::array<std::string_view, 3> kMayBeStaged{"Pending", "Suspended", "Interrupted"};
/// A message that what was written waits for a restart, lower case.
constexpr std::array<std::string_view, 4> kWaitsForReset{"resetrequired", "rebootrequired",
                                                         "awaittoactivate", "activationrequired"};
/// A job that waits for the Lifecycle Controller, and not for a restart.
constexpr std::string_view kWaitsForController = "lifecycle controller in use";

/// Where services say it themselves. Words with one of these in them, lower case, end it.
struct OwnWords {
  std::string_view state, percent, message;
};
constexpr std::array<OwnWords, 3> kOwnWords{
    {{"Oem/Hpe/State", "Oem/Hpe/FlashProgressPercent", "Oem/Hpe/Result/MessageId"},
     {"Oem/Ami/UpdateStatus", "Oem/Ami/FlashPercentage", "Oem/Ami/UpdateTarget"},
     {"Oem/AMIUpdateService/UpdateInformation/UpdateStatus",
      "Oem/AMIUpdateService/UpdateInformation/FlashPercentage",
      "Oem/AMIUpdateService/UpdateInformation/UpdateTarget"}}};
constexpr std::array<Meaning, 5> kOwnEnds{{{"idle", State::gone},
                                           {"error", State::failed},
                                           {"fail", State::failed},
                                           {"complete", State::done},
                                           {"done", State::done}}};

State state_of(std::span<const Meaning> meanings, std::string_view word, State otherwise) {
  const auto row = std::ranges::find(meanings, word, &Meaning::word);
  return row == meanings.end() ? otherwise : row->state;
}

std::string short_word(const std::string& word) { return printable(shortened(word, kLongestWord)); }

/// 42 of 42, "42", "42%" and "42% done"; what is over 100 is 100.
std::optional<int> percent_at(const json::value& body, std::string_view path) {
  auto reported = number_at(body, path);
  if (!reported) {
    const auto text = text_at(body, path).value_or("");
    const auto end = text.find('%');
    if (end != text.npos) reported = number<double>(trimmed(std::string_view{text}.substr(0, end)));
  }
  if (!reported || !std::isfinite(*reported)) return std::nullopt;
  return static_cast<int>(std::clamp(*reported, 0.0, 100.0));
}

/// Texts and ids of a task's messages, the newest first. Lists grow at their end.
struct Messages {
  std::string text{};
  std::string newest_id{};
  std::string job{};  // that it became
  bool became_job = false, waits = false, critical = false;
};

void add_message(Messages& into, const json::value& one) {
  const auto text = text_at(one, "Message").value_or("");
  const auto id = text_at(one, "MessageId").value_or("");
  const auto lower = lower_case(id);
  if (into.newest_id.empty()) into.newest_id = lower;
  into.waits |= std::ranges::any_of(
      kWaitsForReset, [&](auto word) { return lower.find(word) != std::string::npos; });
  const auto severity =
      text_at(one, "MessageSeverity").value_or(text_at(one, "Severity").value_or(""));
  into.critical |= lower_case(severity) == "critical";
  if (lower.find("operationtransitionedtojob") != std::string::npos) {
    into.became_job = true;
    const auto args = texts_of(find(one, "MessageArgs"));
    if (!args.empty()) into.job = path_of(args.front());
  }
  const auto words = !text.empty() && !id.empty() ? text + " (" + id + ")" : text + id;
  if (words.empty()) return;
  into.text += (into.text.empty() ? "" : " / ") + words;
}

Messages messages_of(const json::value& task) {
  Messages all;
  const auto* reported = find(task, "Messages");
  const auto* list = reported == nullptr ? nullptr : reported->if_array();
  if (list != nullptr) {
    std::size_t read = 0;
    for (auto one = list->rbegin(); one != list->rend() && read < kMostMessages; ++one, ++read)
      add_message(all, *one);
  }
  // A Lifecycle Controller's job has one, without a list.
  if (list == nullptr) add_message(all, task);
  all.text = printable(shortened(all.text, kLongestMessages));
  return all;
}

/// A job beside the task that stands for it says more.
State with_job(State state, const std::string& word, const Messages& messages) {
  if (word.empty()) return state;
  const auto by_job = state_of(kJobStates, word, State::running);
  if (by_job == State::failed || state == State::failed) return State::failed;
  const bool waits = lower_case(messages.text).find(kWaitsForController) == std::string::npos;
  if (by_job == State::needs_reset && state == State::running)
    return waits ? State::needs_reset : State::running;
  return state;
}

UpdateProgress of_task(const json::value& task, std::string_view way) {
  const auto word = text_at(task, "TaskState").value_or("");
  const auto job =
      text_at(task, "JobState").value_or(text_at(task, "Oem/Dell/JobState").value_or(""));
  const auto messages = messages_of(task);
  UpdateProgress progress{.percent = percent_at(task, "PercentComplete"),
                          .reported = short_word(word.empty() ? job : word),
                          .message = messages.text};
  auto state = word.empty() ? state_of(kJobStates, job, State::running)
                            : state_of(kTaskStates, word, State::running);
  state =
      with_job(word.empty() && state == State::needs_reset ? State::running : state, job, messages);
  const auto status = text_at(task, "TaskStatus").value_or(text_at(task, "JobStatus").value_or(""));
  const bool bad = status == "Critical" || messages.critical;
  if (state == State::done && bad) state = State::failed;
  if (state == State::done && messages.waits) state = State::needs_reset;
  // OpenBMC: the image is staged, and the task waits for hours for the restart that applies it.
  if (word == "Stopping" && messages.newest_id.ends_with("taskpaused")) state = State::needs_reset;
  const bool may_be_staged = std::ranges::find(kMayBeStaged, word) != kMayBeStaged.end();
  const bool stands = state == State::running && may_be_staged && progress.percent == 100;
  if (stands && messages.waits) state = State::needs_reset;
  if (state == State::done && way == kVerifies) state = State::verified;
  progress.state = state;
  return progress;
}

bool is_task(const json::value& body) {
  return find(body, "TaskState") != nullptr || find(body, "JobState") != nullptr;
}

/// Where else a Lifecycle Controller shows a job whose task is gone.
constexpr std::array<std::string_view, 3> kJobs{
    "/redfish/v1/JobService/Jobs/", "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/Jobs/",
    "/redfish/v1/Managers/iDRAC.Embedded.1/Jobs/"};
constexpr std::string_view kJobName = "JID_";

UpdateProgress gone(std::string message) {
  return {.state = State::gone, .message = printable(shortened(message, kLongestMessages))};
}

Task<Result<UpdateProgress>> look_for_job(Client& client, UpdateTicket ticket, std::string why,
                                          Deadline deadline) {
  const std::string id{last_name(ticket.task)};
  if (!id.starts_with(kJobName)) co_return gone(std::move(why));
  for (const auto folder : kJobs) {
    auto job = co_await client.look(std::string{folder} + id, deadline);
    if (job && is_task(job->body)) co_return progress_of(*job, ticket.way);
    if (!job && job.error().code != Code::kNotFound) co_return std::move(job).error();
  }
  co_return gone(std::move(why));
}

/// A monitor answers as the operation itself would have, a refusal too (DSP0266).
bool is_monitors_refusal(const std::string& uri, const Error& error) {
  const bool is_resource =
      uri.find("/Tasks/") != std::string::npos || uri.find("/Jobs/") != std::string::npos;
  return !is_resource && (is_http(error, 400) || is_http(error, 409));
}

}  // namespace

UpdateProgress progress_of(const Answer& answer, std::string_view way) {
  if (is_task(answer.body)) {
    auto progress = of_task(answer.body, way);
    progress.look_again = answer.retry_after;
    return progress;
  }
  UpdateProgress progress{.reported = "HTTP " + std::to_string(answer.status),
                          .look_again = answer.retry_after};
  progress.message = reported_messages(answer.body);
  if (answer.status == 202) return progress;
  progress.state = way == kVerifies ? State::verified : State::done;
  return progress;
}

UpdateProgress progress_in(const json::value& service) {
  for (const auto& own : kOwnWords) {
    const auto word = text_at(service, own.state);
    if (!word) continue;
    UpdateProgress progress{.percent = percent_at(service, own.percent),
                            .reported = short_word(*word)};
    progress.message = short_word(text_at(service, own.message).value_or(""));
    const auto lower = lower_case(*word);
    const auto end = std::ranges::find_if(
        kOwnEnds, [&](const Meaning& one) { return lower.find(one.word) != lower.npos; });
    if (end != kOwnEnds.end()) progress.state = end->state;
    const auto message = lower_case(progress.message);
    const bool waits = std::ranges::any_of(
        kWaitsForReset, [&](auto sign) { return message.find(sign) != message.npos; });
    if (progress.state == State::done && waits) progress.state = State::needs_reset;
    return progress;
  }
  return gone("the update service reports no update");
}

Task<Result<UpdateProgress>> read_update_progress(Client& client, UpdateTicket ticket,
                                                  Deadline deadline) {
  client.bmc_limits().expect_firmware_written(kAskedAgain);
  if (ticket.task.empty()) {
    CO_TRY(const json::value service, co_await client.get("/redfish/v1/UpdateService", deadline));
    co_return progress_in(service);
  }
  co_return co_await look_at_task(client, std::move(ticket), deadline);
}

Task<Result<UpdateProgress>> look_at_task(Client& client, UpdateTicket ticket, Deadline deadline) {
  auto answer = co_await client.look(ticket.task, deadline);
  if (!answer && answer.error().code == Code::kNotFound)
    co_return co_await look_for_job(client, ticket, answer.error().what, deadline);
  if (!answer && is_monitors_refusal(ticket.task, answer.error()))
    co_return UpdateProgress{.state = State::failed,
                             .message = shortened(answer.error().what, kLongestMessages)};
  if (!answer) co_return std::move(answer).error();
  const auto messages = messages_of(answer->body);
  const auto& job = messages.job;
  if (!is_on_the_bmc(job)) {
    auto own = progress_of(*answer, ticket.way);
    // The task has ended, and the update has not.
    if (messages.became_job && own.state != State::failed)
      co_return gone("the update became a job, and the BMC does not say under which URI");
    co_return own;
  }
  auto followed = co_await client.look(job, deadline);
  if (!followed && followed.error().code == Code::kNotFound)
    co_return gone(std::move(followed).error().what);
  if (!followed) co_return std::move(followed).error();
  co_return progress_of(*followed, ticket.way);
}

}  // namespace cupel::bmc::redfish
