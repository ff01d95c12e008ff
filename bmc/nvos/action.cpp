#include "bmc/nvos/action.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace cupel::bmc::nvos {
namespace {

bool is_id(const std::string& word) {
  constexpr std::size_t kLongest = 64;
  return !word.empty() && word.size() <= kLongest && path_word(word) == word;
}

std::optional<int> percent_of(const json::value& reported) {
  for (const auto* key : {"percentage", "percent"}) {
    const auto value = number_at(reported, key);
    if (value && *value >= 0 && *value <= 100) return static_cast<int>(std::lround(*value));
  }
  return std::nullopt;
}

std::string text_of_action(const json::value& reported) {
  std::string text;
  const auto add = [&](const std::string& word) {
    if (!word.empty() && !text.contains(word)) text += (text.empty() ? "" : ": ") + word;
  };
  add(word_at(reported, "status"));
  add(word_at(reported, "detail"));
  if (const auto* list = find(reported, "issue"); list != nullptr && list->is_array())
    for (const auto& one : list->get_array())
      add(one.is_object() ? word_at(one, "message") : word_of(&one));
  return shortened(text, 300);
}

ActionState::Is ended(const ActionState& state, ActionKind kind) {
  using Is = ActionState::Is;
  const auto& word = state.word;
  if (word == "action_success") return Is::succeeded;
  const bool erred = word == "action_error", running = word == "action_running";
  if (kind == ActionKind::image && state.reboots && (erred || running)) return Is::succeeded;
  if (kind == ActionKind::firmware && erred && state.reboots) return Is::under_way;
  if (kind == ActionKind::firmware && erred && state.percent == 100) return Is::succeeded;
  return erred || word == "action_failed" ? Is::failed : Is::under_way;
}

/// A switch that installs an image goes away, and forgets its jobs.
bool is_gone(Code code) {
  return code == Code::kBusy || code == Code::kUnreachable || code == Code::kTimeout ||
         code == Code::kNotFound;
}

Error still_under_way(const std::string& id) {
  return {
      Code::kTimeout,
      fmt::format("action {0} is still under way; look at it with GET /nvue_v1/action/{0}", id)};
}

Task<Result<ActEnd>> follow(Nvue& nvue, std::string id, Act act,
                            std::chrono::milliseconds look_every, Deadline deadline) {
  bool was_seen = false;
  for (;;) {
    auto answer = co_await nvue.get("action/" + id, deadline);
    if (!answer) {
      const bool installs = act.kind != ActionKind::plain && was_seen;
      if (!installs || !is_gone(answer.error().code)) co_return std::move(answer).error();
      if (act.kind == ActionKind::image && !deadline.passed())
        co_return ActEnd{.job = id, .text = answer.error().what, .reboots = true};
    } else {
      was_seen = true;
      const auto state = action_state(*answer, id, act.kind);
      if (state.is == ActionState::Is::succeeded)
        co_return ActEnd{.job = id, .text = state.text, .reboots = state.reboots};
      if (state.is == ActionState::Is::failed)
        co_return Error{Code::kFailed, fmt::format("action {} ended as {}: {}", id, state.word,
                                                   state.text.empty() ? "the switch gives no reason"
                                                                      : state.text)};
    }
    if (deadline.passed()) co_return still_under_way(id);
    CO_TRY(co_await pause_for(std::min(look_every, deadline.left())));
  }
}

}  // namespace

Result<std::string> action_id(const json::value& answer) {
  auto id = word_of(&answer);
  if (const auto* object = answer.if_object()) {
    for (const auto* key : {"action-id", "action_id", "job-id", "job_id", "id"})
      if (id.empty()) id = word_at(answer, key);
    if (id.empty() && object->size() == 1) id = std::string{object->begin()->key()};
  }
  if (is_id(id)) return id;
  return Error{Code::kMalformed,
               "the answer names no job: " + printable(shortened(json::serialize(answer), 200))};
}

ActionState action_state(const json::value& answer, const std::string& id, ActionKind kind) {
  const auto* object = answer.if_object();
  const auto* own = object == nullptr ? nullptr : object->if_contains(id);
  const auto& reported = own == nullptr ? answer : *own;
  ActionState state{.word = lower_case(word_at(reported, "state")),
                    .text = text_of_action(reported),
                    .percent = percent_of(reported)};
  state.reboots = lower_case(state.text).contains("reboot");
  state.is = ended(state, kind);
  return state;
}

Task<Result<ActEnd>> run_act(Nvue& nvue, Act act, std::chrono::milliseconds look_every,
                             Deadline deadline) {
  const auto named = act.verb + " of " + act.path;
  json::object order{{"state", "start"}};
  if (!act.parameters.empty()) order["parameters"] = act.parameters;
  auto begun = co_await nvue.post(act.path, json::object{{act.verb, order}}, deadline);
  if (!begun) {
    auto error = std::move(begun).error();
    const bool may_be_under_way = error.code == Code::kTimeout ||
                                  error.code == Code::kUnreachable || error.code == Code::kBusy ||
                                  error.code == Code::kMalformed;
    if (may_be_under_way) error.what += "; it may have begun: look before it is asked for again";
    co_return std::move(error).within(named);
  }
  auto id = action_id(*begun);
  if (!id) co_return std::move(id).error().within(named + " was accepted, and cannot be followed");
  auto end = co_await follow(nvue, *id, std::move(act), look_every, deadline);
  if (!end) co_return std::move(end).error().within(named);
  co_return end;
}

}  // namespace cupel::bmc::nvos
