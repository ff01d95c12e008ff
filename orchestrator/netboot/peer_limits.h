#pragma once
// How many requests each peer, of IPv6 each /64, may make: one that guesses is through soon. Used
// from several threads.
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <map>
#include <mutex>

namespace cupel::netboot {

class PeerLimits {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMostPeers = 20'000;
  static constexpr double kBurst = 4;   // seconds' worth of requests
  static constexpr double kGuess = 25;  // requests that a wrong token costs

  explicit PeerLimits(std::uint32_t per_second) : rate_{static_cast<double>(per_second)} {}

  /// False: it has asked too much of late.
  bool allow(const boost::asio::ip::address& peer, Clock::time_point now = Clock::now());
  void count_guess(const boost::asio::ip::address& peer, Clock::time_point now = Clock::now());

 private:
  struct Allowance {
    double left = 0;
    Clock::time_point at{};
  };
  Allowance& allowance_of(const boost::asio::ip::address& address, Clock::time_point now);

  const double rate_;
  std::mutex mutex_{};
  std::map<boost::asio::ip::address, Allowance> peers_{};
};

}  // namespace cupel::netboot
