#include "orchestrator/api/event_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>

#include "base/text.h"
#include "orchestrator/api/event_text.h"
#include "orchestrator/report/run_progress.h"

namespace cupel::api {
namespace {

constexpr std::size_t kMostPiece = 256u * 1024;
constexpr std::size_t kMostEvents = 500;
constexpr std::size_t kMostStreamRuns = 1000;

std::optional<std::pair<engine::RunId, std::int64_t>> run_place(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == text.npos) return std::nullopt;
  const auto run = number<engine::RunId>(text.substr(0, colon));
  const auto sequence = number<std::int64_t>(text.substr(colon + 1));
  if (!run || !sequence || *run <= 0 || *sequence < 0) return std::nullopt;
  return std::pair{*run, *sequence};
}

Error no_place(std::string_view after) {
  return Error{Code::kInvalid, fmt::format("'{}' is no place in a stream of this service",
                                           printable(shortened(after, 100)))};
}

/// "14;12:345,13:20".
Result<StreamPlace> all_place(std::string_view after) {
  StreamPlace place{.all = true};
  const auto semicolon = after.find(';');
  const auto newest = number<engine::RunId>(after.substr(0, semicolon));
  if (semicolon == after.npos || !newest || *newest < 0) return no_place(after);
  place.newest = *newest;
  for (const auto each : split(after.substr(semicolon + 1), ',')) {
    if (each.empty()) continue;
    const auto at = run_place(each);
    if (!at || place.at.size() == kMostStreamRuns) return no_place(after);
    place.at.insert(*at);
  }
  return place;
}

/// Runs that begin while a stream of all is read.
Result<void> add_new_runs(RequestHandler& handler, StreamPlace& place) {
  TRY(const auto newest, handler.journal().newest_run());
  if (newest <= place.newest) return ok();
  for (auto run = place.newest + 1; run <= newest && place.at.size() < kMostStreamRuns; ++run)
    place.at[run] = 0;
  place.newest = newest;
  return ok();
}

bool ends_a_run(std::string_view kind) { return kind == "run-ended" || kind == "run-cancelled"; }

class EventFeed final : public Feed {
 public:
  EventFeed(Bell& bell, OnDesk on_desk, StreamPlace place, Identity identity,
            std::unique_ptr<FeedSlots::Slot> slot, FeedPace pace)
      : bell_{bell},
        on_desk_{std::move(on_desk)},
        place_{std::move(place)},
        identity_{std::move(identity)},
        slot_{std::move(slot)},
        pace_{pace} {}

  Task<std::optional<std::string>> next() override {
    for (;;) {
      const auto heard = bell_.rung();
      auto piece = co_await on_desk_([this](RequestHandler& handler) { return read(handler); });
      if (!piece) co_return std::nullopt;
      const auto now = Clock::now();
      const bool silent = now - sent_ >= pace_.heartbeat;
      if (!piece->empty() || silent) {
        sent_ = now;
        co_return piece->empty() ? std::string{": alive\n\n"} : *std::move(piece);
      }
      // Behind a page of what this person may not see there may be another one.
      if (!moved_) co_await bell_.wait(heard, patience());
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Until the next heartbeat, or until the login expires.
  std::chrono::milliseconds patience() const {
    using std::chrono::milliseconds;
    auto left = std::chrono::ceil<milliseconds>(sent_ + pace_.heartbeat - Clock::now());
    if (identity_.expires != engine::WallTime{})
      left = std::min<milliseconds>(left, identity_.expires - report::wall_now() + milliseconds{1});
    return std::max(left, milliseconds{1});
  }

  Result<std::string> read(RequestHandler& handler) {
    TRY(check_identity(handler));
    if (!std::exchange(begun_, true)) return std::string{"retry: 2000\n\n"};
    const auto before = place_;
    auto piece = stream_piece(handler, place_, identity_);
    moved_ = place_ != before;
    return piece;
  }

  /// Whoever may not ask any more is not to be answered either.
  Result<void> check_identity(RequestHandler& handler) {
    const auto wall = report::wall_now();
    const bool expired = identity_.expires != engine::WallTime{} && identity_.expires <= wall;
    if (expired) return Error{Code::kRefused, "the login has expired"};
    const auto now = Clock::now();
    const bool is_due = !checked_ || now - *checked_ >= pace_.heartbeat;
    if (!is_due) return ok();
    checked_ = now;
    // A session's own row, which a logout takes.
    if (!identity_.token.empty())
      return handler.authenticator().tokens().check(identity_.token, wall);
    return handler.authenticator().check_again(identity_, *handler.shared().site.get());
  }

  Bell& bell_;
  OnDesk on_desk_;
  StreamPlace place_;
  Identity identity_;
  std::unique_ptr<FeedSlots::Slot> slot_;
  FeedPace pace_;
  Clock::time_point sent_ = Clock::now();
  std::optional<Clock::time_point> checked_{};  // however busy the stream is
  bool begun_ = false;
  bool moved_ = false;
};

}  // namespace

void Bell::ring() {
  if (posted_.exchange(true)) return;
  asio::post(io_, [this] {
    posted_ = false;
    ++rung_;
    for (auto* timer : std::exchange(waiting_, {})) timer->cancel();
  });
}

Task<bool> Bell::wait(std::uint64_t heard, std::chrono::milliseconds patience) {
  if (rung_ != heard) co_return true;
  asio::steady_timer timer{io_, patience};
  waiting_.insert(&timer);
  (void)co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  waiting_.erase(&timer);
  co_return rung_ != heard;
}

std::string StreamPlace::text() const {
  std::string runs;
  for (const auto& [run, sequence] : at)
    runs += fmt::format("{}{}:{}", runs.empty() ? "" : ",", run, sequence);
  return all ? fmt::format("{};{}", newest, runs) : runs;
}

Result<StreamPlace> stream_begin(RequestHandler& handler, engine::RunId run,
                                 std::string_view after) {
  const bool now = after == "now";
  if (run != 0) {
    if (now) {
      TRY(const auto end, handler.ends().of(run));
      return StreamPlace{.at = {{run, end.sequence}}};
    }
    if (after.empty()) return StreamPlace{.at = {{run, 0}}};
    const auto at = run_place(after);
    if (!at || at->first != run) return no_place(after);
    return StreamPlace{.at = {*at}};
  }
  StreamPlace place{.all = true};
  TRY(place.newest, handler.journal().newest_run());
  if (!after.empty() && !now) {
    TRY(auto last, all_place(after));
    // Of a store that was put back since: its next runs have numbers that the reader knows.
    last.newest = std::min(last.newest, place.newest);
    return last;
  }
  TRY(const auto open, handler.journal().open_runs());
  for (const auto each : open) {
    TRY(const auto end, handler.ends().of(each));
    place.at[each] = end.sequence;
  }
  return place;
}

Result<std::string> stream_piece(RequestHandler& handler, StreamPlace& place,
                                 const Identity& identity) {
  if (place.all) {
    TRY(add_new_runs(handler, place));
  }
  std::vector<engine::RunId> runs;
  for (const auto& [run, sequence] : place.at) runs.push_back(run);
  std::string text;
  for (const auto run : runs) {
    if (text.size() >= kMostPiece) break;
    TRY(const auto page,
        handler.journal().page(
            {.run = run, .after = place.at[run], .most = kMostEvents, .most_bytes = kMostPiece}));
    bool over = false;
    for (const auto& event : page) {
      place.at[run] = event.sequence;
      over = over || ends_a_run(event.kind);
      if (!may_see(handler, identity, event)) continue;
      text += stream_item(event, place.text(), identity);
      ++handler.shared().counters.events_sent;
    }
    // Nothing comes behind a run's end; a stream of that one run alone stays.
    if (over && place.all) place.at.erase(run);
  }
  return text;
}

std::unique_ptr<FeedSlots::Slot> FeedSlots::take(const std::string& who) {
  const std::scoped_lock lock{mutex_};
  if (open_ >= most_) return nullptr;
  auto& mine = taken_[who];
  if (mine >= most_of_one_) return nullptr;
  ++mine;
  ++open_;
  return std::make_unique<Slot>(*this, who);
}

void FeedSlots::give_back(const std::string& who) {
  const std::scoped_lock lock{mutex_};
  --open_;
  if (--taken_[who] == 0) taken_.erase(who);
}

std::size_t FeedSlots::open() const {
  const std::scoped_lock lock{mutex_};
  return open_;
}

std::shared_ptr<Feed> make_feed(Bell& bell, OnDesk on_desk, StreamPlace place,
                                const Identity& identity, std::unique_ptr<FeedSlots::Slot> slot,
                                FeedPace pace) {
  return std::make_shared<EventFeed>(bell, std::move(on_desk), std::move(place), identity,
                                     std::move(slot), pace);
}

}  // namespace cupel::api
