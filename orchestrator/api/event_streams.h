#pragma once
// The journals of runs as streams of events: what is in the store, from where a reader left off,
// and then what is written. A reader wakes when the controller has written; nothing is kept for it.
#include <set>

#include "orchestrator/api/desk.h"

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

/// Up to where a reader has read. As text it is what Last-Event-ID holds.
struct StreamPlace {
  bool all = false;          // of all runs
  engine::RunId newest = 0;  // of all runs: later ones are read from their beginning
  std::map<engine::RunId, std::int64_t> at{};

  std::string text() const;
};

/// Where a stream begins: behind `after`; at the end of what is there for "now", and for a stream
/// of all runs where nothing is said. Errors: kInvalid; kStorage.
Result<StreamPlace> stream_begin(Desk& desk, engine::RunId run, std::string_view after);

/// What was written behind the place, which moves; empty: nothing. Bounded. Errors: kStorage.
Result<std::string> stream_piece(Desk& desk, StreamPlace& place, const Identity& identity);

/// A desk's own thread, as streams use it.
using OnDesk = std::function<Task<Result<std::string>>(std::function<Result<std::string>(Desk&)>)>;

std::shared_ptr<Feed> make_feed(Bell& bell, OnDesk on_desk, engine::RunId run, std::string after,
                                const Identity& identity);

}  // namespace cupel::api
