#include "orchestrator/firmware/ready.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::firmware {
namespace {

using How = UpdateEnd::How;
using Ended = std::optional<UpdateEnd>;

Ended not_now(How how, std::string why, std::vector<std::string> advice = {}) {
  return UpdateEnd{how, std::move(why), std::move(advice)};
}

Task<Result<Ended>> judge_clock(bmc::Bmc& bmc, std::chrono::seconds may_be_off, Deadline deadline) {
  const auto clock = co_await bmc.manager.clock(deadline);
  if (!clock && clock.error().code == Code::kUnsupported) co_return Ended{};
  if (!clock) co_return clock.error();
  const auto off = std::chrono::abs(clock->ahead);
  if (off <= may_be_off) co_return Ended{};
  co_return not_now(
      How::failed,
      fmt::format("the BMC's clock is {} s off, more than {} s: images and certificates have "
                  "dates",
                  off.count(), may_be_off.count()),
      {"set the BMC's clock: cupel bmc NODE clock set"});
}

/// A supply that fails in the middle of a flash ends it.
Ended judge_parts(const std::vector<inventory::Part>& parts) {
  using enum inventory::PartKind;
  for (const auto& part : parts) {
    const bool matters = part.kind == psu || part.kind == bmc;
    const bool sick = part.health == "Critical" || (part.kind == psu && part.health == "Warning");
    if (matters && sick)
      return not_now(How::failed,
                     fmt::format("{} is {}: firmware is not written before it is repaired",
                                 printable(part.name), printable(part.health)),
                     {"repair " + printable(part.name)});
  }
  return std::nullopt;
}

/// A supply that was pulled is no part that is sick: what is left must still be redundant.
Ended judge_redundancy(const bmc::Sensors& seen) {
  constexpr std::array<std::string_view, 3> kLost{"lost", "degraded", "non-redundant"};
  for (const auto& sensor : seen.sensors) {
    const bool of_supplies =
        sensor.kind == bmc::SensorKind::redundancy && !lower_case(sensor.name).contains("fan");
    if (!of_supplies) continue;
    const auto state = lower_case(sensor.state);
    const bool lost = sensor.health == "Warning" || sensor.health == "Critical" ||
                      std::ranges::any_of(kLost, [&](auto word) { return state.contains(word); });
    if (lost)
      return not_now(How::failed,
                     fmt::format("the power supplies are not redundant ({}: {}): firmware is not "
                                 "written before they are",
                                 printable(sensor.name), printable(sensor.state)),
                     {"look at the power supplies and their cords"});
  }
  return std::nullopt;
}

/// Nothing where the BMC reports no redundancy.
Task<Result<Ended>> judge_supplies(bmc::Bmc& bmc, Deadline deadline) {
  const auto sensors = co_await bmc.sensors.read(deadline);
  if (sensors) co_return judge_redundancy(*sensors);
  const auto code = sensors.error().code;
  if (code == Code::kUnsupported || code == Code::kNotFound) co_return Ended{};
  co_return sensors.error();
}

}  // namespace

Ended why_not_this(const bmc::UpdateService& service, const bmc::UpdateOrder& order) {
  if (!service.enabled)
    return not_now(How::failed, "the BMC's UpdateService is disabled",
                   {"enable the UpdateService of the BMC"});
  const bool ours = order.claim_is_ours && !service.is_at_work();
  if (!service.busy.empty() && !ours)
    return not_now(How::busy, "another update is at work on it, or waits for a restart: " +
                                  service.busy.front());
  if (service.most_bytes != 0 && order.bytes > service.most_bytes)
    return not_now(How::failed, fmt::format("the image has {} bytes, and the BMC takes {} at most",
                                            order.bytes, service.most_bytes));
  return std::nullopt;
}

Task<Result<Ended>> why_not_now(bmc::Bmc& bmc, std::chrono::seconds clock_may_be_off,
                                Deadline deadline) {
  CO_TRY(auto clock, co_await judge_clock(bmc, clock_may_be_off, deadline));
  if (clock) co_return clock;
  CO_TRY(const auto seen, co_await bmc.facts.observe(deadline));
  if (auto sick = judge_parts(seen.parts)) co_return sick;
  co_return co_await judge_supplies(bmc, deadline);
}

}  // namespace cupel::firmware
