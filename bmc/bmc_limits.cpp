#include "bmc/bmc_limits.h"

#include <fmt/chrono.h>

#include "base/digest.h"
#include "base/text.h"
#include "base/wall_clock.h"
#include "bmc/advice.h"

namespace cupel::bmc {

Task<Result<Semaphore::Permit>> Semaphore::enter(Deadline deadline) {
  if (free_ > 0) {
    --free_;
    co_return Permit{*this};
  }
  if (line_.size() >= kMostWaiting)
    co_return Error{Code::kBusy, "too many requests wait for this BMC"};
  const auto executor = co_await asio::this_coro::executor;
  Waiter self{asio::steady_timer{executor, deadline.when()}};
  line_.push_back(&self);
  const auto [stopped] = co_await self.wake.async_wait(asio::as_tuple(asio::use_awaitable));
  if (self.admitted) co_return Permit{*this};
  std::erase(line_, &self);
  if (!stopped) co_return Error{Code::kTimeout, "no turn among the requests to this BMC"};
  co_return Error{Code::kCancelled, "stopped while waiting for a turn"};
}

// The place goes straight to the first in line: nobody who comes later can take it.
void Semaphore::leave() {
  if (line_.empty() || free_ < 0) {
    ++free_;
    return;
  }
  Waiter* next = line_.front();
  line_.pop_front();
  next->admitted = true;
  next->wake.cancel();
}

Result<void> Logins::may_try(const std::string& user, const std::string& password) const {
  const auto before = memory_.refusal(node_, user);
  const bool same = before && before->mark == secret_mark(password, before->salt);
  if (same && before->wrong) {
    const auto when = fmt::format("{:%Y-%m-%d %H:%M:%S}", before->last);
    return Error{
        Code::kRefused,
        node_ + ": the BMC refused user " + printable(user) + " with this password at " + when +
            " UTC" + (words_.empty() ? "" : " (" + words_ + ")") +
            "; it is not sent again until they change, so that the BMC does not lock the "
            "account. Correct user or password in the inventory; if they are right and the BMC was "
            "corrected instead, " +
            advice_to_retry(node_)};
  }
  if (!not_before_.passed())
    return Error{Code::kBusy, node_ + ": the BMC refused a login a moment ago; it gets a pause",
                 not_before_.left()};
  return ok();
}

bool Logins::refused(const std::string& user, const std::string& password, RefusalRules rules,
                     std::string words) {
  auto refusal = memory_.refusal(node_, user);
  const bool again = refusal && refusal->mark == secret_mark(password, refusal->salt);
  if (!again) {
    const auto salt = random_hex(8);
    refusal = Refusal{.mark = secret_mark(password, salt), .salt = salt};
  }
  ++refusal->times;
  refusal->wrong = refusal->times >= rules.wrong_after;
  refusal->last = seconds_now();
  memory_.keep_refusal(node_, user, refusal);
  refused_user_ = user;
  words_ = std::move(words);
  not_before_ = Deadline::in(rules.pause_after);
  return refusal->wrong;
}

bool Logins::was_refused(const std::string& user, const std::string& password) const {
  const auto before = memory_.refusal(node_, user);
  return before && before->mark == secret_mark(password, before->salt);
}

void Logins::accepted(const std::string& user) {
  if (refused_user_ == user) refused_user_.clear();
  if (memory_.refusal(node_, user)) memory_.keep_refusal(node_, user, std::nullopt);
}

Budget BmcLimits::snapshot() const {
  Budget now = seen;
  now.places = at_once.width();
  now.in_flight = at_once.inside();
  now.waiting = at_once.waiting() + slow.waiting();
  now.slow_in_use = slow.inside() > 0;
  now.upload_in_use = upload.inside() > 0;
  now.redfish_session = redfish_session;
  now.ipmi_sessions = ipmi_sessions;
  now.refused_user = logins.refused_user();
  now.silent = silence.requests;
  if (now.silent > 0)
    now.silent_for =
        std::chrono::floor<std::chrono::seconds>(Deadline::Clock::now() - silence.since);
  return now;
}

BmcLimits& AllBmcLimits::of(const std::string& node, int requests) {
  auto& found = all_[node];
  if (!found) {
    found = std::make_unique<BmcLimits>(*memory_, node, requests);
    kept_[node] = found->seen.requests;
  }
  return *found;
}

std::optional<Budget> AllBmcLimits::budget(const std::string& node) const {
  const auto found = all_.find(node);
  return found == all_.end() ? std::nullopt : std::optional{found->second->snapshot()};
}

void AllBmcLimits::keep() {
  std::vector<std::pair<std::string, Budget>> changed;
  for (const auto& [node, bmc_limits] : all_) {
    if (bmc_limits->seen.requests == kept_[node]) continue;
    kept_[node] = bmc_limits->seen.requests;
    changed.emplace_back(node, bmc_limits->seen);
  }
  if (!changed.empty()) memory_->keep_budgets(changed);
  next_ = Deadline::in(std::chrono::minutes{1});
}

void AllBmcLimits::keep_now_and_then() {
  if (next_.passed()) keep();
}

}  // namespace cupel::bmc
