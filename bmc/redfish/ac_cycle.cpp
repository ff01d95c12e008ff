#include "bmc/redfish/ac_cycle.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::string_view kFullPowerCycle = "FullPowerCycle";
constexpr std::size_t kMostChassis = 32;
constexpr std::chrono::seconds kChassisPatience{30};

/// The action, if it is there and does not say that it lacks the word. The standard's has to say
/// that it has it.
Task<Result<std::optional<AcWay>>> way_in(Client& client, json::value resource, std::string action,
                                          std::string word, Deadline deadline) {
  auto found = action_at(resource, action);
  if (!found) co_return std::nullopt;
  CO_TRY(const auto words, co_await allowed_words(client, *found, "ResetType", deadline));
  const bool listed = std::ranges::find(words, word) != words.end();
  const bool may = listed || (words.empty() && word != kFullPowerCycle);
  if (!may) co_return std::nullopt;
  co_return AcWay{std::move(*found), std::move(word)};
}

Task<Result<std::optional<AcWay>>> way_of_chassis(Client& client, const AcCycle own,
                                                  json::value chassis, Deadline deadline) {
  if (own.at == AcCycle::At::chassis && !own.action.empty()) {
    CO_TRY(auto way, co_await way_in(client, chassis, std::string{own.action},
                                     std::string{own.word}, deadline));
    if (way) co_return way;
  }
  co_return co_await way_in(client, std::move(chassis), "Actions/#Chassis.Reset",
                            std::string{kFullPowerCycle}, deadline);
}

}  // namespace

Task<Result<std::optional<AcWay>>> find_ac_cycle(Client& client, Layout layout, Document system,
                                                 Deadline deadline) {
  const AcCycle own = layout.rules->ac_cycle;
  if (own.at == AcCycle::At::system && !own.action.empty()) {
    CO_TRY(auto way, co_await way_in(client, system.body, std::string{own.action},
                                     std::string{own.word}, deadline));
    if (way) co_return way;
  }
  CO_TRY(auto way, co_await way_in(client, system.body, "Actions/#ComputerSystem.Reset",
                                   std::string{kFullPowerCycle}, deadline));
  if (way) co_return way;
  auto uris = links_at(system.body, "Links/Chassis");
  std::optional<Error> unread;
  if (uris.size() > kMostChassis) {
    uris.resize(kMostChassis);
    unread = Error{Code::kMalformed, "AC cycle: this machine has more than " +
                                         std::to_string(kMostChassis) +
                                         " chassis: the others are not read"};
  }
  for (auto& uri : uris) {
    auto chassis = co_await client.get(uri, deadline.sooner(kChassisPatience));
    const bool absent = !chassis && chassis.error().code == Code::kNotFound;
    if (!chassis && !absent && !unread) unread = chassis.error();
    if (!chassis) continue;
    CO_TRY(auto there, co_await way_of_chassis(client, own, *std::move(chassis), deadline));
    if (there) co_return there;
  }
  // The one that could not be read may have had it.
  if (unread) co_return *unread;
  co_return std::nullopt;
}

Task<Result<bool>> has_ac_cycle(Client& client, Layout layout, Document system, Deadline deadline) {
  CO_TRY(const auto way,
         co_await find_ac_cycle(client, std::move(layout), std::move(system), deadline));
  co_return way.has_value();
}

Task<Result<Accepted>> ac_cycle(Client& client, Layout layout, Document system, Deadline deadline) {
  CO_TRY(auto way, co_await find_ac_cycle(client, layout, system, deadline));
  if (!way)
    co_return Error{Code::kUnsupported,
                    "this BMC offers no AC cycle: pull the cord, or use the rack's PDU"};
  if (layout.rules->ac_cycle.only_when_off && power_of(system.body) != PowerState::off)
    co_return Error{Code::kConflict,
                    "this BMC cuts the standby power of a machine that is off "
                    "only: power it off first"};
  json::value body{{"ResetType", way->word}};
  CO_TRY(const Answer accepted,
         co_await act(client, way->action.target, std::move(body), deadline));
  co_return Accepted{task_of(accepted)};
}

}  // namespace cupel::bmc::redfish
