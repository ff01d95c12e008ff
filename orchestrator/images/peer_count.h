#pragma once
// How many connections there are, and how many each peer has; of IPv6 each /64. A quarter is kept
// for peers that were served something within the last hour: those who guess are served nothing,
// and cannot take that. Used from several threads.
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "base/network_of.h"

namespace cupel::images {

class PeerCount {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMostServed = 20'000;  // peers that are remembered
  static constexpr std::chrono::hours kRemembered{1};

  /// `of_one` of 0: as many as there may be.
  PeerCount(std::size_t most, std::size_t of_one)
      : most_{most}, most_unserved_{most - most / 4}, of_one_{of_one} {}

  /// False: there are as many as there may be.
  bool enter(const boost::asio::ip::address& peer, Clock::time_point now = Clock::now()) {
    const std::scoped_lock lock{mutex_};
    const auto who = network_of(peer);
    const auto [at, is_new] = counts_.try_emplace(who);
    auto& count = at->second;
    if (is_new) count.served = was_served(who, now);
    const bool full = open_ >= most_ || (of_one_ != 0 && count.open >= of_one_) ||
                      (!count.served && unserved_ >= most_unserved_);
    if (full) {
      if (is_new) counts_.erase(at);
      return false;
    }
    ++count.open;
    ++open_;
    if (!count.served) ++unserved_;
    return true;
  }
  /// It has been served something.
  void serve(const boost::asio::ip::address& peer, Clock::time_point now = Clock::now()) {
    const std::scoped_lock lock{mutex_};
    const auto who = network_of(peer);
    remember(who, now);
    const auto at = counts_.find(who);
    if (at == counts_.end() || std::exchange(at->second.served, true)) return;
    unserved_ -= at->second.open;
  }
  void leave(const boost::asio::ip::address& peer) {
    const std::scoped_lock lock{mutex_};
    const auto at = counts_.find(network_of(peer));
    if (at == counts_.end()) return;
    --open_;
    if (!at->second.served) --unserved_;
    if (--at->second.open == 0) counts_.erase(at);
  }

 private:
  struct Count {
    std::size_t open = 0;
    bool served = false;  // for as long as one of its connections is open
  };

  bool was_served(const boost::asio::ip::address& who, Clock::time_point now) const {
    const auto at = served_.find(who);
    return at != served_.end() && now - at->second < kRemembered;
  }
  void remember(const boost::asio::ip::address& who, Clock::time_point now) {
    if (served_.size() >= kMostServed && !served_.contains(who))
      std::erase_if(served_, [&](const auto& each) { return now - each.second >= kRemembered; });
    if (served_.size() >= kMostServed && !served_.contains(who)) served_.erase(served_.begin());
    served_[who] = now;
  }

  const std::size_t most_, most_unserved_, of_one_;
  std::mutex mutex_{};
  std::size_t open_ = 0, unserved_ = 0;
  std::map<boost::asio::ip::address, Count> counts_{};
  std::map<boost::asio::ip::address, Clock::time_point> served_{};
};

}  // namespace cupel::images
