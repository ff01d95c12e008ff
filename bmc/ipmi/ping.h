#pragma once
// Is there a BMC at an address? Asked without credentials. For scanning many addresses.
#include <optional>

#include "bmc/ipmi/exchange.h"
#include "bmc/ipmi/transport.h"

namespace cupel::bmc::ipmi {

/// What an address says of itself to anybody.
struct Presence {
  bool pong = false;             // it answered ASF's presence ping
  bool ipmi = false;             // the pong, or an answer, says that IPMI is spoken
  bool rmcp_plus = false;        // IPMI 2.0: what Cupel needs
  std::uint32_t enterprise = 0;  // IANA number of the vendor, where reported; 0 else
  friend bool operator==(const Presence&, const Presence&) = default;
};

/// Sends a presence ping, then Get Channel Authentication Capabilities, each at most twice. Run it
/// over many addresses at once. Cancel-safe. Errors: kTimeout (nobody there, or not IPMI);
/// kUnreachable; kCancelled. Source: ASF 2.0, 3.2.4.2; IPMI 2.0, 22.13.
Task<Result<Presence>> ping(Transport& transport, inventory::Endpoint endpoint, Deadline deadline);

/// The conversation of it.
class Presences final : public Conversation {
 public:
  explicit Presences(std::uint8_t tag) : tag_{tag} {}

  Action start() override;
  Action on_datagram(View datagram) override;
  Action on_timeout() override;
  Result<Presence> outcome() const;

 private:
  Action ask_more();

  std::uint8_t tag_;
  int sent_ = 0;
  bool over_ = false;
  Presence presence_{};
};

}  // namespace cupel::bmc::ipmi
