#include "bmc/nvos/revision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::bmc::nvos {
namespace {

constexpr std::size_t kMostIssues = 8, kLongestIssue = 300;

/// An id stands in a path.
bool is_id(const std::string& word) {
  constexpr std::size_t kLongest = 64;
  return !word.empty() && word.size() <= kLongest && path_word(word) == word;
}

/// {"0": {"message": ...}} or a list of such, or of texts.
std::string issues_of(const json::value* issue) {
  std::string texts;
  std::size_t count = 0;
  const auto add = [&](const json::value& one) {
    const auto text = one.is_object() ? word_at(one, "message") : word_of(&one);
    if (text.empty() || ++count > kMostIssues) return;
    texts += (texts.empty() ? "" : "; ") + text;
  };
  if (issue == nullptr) return {};
  if (const auto* object = issue->if_object())
    for (const auto& [key, one] : *object) add(one);
  if (const auto* list = issue->if_array())
    for (const auto& one : *list) add(one);
  if (issue->is_string()) add(*issue);
  if (count > kMostIssues) texts += fmt::format("; and {} more", count - kMostIssues);
  return shortened(texts, kLongestIssue);
}

Error failed(const RevisionState& state, const std::string& id) {
  return {Code::kFailed, fmt::format("revision {} ended as {}{}{}: nothing of it is in effect", id,
                                     state.word, state.issue.empty() ? "" : ": ", state.issue)};
}

/// Nginx in front of the service restarts with some changes.
bool may_come_back(Code code) {
  return code == Code::kBusy || code == Code::kUnreachable || code == Code::kTimeout;
}

Task<Result<RevisionState>> follow(Nvue& nvue, std::string id, std::chrono::milliseconds look_every,
                                   Deadline deadline) {
  for (;;) {
    auto answer = co_await nvue.get("revision/" + id, deadline);
    if (!answer && !may_come_back(answer.error().code)) co_return std::move(answer).error();
    if (answer) {
      auto state = revision_state(*answer, id);
      if (state.is != RevisionState::Is::under_way) co_return state;
    }
    if (deadline.passed())
      co_return Error{Code::kTimeout, "revision " + id +
                                          " is still being applied; look at it with: nv show "
                                          "system config, or GET /nvue_v1/revision/" +
                                          id};
    CO_TRY(co_await pause_for(std::min(look_every, deadline.left())));
  }
}

}  // namespace

Result<std::string> revision_id(const json::value& answer) {
  auto id = word_of(&answer);
  if (const auto* object = answer.if_object()) {
    for (const auto* key : {"revision-id", "revision_id", "id"})
      if (id.empty()) id = word_at(answer, key);
    if (id.empty() && object->size() == 1) id = std::string{object->begin()->key()};
  }
  if (is_id(id)) return id;
  return Error{Code::kMalformed, "the answer names no revision: " +
                                     printable(shortened(json::serialize(answer), 200))};
}

RevisionState revision_state(const json::value& answer, const std::string& id) {
  constexpr std::array<std::string_view, 3> kFailed{"failed", "error", "invalid"};
  const auto* object = answer.if_object();
  const auto* own = object == nullptr ? nullptr : object->if_contains(id);
  const auto& reported = own == nullptr ? answer : *own;
  RevisionState state{.word = lower_case(word_at(reported, "state")),
                      .issue = issues_of(find(reported, "transition/issue"))};
  if (state.issue.empty()) state.issue = issues_of(find(reported, "issue"));
  state.no_difference = lower_case(state.issue).contains("no config diff");
  const bool is_failed =
      state.word.ends_with("_fail") || std::ranges::find(kFailed, state.word) != kFailed.end();
  if (state.word == "applied" || state.no_difference)
    state.is = RevisionState::Is::applied;
  else if (is_failed)
    state.is = RevisionState::Is::failed;
  return state;
}

Task<Result<Applied>> apply_changes(Nvue& nvue, std::vector<Change> changes,
                                    std::chrono::milliseconds look_every, Deadline deadline,
                                    Nvue* then) {
  const json::value yes = json::object{{"ays", "ays_yes"}};
  CO_TRY(const auto made, co_await nvue.post("revision", json::object{}, deadline));
  CO_TRY(const std::string id, revision_id(made));
  for (auto& change : changes) {
    const auto path = change.path + "?rev=" + id;
    CO_TRY(co_await nvue.patch(path, std::move(change.body), deadline));
  }
  const json::value apply = json::object{{"state", "apply"}, {"auto-prompt", yes}};
  CO_TRY(co_await nvue.patch("revision/" + id, apply, deadline));
  Nvue& after = then == nullptr ? nvue : *then;
  auto state = co_await follow(after, id, look_every, deadline);
  if (!state) co_return std::move(state).error().within("revision " + id + " was sent off");
  if (state->is == RevisionState::Is::failed) co_return failed(*state, id);
  Applied applied{.revision = id, .changed = !state->no_difference};
  const json::value save = json::object{{"state", "save"}, {"auto-prompt", yes}};
  auto saved = co_await after.patch("revision/applied", save, deadline);
  if (!saved)
    co_return std::move(saved).error().within("revision " + id +
                                              " is in effect and could not be saved: it is gone "
                                              "after a reboot");
  applied.saved = true;
  co_return applied;
}

}  // namespace cupel::bmc::nvos
