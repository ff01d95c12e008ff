// What the UpdateService offers and what it is at work with.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "bmc/redfish/pages.h"
#include "bmc/redfish/survey.h"
#include "bmc/redfish/update.h"
#include "bmc/redfish/uri.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::string_view kTasks = "/redfish/v1/TaskService/Tasks";
constexpr std::string_view kSimpleUpdate = "Actions/#UpdateService.SimpleUpdate";
/// BMCs keep up to a hundred.
constexpr std::size_t kMostTasks = 24;
/// Where an URI for forms is reported.
constexpr std::array<std::string_view, 2> kMultipart{"MultipartHttpPushUri",
                                                     "Oem/AMIUpdateService/MultipartHttpPushUri"};
/// What gives a task away as one of firmware, lower case.
constexpr std::array<std::string_view, 5> kOfFirmware{"update", "firmware", "flash", "bios verify",
                                                      "bmc verify"};

std::string path_at(const json::value& service, std::string_view name) {
  auto path = path_of(text_at(service, name).value_or(""));
  return is_path(path) ? path : std::string{};
}

bool says_firmware(const std::string& text) {
  const auto lower = lower_case(text);
  return std::ranges::any_of(kOfFirmware,
                             [&](auto word) { return lower.find(word) != std::string::npos; });
}

/// Not any task: a BMC has some for resets, exports and tests.
bool is_of_firmware(const json::value& task) {
  if (says_firmware(text_at(task, "Name").value_or(""))) return true;
  if (says_firmware(text_at(task, "Payload/TargetUri").value_or(""))) return true;
  const auto* messages = find(task, "Messages");
  const auto* list = messages == nullptr ? nullptr : messages->if_array();
  if (list == nullptr) return false;
  return std::ranges::any_of(*list, [](const json::value& one) {
    return text_at(one, "MessageId").value_or("").starts_with("Update.");
  });
}

/// What is staged or scheduled, and written at a restart, too. A completed task that asked for one
/// is over: BMCs keep it in the list long after that restart.
bool is_at_work(const json::value& task) {
  using enum UpdateProgress::State;
  if (text_at(task, "TaskState") == "Completed") return false;
  const auto state = progress_of({.status = 200, .body = task}, {}).state;
  return (state == running || state == needs_reset) && is_of_firmware(task);
}

/// Of a long list those with the highest numbers, and those at both ends: some list the newest
/// first, some by text ("100" before "99"), and some have names without numbers.
std::vector<std::string> newest(std::vector<std::string> uris) {
  if (uris.size() <= kMostTasks) return uris;
  constexpr std::ptrdiff_t kAtAnEnd = kMostTasks / 4;
  const auto middle = std::ranges::subrange{uris.begin() + kAtAnEnd, uris.end() - kAtAnEnd};
  constexpr std::ptrdiff_t kHighest = kMostTasks - 2 * kAtAnEnd;
  std::ranges::partial_sort(middle, middle.begin() + kHighest,
                            [](const auto& a, const auto& b) { return natural_less(b, a); });
  uris.erase(middle.begin() + kHighest, middle.end());
  return uris;
}

/// A task that goes while the list is read is at work no more.
Task<Result<std::vector<std::string>>> tasks_at_work(Client& client, Deadline deadline) {
  std::vector<std::string> found;
  auto listed = co_await member_uris(client, std::string{kTasks}, kMostListed, deadline);
  if (!listed && listed.error().code == Code::kNotFound) co_return found;
  if (!listed) co_return std::move(listed).error();
  const auto uris = newest(*std::move(listed));
  for (const auto& uri : uris) {
    auto task = co_await client.get(uri, deadline);
    if (task && is_at_work(*task)) found.push_back(uri);
    if (!task && task.error().code != Code::kNotFound) co_return std::move(task).error();
  }
  co_return found;
}

}  // namespace

std::vector<UpdateWay> update_ways(const json::value& service, const UpdateRules& rules) {
  std::vector<UpdateWay> ways;
  const auto add = [&](std::string_view name, std::string uri) {
    if (!uri.empty()) ways.push_back({std::string{name}, std::move(uri)});
  };
  for (const auto place : kMultipart)
    if (ways.empty()) add("multipart", path_at(service, place));
  const auto push = path_at(service, "HttpPushUri");
  const bool stores = normal(push) == normal(link_at(service, "FirmwareInventory"));
  if (!rules.form_session.empty())
    add("form", push);
  else
    add(stores ? "store" : "push", push);
  const auto simple = action_at(service, kSimpleUpdate);
  if (simple) add("simple", simple->target);
  return ways;
}

Task<Result<UpdateService>> read_update_service(Client& client, Layout layout, Deadline deadline) {
  CO_TRY(const json::value service, co_await client.get(layout.updates, deadline));
  UpdateService seen;
  const auto* enabled = find(service, "ServiceEnabled");
  seen.enabled = enabled == nullptr || !enabled->is_bool() || enabled->get_bool();
  const auto rules = update_rules_of(*layout.rules, service);
  for (auto& way : update_ways(service, rules)) seen.ways.push_back(std::move(way.name));
  if (rules.verifies_first) seen.verifies = kVerifies;
  seen.most_bytes = static_cast<std::uint64_t>(
      std::clamp(number_at(service, "MaxImageSizeBytes").value_or(0), 0.0, 1e15));
  if (const auto simple = action_at(service, kSimpleUpdate)) {
    CO_TRY(seen.fetches_by, co_await allowed_words(client, *simple, "TransferProtocol", deadline));
  }
  CO_TRY(seen.busy, co_await tasks_at_work(client, deadline));
  const auto own = progress_in(service);
  if (own.state == UpdateProgress::State::running) seen.busy.push_back(own.reported);
  if (flag_at(service, "HttpPushUriTargetsBusy") == true) seen.busy.emplace_back(kTargetsClaimed);
  co_return seen;
}

}  // namespace cupel::bmc::redfish
