#include "orchestrator/netboot/peer_limits.h"

#include <algorithm>

#include "base/network_of.h"

namespace cupel::netboot {

PeerLimits::Allowance& PeerLimits::allowance_of(const boost::asio::ip::address& address,
                                                Clock::time_point now) {
  const auto peer = network_of(address);
  const double most = rate_ * kBurst;
  const auto refilled = [&](const Allowance& of) {
    const std::chrono::duration<double> passed = now - of.at;
    return std::min(most, of.left + passed.count() * rate_);
  };
  if (peers_.size() >= kMostPeers && !peers_.contains(peer))
    std::erase_if(peers_, [&](const auto& entry) { return refilled(entry.second) >= most; });
  if (peers_.size() >= kMostPeers && !peers_.contains(peer)) peers_.erase(peers_.begin());
  const auto [at, is_new] = peers_.try_emplace(peer, Allowance{most, now});
  at->second = {refilled(at->second), now};
  return at->second;
}

bool PeerLimits::allow(const boost::asio::ip::address& peer, Clock::time_point now) {
  const std::scoped_lock lock{mutex_};
  auto& allowance = allowance_of(peer, now);
  if (allowance.left < 1) return false;
  allowance.left -= 1;
  return true;
}

void PeerLimits::count_guess(const boost::asio::ip::address& peer, Clock::time_point now) {
  const std::scoped_lock lock{mutex_};
  auto& allowance = allowance_of(peer, now);
  allowance.left = std::max(0.0, allowance.left - kGuess);
}

}  // namespace cupel::netboot
