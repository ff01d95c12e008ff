#pragma once
// A BMC whose answers a test writes: for behavior that ipmi_sim does not have. It logs everybody in
// as whom a test says, by suite 3 or 17, on a UDP socket of the test's own loop.
#include <boost/asio/ip/udp.hpp>
#include <functional>
#include <map>
#include <optional>

#include "bmc/ipmi/message.h"
#include "bmc/ipmi/session.h"
#include "inventory/model.h"

namespace cupel::bmc::ipmi {

class ScriptedBmc {
 public:
  using Script = std::function<Reply(std::uint8_t function, std::uint8_t code, View data)>;

  ScriptedBmc(boost::asio::any_io_executor executor, Suite suite, Script script);
  ~ScriptedBmc();

  inventory::Endpoint endpoint() const;
  /// Requests within sessions, as "06 01", in their order.
  std::vector<std::string> asked{};
  int handshakes = 0;
  int short_refusals = 0;  // to so many Open Session Requests: "unauthorized name", cut short
  std::uint8_t rakp2_status = 0;
  std::uint8_t highest_role = 4;  // a higher one is refused with 0Ah

 private:
  struct State;
  void hear(View datagram);
  void answer(PayloadType type, View payload);
  void on_rakp1(View payload);
  void on_message(View datagram);

  Suite suite_;
  Script script_;
  std::shared_ptr<State> state_;
};

}  // namespace cupel::bmc::ipmi
