#include "orchestrator/steps/feed_watch.h"

#include <fmt/format.h>

#include "base/text.h"
#include "burnin/board/feeds.h"
#include "inventory/model.h"

namespace cupel::steps {
namespace {

using engine::StepRequest;
using std::chrono::seconds;

constexpr seconds kPduPatience{60};
constexpr seconds kLook{1};       // between looks at an outlet that is off
constexpr seconds kLateBack{60};  // beyond what the PDU promised
constexpr seconds kShortest{10};  // off for less nobody would see it
constexpr seconds kLongest{600};
constexpr seconds kWell{300};  // for supplies, and a BMC that has lost its own power, to be back
constexpr seconds kBmcPatience{30};

}  // namespace

FeedWatch::FeedWatch(StepEnvironment& environment, const StepRequest& request, SensorWatch& sensors)
    : environment_{environment}, request_{request}, sensors_{sensors} {
  sensors_.leave_alone(burnin::kFeedPhase);
  sensors_.on_news = [this] {
    if (news_) news_->cancel();
  };
  sensors_.say({{"feeds", request.node.feeds.size()}});
}

void FeedWatch::say(const Feed& feed, std::string_view what) {
  sensors_.say({{"feed", feed.number}, {what, true}});
}

void FeedWatch::say(const Feed& feed, std::string_view what, std::string_view words) {
  sensors_.say({{"feed", feed.number}, {what, valid_utf8(words)}});
}

/// Errors: kTimeout; kCancelled.
Task<Result<void>> FeedWatch::await_news(Deadline deadline) {
  if (!news_) news_.emplace(co_await asio::this_coro::executor);
  news_->expires_at(deadline.when());
  const auto [failure] = co_await news_->async_wait(asio::as_tuple(asio::use_awaitable));
  const bool over = co_await cancelled();
  if (over) co_return Error{Code::kCancelled, "stopped"};
  if (!failure) co_return Error{Code::kTimeout, "nothing new"};
  co_return ok();
}

/// Whether a reading that is begun from now on finds all supplies well, by then.
Task<bool> FeedWatch::wells_by(Deadline deadline) {
  const auto begun = sensors_.begun();
  while (!sensors_.all_well_after(begun).value_or(false)) {
    const auto news = co_await await_news(deadline);
    if (!news) co_return false;
  }
  co_return true;
}

Task<Result<void>> FeedWatch::take_each() {
  while (sensors_.phase() != burnin::kFeedPhase) {
    CO_TRY(co_await await_news(request_.deadline));
  }
  const auto& node = request_.node;
  for (std::size_t i = 0; i < node.feeds.size(); ++i) {
    const Feed feed{static_cast<int>(i) + 1, node.feeds[i],
                    i < node.outlets.size() ? node.outlets[i] : std::string{}};
    const auto* access = environment_.inventory.pdu_of(feed.breaker);
    if (access == nullptr || feed.outlets.empty() || !environment_.pdu) {
      say(feed, "name", feed.breaker);
      say(feed, "failed", "the inventory names no outlet of it that a PDU switches");
      continue;
    }
    const auto pdu = environment_.pdu(*access);
    auto taken = co_await take(*pdu, feed);
    co_await pdu->log_out();
    if (!taken) co_return taken;
  }
  done_ = true;
  request_.waiting("");
  co_return ok();
}

/// Errors: as take_each. Whatever else goes wrong is written down.
Task<Result<void>> FeedWatch::take(bmc::Pdu& pdu, Feed feed) {
  const auto name = feed.breaker + ", outlet " + feed.outlets;
  request_.waiting("feed " + name);
  auto outlets = co_await ready(pdu, feed);
  if (!outlets) {
    const bool over = co_await cancelled();
    if (over) co_return Error{Code::kCancelled, "stopped"};
    say(feed, "name", name);
    say(feed, "failed", outlets.error().what);
    co_return ok();
  }
  say(feed, "name", name);
  last_ = feed;
  for (const auto& outlet : *outlets) {
    auto cycled = co_await pdu.cycle(outlet, request_.deadline.sooner(kPduPatience));
    if (cycled) continue;
    // What was cycled before it comes back by itself.
    say(feed, "failed", cycled.error().what);
    if (cycled.error().code == Code::kCancelled) co_return cycled;
    co_return ok();
  }
  co_return co_await look_after(pdu, feed, *std::move(outlets));
}

/// The feed's outlets, where nothing speaks against taking them away. Errors: why not.
Task<Result<std::vector<bmc::Outlet>>> FeedWatch::ready(bmc::Pdu& pdu, Feed feed) {
  std::vector<std::string> names;
  for (const auto name : inventory::outlet_names(feed.outlets)) names.emplace_back(name);
  CO_TRY(auto outlets,
         co_await pdu.outlets(std::move(names), request_.deadline.sooner(kPduPatience)));
  for (const auto& outlet : outlets) {
    if (outlet.target.empty() || !outlet.off_for)
      co_return Error{Code::kUnsupported,
                      "outlet " + outlet.name +
                          " does not cycle by itself (it lacks PowerCycle or "
                          "PowerCycleDelaySeconds): nothing is switched off that might stay off"};
    if (outlet.power != bmc::PowerState::on)
      co_return Error{Code::kConflict, "outlet " + outlet.name + " is not on: look at the PDU"};
    if (*outlet.off_for < kShortest || *outlet.off_for > kLongest)
      co_return Error{
          Code::kUnsupported,
          fmt::format("outlet {} would be off for {} s: set its PowerCycleDelaySeconds "
                      "to between {} and {}",
                      outlet.name, outlet.off_for->count(), kShortest.count(), kLongest.count())};
  }
  const bool well = co_await wells_by(request_.deadline.sooner(kWell));
  if (!well)
    co_return Error{Code::kConflict,
                    "the BMC does not say that all supplies are well: nothing is taken away from "
                    "a node that may need it"};
  co_return outlets;
}

/// Until they are on again, and the node has settled. Errors: as take_each.
Task<Result<void>> FeedWatch::look_after(bmc::Pdu& pdu, Feed feed,
                                         std::vector<bmc::Outlet> outlets) {
  std::vector<std::string> names;
  seconds off_for{0};
  for (const auto& outlet : outlets) {
    names.push_back(outlet.name);
    off_for = std::max(off_for, *outlet.off_for);
  }
  const auto promised = Deadline::in(off_for);
  const auto last = request_.deadline.sooner(off_for + kLateBack);
  bool seen_off = false;
  std::string why = "it is still off: switch it on";
  for (;;) {
    CO_TRY(co_await pause_for(kLook));
    const auto now = co_await pdu.outlets(names, last);
    const bool over = co_await cancelled();
    if (over) co_return Error{Code::kCancelled, "stopped"};
    if (now) {
      const bool all_on = std::ranges::all_of(
          *now, [](const auto& outlet) { return outlet.power == bmc::PowerState::on; });
      seen_off = seen_off || !all_on;
      if (all_on && (seen_off || promised.passed())) break;
    } else {
      why = now.error().what;
    }
    if (!last.passed()) continue;
    say(feed, "failed", "outlet " + feed.outlets + ": " + why);
    co_return ok();
  }
  say(feed, "back");
  co_return co_await settled(feed);
}

/// Errors: as take_each.
Task<Result<void>> FeedWatch::settled(Feed feed) {
  const bool well = co_await wells_by(request_.deadline.sooner(kWell));
  const bool over = co_await cancelled();
  if (over) co_return Error{Code::kCancelled, "stopped"};
  const bool off = co_await is_off();
  if (off) {
    went_down_by_a_feed();
    co_return Error{Code::kFailed, "it went down when its feed " + feed.breaker + " was off"};
  }
  if (well) say(feed, "well");
  co_return ok();
}

Task<bool> FeedWatch::is_off() {
  const auto bmc = environment_.bmc(request_.node);
  const auto power = co_await bmc->power.state(request_.deadline.sooner(kBmcPatience));
  co_await bmc->log_out();
  co_return power && power->value == bmc::PowerState::off;
}

bool FeedWatch::went_down_by_a_feed() {
  if (!last_) return false;
  if (!std::exchange(went_down_, true)) say(*last_, "fell");
  return true;
}

}  // namespace cupel::steps
