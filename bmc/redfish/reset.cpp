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

constexpr std::string_view kReset = "Actions/#ComputerSystem.Reset";

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

/// For firmware that has accepted power-on and ignored it: kConflict, so that it is asked again.
Task<Result<void>> really_turns_on(Client& client, std::string system, Deadline deadline) {
  for (int read = 0; read < kReadsBack; ++read) {
    if (read > 0) {
      CO_TRY(co_await pause_for(kBetweenReads));
    }
    CO_TRY(const json::value now, co_await client.get(system, deadline));
    if (power_of(now) != PowerState::off) co_return ok();
  }
  co_return Error{Code::kConflict,
                  system +
                      ": accepted, and the machine is still off: this version of the BMC's "
                      "firmware is known to ignore power-on; update it"};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

Task<Result<std::vector<std::string>>> allowed_words(Client& client, json::value system,
                                                     Deadline deadline) {
  auto action = action_at(system, kReset);
  if (!action) co_return std::vector<std::string>{};
  co_return co_await allowed_words(client, std::move(*action), "ResetType", deadline);
}

Task<Result<std::vector<ResetType>>> allowed_resets(Client& client, Layout layout, Document system,
                                                    Deadline deadline) {
  CO_TRY(const auto words, co_await allowed_words(client, std::move(system.body), deadline));
  std::vector<ResetType> known;
  for (const auto type : kAll) {
    if (words.empty() || !word_for(type, words)) continue;
    if (type == ResetType::force_restart && layout.handling.restart_is_off_on) continue;
    known.push_back(type);
  }
  co_return known;
}

Task<Result<Accepted>> reset_system(Client& client, Layout layout, Document system, ResetType type,
                                    bool has_ipmi, Deadline deadline) {
  const auto target = reset_target(system.body);
  if (target.empty()) co_return Error{Code::kUnsupported, system.uri + " has no reset action"};
  // Some BMCs answer a restart of a machine that is off with success and do nothing.
  if (is_restart(type) && power_of(system.body) == PowerState::off) type = ResetType::on;
  if (type == ResetType::force_restart && layout.handling.restart_is_off_on)
    co_return Error{Code::kUnsupported,
                    "ForceRestart may hang this model: power it off and on instead"};
  if (is_restart(type) && layout.handling.restart_cuts_dpu_power && has_ipmi)
    co_return Error{
        Code::kUnsupported,
        "a restart by Redfish cuts the power of this model's DPUs: by IPMI it does not"};
  CO_TRY(const auto allowed, co_await allowed_words(client, system.body, deadline));
  const auto word = word_for(type, allowed);
  if (!word)
    co_return Error{Code::kUnsupported, system.uri + ": no reset " + std::string{to_string(type)} +
                                            "; it allows: " + joined(allowed)};
  json::value body{{"ResetType", *word}};
  auto answer = co_await act(client, target, std::move(body), deadline);
  const bool doubtful = type == ResetType::on && layout.handling.may_ignore_power_on;
  if (answer && doubtful) {
    CO_TRY(co_await really_turns_on(client, system.uri, deadline));
  }
  if (answer) co_return Accepted{task_of(*answer)};
  Error refusal = std::move(answer).error();
  const bool maybe_so_already = refusal.code == Code::kConflict || refusal.code == Code::kFailed;
  const auto goal = goal_of(type);
  if (!maybe_so_already || !goal) co_return refusal;
  auto now = co_await client.get(system.uri, deadline);
  if (now && power_of(*now) == *goal) co_return Accepted{};
  co_return refusal;
}

}  // namespace cupel::bmc::redfish
