#pragma once
// One UDP socket on the loop: reads in batches, and reads what ICMP says about which address.
#include <boost/asio/ip/udp.hpp>
#include <functional>
#include <memory>

#include "base/task.h"
#include "bmc/ipmi/bytes.h"

namespace cupel::bmc::ipmi {

class UdpSocket : public std::enable_shared_from_this<UdpSocket> {
 public:
  using Address = asio::ip::udp::endpoint;

  /// Errors: kUnreachable: this machine has no such protocol.
  static Result<std::shared_ptr<UdpSocket>> open(
      const asio::any_io_executor& executor, bool v6,
      std::function<void(const Address&, View)> on_datagram,
      std::function<void(const Address&, const Error&)> on_lost);

  explicit UdpSocket(const asio::any_io_executor& executor) : socket_{executor} {}

  /// Errors: kUnreachable, where this machine itself knows no way there.
  Result<void> send(const Address& to, View datagram);

  /// Nothing is called after this.
  void stop();

 private:
  static constexpr std::size_t kBatch = 16;

  void wait();
  void read_all();
  bool read_batch();
  /// False where there is none left.
  bool read_one_error();

  asio::ip::udp::socket socket_;
  std::function<void(const Address&, View)> on_datagram_;
  std::function<void(const Address&, const Error&)> on_lost_;
  std::vector<std::uint8_t> buffer_;
  bool stopped_ = false;
};

}  // namespace cupel::bmc::ipmi
