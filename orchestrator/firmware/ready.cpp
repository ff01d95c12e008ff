#include "orchestrator/firmware/ready.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cupel::firmware {
namespace {

using How = UpdateEnd::How;
using Ended = std::optional<UpdateEnd>;

Ended not_now(How how, std::string why, std::vector<std::string> advice = {}) {
  return UpdateEnd{how, std::move(why), std::move(advice)};
}

Ended judge_service(const bmc::UpdateService& service, const bmc::UpdateOrder& order) {
  if (!service.enabled)
    return not_now(How::failed, "the BMC's UpdateService is disabled",
                   {"enable the UpdateService of the BMC"});
  if (!service.busy.empty())
    return not_now(How::busy, "another update is at work on it, or waits for a restart: " +
                                  service.busy.front());
  if (service.most_bytes != 0 && order.bytes > service.most_bytes)
    return not_now(How::failed, fmt::format("the image has {} bytes, and the BMC takes {} at most",
                                            order.bytes, service.most_bytes));
  return std::nullopt;
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

}  // namespace

Task<Result<Ended>> why_not_this(bmc::Bmc& bmc, bmc::UpdateOrder order, Deadline deadline) {
  CO_TRY(const auto service, co_await bmc.update.service(deadline));
  co_return judge_service(service, order);
}

Task<Result<Ended>> why_not_now(bmc::Bmc& bmc, std::chrono::seconds clock_may_be_off,
                                Deadline deadline) {
  CO_TRY(auto clock, co_await judge_clock(bmc, clock_may_be_off, deadline));
  if (clock) co_return clock;
  CO_TRY(const auto seen, co_await bmc.facts.observe(deadline));
  co_return judge_parts(seen.parts);
}

}  // namespace cupel::firmware
