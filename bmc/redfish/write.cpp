#include "bmc/redfish/write.h"

#include "base/text.h"
#include "bmc/redfish/refusals.h"
#include "bmc/redfish/task_end.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostWords = 200;
constexpr int kAccepted = 202;
constexpr int kDeepest = 4;
/// An ActionInfo that takes longer is done without.
constexpr std::chrono::seconds kInfoPatience{15};

/// Whether an error is about the caller or the BMC as a whole, and not about one document.
bool ends_everything(Code code) {
  return code == Code::kCancelled || code == Code::kUntrusted || code == Code::kRefused;
}

void append_texts(std::vector<std::string>& words, const json::value* value, int depth) {
  if (value == nullptr || depth > kDeepest || words.size() >= kMostWords) return;
  if (value->is_string()) words.emplace_back(value->get_string());
  const auto* list = value->if_array();
  if (list == nullptr) return;
  for (const auto& one : *list) append_texts(words, &one, depth + 1);
}

/// AllowableValues of a parameter in an ActionInfo.
std::vector<std::string> words_of_info(const json::value& info, std::string_view parameter) {
  std::vector<std::string> words;
  const auto* parameters = find(info, "Parameters");
  const auto* list = parameters == nullptr ? nullptr : parameters->if_array();
  if (list == nullptr) return words;
  for (const auto& one : *list) {
    if (text_at(one, "Name") == parameter) append_texts(words, find(one, "AllowableValues"), 0);
  }
  return words;
}

/// Only a refusal is about the request; a broken connection is not.
Error with_request(Error error, const json::value& body) {
  if (error.what.find("HTTP ") == std::string::npos) return error;
  const bool empty = body.is_null() || (body.is_object() && body.get_object().empty());
  if (!empty) error.what += "; sent " + without_secrets(body);
  return error;
}

void hide_secrets(json::value& value) {
  if (auto* list = value.if_array()) {
    for (auto& one : *list) hide_secrets(one);
  }
  auto* object = value.if_object();
  if (object == nullptr) return;
  for (auto& entry : *object) {
    const auto key = lower_case(entry.key());
    const bool secret = key.find("passw") != std::string::npos;
    if (secret) entry.value() = "(hidden)";
    if (!secret) hide_secrets(entry.value());
  }
}

}  // namespace

std::string without_secrets(const json::value& body) {
  json::value shown = body;
  hide_secrets(shown);
  return printable(shortened(serialize(shown), 300));
}

std::optional<Action> action_at(const json::value& resource, std::string_view path) {
  const auto* action = find(resource, path);
  if (action == nullptr) return std::nullopt;
  auto target = path_of(text_at(*action, "target").value_or(""));
  if (!is_on_the_bmc(target)) return std::nullopt;
  return Action{std::move(target), *action};
}

std::vector<std::string> texts_of(const json::value* list) {
  std::vector<std::string> words;
  append_texts(words, list, 0);
  return words;
}

Task<Result<std::vector<std::string>>> allowed_words(Client& client, Action action,
                                                     std::string parameter, Deadline deadline) {
  auto words = texts_of(find(action.reported, parameter + "@Redfish.AllowableValues"));
  const auto info = text_at(action.reported, "@Redfish.ActionInfo");
  if (!words.empty() || !info) co_return words;
  auto reported = co_await client.get(*info, deadline.sooner(kInfoPatience));
  if (reported) co_return words_of_info(*reported, parameter);
  // A list that cannot be read says nothing about what the machine can do: it is tried.
  if (ends_everything(reported.error().code)) co_return std::move(reported).error();
  co_return words;
}

Task<Result<Answer>> act(Client& client, std::string target, json::value body, Deadline deadline) {
  auto answer = co_await client.post(std::move(target), body, deadline);
  if (!answer) co_return with_request(std::move(answer).error(), body);
  co_return answer;
}

Task<Result<Sent>> send_change(Client& client, std::string uri, json::value body, Answer before,
                               Deadline deadline, StillRunning then,
                               std::chrono::seconds for_task) {
  auto done = co_await client.patch(std::move(uri), body, std::move(before), deadline);
  if (!done && is_lost(done.error().code)) co_return Sent{.lost = std::move(done).error()};
  if (!done) co_return with_request(std::move(done).error(), body);
  Sent sent{.goes_on = done->status == kAccepted};
  const auto until = then == StillRunning::fails ? deadline : deadline.sooner(for_task);
  CO_TRY(co_await wait_for_task(client, *std::move(done), then, until));
  co_return sent;
}

Task<Result<Sent>> send_change(Client& client, std::string uri, json::value body,
                               Deadline deadline) {
  CO_TRY(Answer before, co_await client.get_tagged(uri, deadline));
  co_return co_await send_change(client, std::move(uri), std::move(body), std::move(before),
                                 deadline);
}

Task<Result<Sent>> send_act(Client& client, std::string target, json::value body,
                            Deadline deadline) {
  auto done = co_await act(client, std::move(target), std::move(body), deadline);
  if (!done && is_lost(done.error().code)) co_return Sent{.lost = std::move(done).error()};
  if (!done) co_return std::move(done).error();
  Sent sent{.goes_on = done->status == kAccepted};
  CO_TRY(co_await wait_for_task(client, *std::move(done), StillRunning::fails, deadline));
  co_return sent;
}

Task<Result<void>> change(Client& client, std::string uri, json::value body, Answer before,
                          Deadline deadline) {
  CO_TRY(Sent sent, co_await send_change(client, std::move(uri), std::move(body), std::move(before),
                                         deadline));
  if (sent.lost) co_return *std::move(sent.lost);
  co_return ok();
}

}  // namespace cupel::bmc::redfish
