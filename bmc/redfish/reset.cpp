#include "bmc/redfish/reset.h"

#include <array>

namespace cupel::bmc::redfish {
namespace {

constexpr std::array kAll{ResetType::on,
                          ResetType::force_off,
                          ResetType::graceful_shutdown,
                          ResetType::force_restart,
                          ResetType::graceful_restart,
                          ResetType::power_cycle};

void append_texts(std::vector<std::string>& words, const json::value* value) {
  if (value == nullptr) return;
  if (value->is_string()) words.emplace_back(value->get_string());
  const auto* list = value->if_array();
  if (list == nullptr) return;
  // Some nest them: [["On", "ForceOff"]].
  for (const auto& one : *list) append_texts(words, &one);
}

/// AllowableValues of the parameter ResetType in an ActionInfo.
std::vector<std::string> words_of_info(const json::value& info) {
  std::vector<std::string> words;
  const auto* parameters = find(info, "Parameters");
  const auto* list = parameters == nullptr ? nullptr : parameters->if_array();
  if (list == nullptr) return words;
  for (const auto& one : *list) {
    if (text_at(one, "Name") == "ResetType") append_texts(words, find(one, "AllowableValues"));
  }
  return words;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// The word that this BMC takes for it; nothing where it has none. Unknown allowed: the standard's.
std::optional<std::string> word_for(ResetType type, const std::vector<std::string>& allowed) {
  const std::string word{to_string(type)};
  if (allowed.empty() || contains(allowed, word)) return word;
  if (type == ResetType::on && contains(allowed, "ForceOn")) return "ForceOn";
  return std::nullopt;
}

bool is_restart(ResetType type) {
  return type == ResetType::force_restart || type == ResetType::graceful_restart ||
         type == ResetType::power_cycle;
}

/// What the machine is once this reset has done its work; nothing for a restart.
std::optional<PowerState> goal_of(ResetType type) {
  if (type == ResetType::on) return PowerState::on;
  if (type == ResetType::force_off || type == ResetType::graceful_shutdown) return PowerState::off;
  return std::nullopt;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

Task<Result<std::vector<std::string>>> allowed_words(Client& client, json::value system,
                                                     Deadline deadline) {
  const auto* action = find(system, "Actions/#ComputerSystem.Reset");
  std::vector<std::string> words;
  if (action == nullptr) co_return words;
  append_texts(words, find(*action, "ResetType@Redfish.AllowableValues"));
  const auto info = text_at(*action, "@Redfish.ActionInfo");
  if (!words.empty() || !info) co_return words;
  auto told = co_await client.get(*info, deadline);
  if (told) co_return words_of_info(told.assume_value());
  // A link to nowhere says nothing about what the machine can do.
  if (told.assume_error().code == Code::kNotFound) co_return words;
  co_return std::move(told).assume_error();
}

std::vector<ResetType> known_resets(const std::vector<std::string>& words) {
  std::vector<ResetType> known;
  for (const auto type : kAll)
    if (!words.empty() && word_for(type, words)) known.push_back(type);
  return known;
}

Task<Result<void>> reset_system(Client& client, Document system, ResetType type,
                                Deadline deadline) {
  const auto target = reset_target(system.body);
  if (target.empty()) co_return Error{Code::kUnsupported, system.uri + " has no reset action"};
  // Some BMCs answer a restart of a machine that is off with success and do nothing.
  if (is_restart(type) && power_of(system.body) == PowerState::off) type = ResetType::on;
  CO_TRY(const auto allowed, co_await allowed_words(client, system.body, deadline));
  const auto word = word_for(type, allowed);
  if (!word)
    co_return Error{Code::kUnsupported, system.uri + ": no reset " + std::string{to_string(type)} +
                                            "; it allows: " + joined(allowed)};
  json::value body{{"ResetType", *word}};
  auto answer = co_await client.post(target, std::move(body), deadline);
  if (answer) co_return ok();
  Error refusal = std::move(answer).assume_error();
  const bool maybe_so_already = refusal.code == Code::kConflict || refusal.code == Code::kFailed;
  const auto goal = goal_of(type);
  if (!maybe_so_already || !goal) co_return refusal;
  auto now = co_await client.get(system.uri, deadline);
  if (now && power_of(now.assume_value()) == *goal) co_return ok();
  co_return refusal;
}

}  // namespace cupel::bmc::redfish
