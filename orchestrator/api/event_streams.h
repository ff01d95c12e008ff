#pragma once
// The journals of runs as streams of events: what is in the store, from where a reader left off,
// and then what is written. A reader wakes when the controller has written; nothing is kept for it.
#include <map>
#include <mutex>
#include <set>

#include "orchestrator/api/request_handler.h"
#include "orchestrator/api/stream_place.h"

namespace cupel::api {

/// Wakes those that wait, on their own loop.
class Bell {
 public:
  explicit Bell(asio::io_context& io) : io_{io} {}

  /// From any thread.
  void ring();
  /// True: it rang since `heard` of them; false: `patience` is over.
  Task<bool> wait(std::uint64_t heard, std::chrono::milliseconds patience);
  std::uint64_t rung() const { return rung_; }

 private:
  asio::io_context& io_;
  std::atomic<bool> posted_{false};
  std::uint64_t rung_ = 0;  // touched by the loop alone
  std::set<asio::steady_timer*> waiting_{};
};

/// Where a stream begins: behind `after`; at the end of what is there for "now", and for a stream
/// of all runs where nothing is given. Errors: kInvalid; kStorage.
Result<StreamPlace> stream_begin(RequestHandler& handler, engine::RunId run,
                                 std::string_view after);

/// What was written behind the place, which moves; empty: nothing that the person may see. Bounded:
/// where the place moved there may be more. Errors: kStorage.
Result<std::string> stream_piece(RequestHandler& handler, StreamPlace& place,
                                 const Identity& identity);

/// A desk's own thread, as streams use it.
using OnDesk =
    std::function<Task<Result<std::string>>(std::function<Result<std::string>(RequestHandler&)>)>;

/// How many streams are open, and whose. From any thread.
class FeedSlots {
 public:
  /// One of the streams that may be open at a time; its place is free again at its end.
  class Slot {
   public:
    Slot(FeedSlots& slots, std::string who) : slots_{slots}, who_{std::move(who)} {}
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() { slots_.give_back(who_); }

   private:
    FeedSlots& slots_;
    std::string who_;
  };

  /// `most` in all, and `most_of_one` of one person or program: nobody takes those of all others.
  FeedSlots(std::size_t most, std::size_t most_of_one) : most_{most}, most_of_one_{most_of_one} {}
  /// nullptr: as many are open. This object must outlive it.
  std::unique_ptr<Slot> take(const std::string& who);
  std::size_t open() const;

 private:
  void give_back(const std::string& who);

  const std::size_t most_, most_of_one_;
  mutable std::mutex mutex_{};
  std::map<std::string, std::size_t> taken_{};  // by name
  std::size_t open_ = 0;
};

/// How a stream shows that it lives, and how often it asks whether its login is still valid.
struct FeedPace {
  std::chrono::milliseconds heartbeat{15'000};
};

/// Ends where the login has expired or was revoked.
std::shared_ptr<Feed> make_feed(Bell& bell, OnDesk on_desk, StreamPlace place,
                                const Identity& identity, std::unique_ptr<FeedSlots::Slot> slot,
                                FeedPace pace = {});

}  // namespace cupel::api
