#pragma once
// UDP to thousands of BMCs from one socket (and one more for IPv6): sends, hears, and drives
// conversations with the clock. Nothing of IPMI in here but the size of a datagram.
#include <boost/asio/ip/udp.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/task.h"
#include "bmc/bmc_limits.h"
#include "bmc/ipmi/conversation.h"
#include "inventory/endpoint.h"

namespace cupel::bmc::ipmi {

using Address = asio::ip::udp::endpoint;

/// Somebody who waits for datagrams from one address.
class Listener {
 public:
  virtual ~Listener() = default;
  /// True where it was meant for this one. Called from the loop: returns at once, and neither adds
  /// nor removes listeners.
  virtual bool hear(View datagram) = 0;
  /// The network says that nobody is there (ICMP).
  virtual void lost(const Error& error) = 0;
};

/// What was found out about how one BMC speaks IPMI.
struct VendorBehavior {
  std::optional<int> suite{};  // that it took last
};

/// One for the whole process; used from one thread. What listens must go before it does.
class Transport {
 public:
  /// `all_bmc_limits` are shared with whatever else talks to these BMCs, and must outlive this;
  /// nothing: its own.
  explicit Transport(asio::any_io_executor executor, AllBmcLimits* all_bmc_limits = nullptr);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  ~Transport();

  /// Sends what the conversation wants and hands it what comes from there, until it is over.
  /// Cancel-safe; with `grace` it goes on for that long after a cancellation, for what must not be
  /// left half done. Errors: kTimeout at the deadline (the conversation has its own);
  /// kUnreachable; kCancelled.
  Task<Result<void>> perform(Address address, Conversation& conversation, Deadline deadline,
                             Ticks grace = Ticks{0});

  /// A number is taken as it is; a name is looked up. Errors: kUnreachable (no such name);
  /// kTimeout; kCancelled.
  Task<Result<Address>> resolve(inventory::Endpoint endpoint, Deadline deadline);

  /// One datagram. What finds no room is lost, as on any network. Errors: kUnreachable.
  Result<void> send(const Address& address, View datagram);

  /// Hears from its construction to its destruction.
  class Hearing {
   public:
    Hearing(Transport& transport, Address address, Listener& listener);
    Hearing(const Hearing&) = delete;
    Hearing& operator=(const Hearing&) = delete;
    ~Hearing();

   private:
    Transport& transport_;
    Address address_;
    Listener* listener_;
  };

  /// Lives as long as the transport.
  VendorBehavior& behavior(const Address& address) { return behavior_[address]; }

  /// What everything that talks to this node's BMC shares. Lives as long as the all_bmc_limits.
  BmcLimits& bmc_limits(const std::string& node) { return all_bmc_limits_->of(node); }
  Memory& memory() { return all_bmc_limits_->memory(); }

  /// A number that was not given out before, for a session: never 0.
  std::uint32_t fresh_session();

 private:
  struct Socket;
  struct Talk;

  Result<std::shared_ptr<Socket>> socket_for(const Address& address);
  void heard(const Address& from, View datagram);
  void lost(const Address& whom, const Error& error);

  asio::any_io_executor executor_;
  AllBmcLimits own_;
  AllBmcLimits* all_bmc_limits_;
  std::shared_ptr<Socket> v4_, v6_;
  std::map<Address, std::vector<Listener*>> listeners_;
  std::map<Address, VendorBehavior> behavior_;
  std::uint32_t last_session_;
};

}  // namespace cupel::bmc::ipmi
