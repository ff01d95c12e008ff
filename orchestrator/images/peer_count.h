#pragma once
// How many connections each peer has; of IPv6 each /64. Used from several threads.
#include <boost/asio/ip/address.hpp>
#include <map>
#include <mutex>

#include "base/network_of.h"

namespace cupel::images {

class PeerCount {
 public:
  explicit PeerCount(std::size_t most) : most_{most} {}

  /// False: it has as many as one may have. Most of 0: no limit.
  bool enter(const boost::asio::ip::address& peer) {
    const std::scoped_lock lock{mutex_};
    auto& count = counts_[network_of(peer)];
    if (most_ != 0 && count >= most_) return false;
    ++count;
    return true;
  }
  void leave(const boost::asio::ip::address& peer) {
    const std::scoped_lock lock{mutex_};
    const auto at = counts_.find(network_of(peer));
    if (at != counts_.end() && --at->second == 0) counts_.erase(at);
  }

 private:
  const std::size_t most_;
  std::mutex mutex_{};
  std::map<boost::asio::ip::address, std::size_t> counts_{};
};

}  // namespace cupel::images
