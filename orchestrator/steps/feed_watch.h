#pragma once
// Takes one feed of a node away after the other, while a stage loads it and the BMC is read. A feed
// comes back by itself (bmc/pdu.h): whoever dies in between leaves nothing off. Never fails a
// stage: what cannot be done is written down as that, for burnin/board/feeds.h.
#include <boost/asio/steady_timer.hpp>

#include "orchestrator/steps/bmc_watch.h"

namespace cupel::steps {

class FeedWatch {
 public:
  /// `request` and `sensors` must live as long.
  FeedWatch(StepEnvironment& environment, const engine::StepRequest& request, SensorWatch& sensors);
  FeedWatch(const FeedWatch&) = delete;
  FeedWatch& operator=(const FeedWatch&) = delete;
  ~FeedWatch() { sensors_.on_news = {}; }

  /// Waits for the phase, then takes each feed in turn. Errors: kFailed: the node went down, and
  /// nobody need wait for it; kCancelled.
  Task<Result<void>> take_each();
  bool done() const { return done_; }
  bool went_down() const { return went_down_; }

  /// Of a node whose stage is lost, or that is off: whether a feed had been taken away from it
  /// before. Writes it down then.
  bool went_down_by_a_feed();

 private:
  struct Feed {
    int number = 0;
    std::string breaker{};
    std::string outlets{};
  };
  Task<Result<void>> take(bmc::Pdu& pdu, Feed feed);
  Task<Result<void>> look_after(bmc::Pdu& pdu, Feed feed, std::vector<bmc::Outlet> outlets);
  Task<Result<void>> settled(Feed feed);
  Task<Result<std::vector<bmc::Outlet>>> ready(bmc::Pdu& pdu, Feed feed);
  Task<Result<void>> await_news(Deadline deadline);
  Task<bool> wells_by(Deadline deadline);
  Task<bool> is_off();
  void say(const Feed& feed, std::string_view what);
  void say(const Feed& feed, std::string_view what, std::string_view words);

  StepEnvironment& environment_;
  const engine::StepRequest& request_;
  SensorWatch& sensors_;
  std::optional<boost::asio::steady_timer> news_{};
  std::optional<Feed> last_{};  // that was taken away
  bool done_ = false, went_down_ = false;
};

}  // namespace cupel::steps
