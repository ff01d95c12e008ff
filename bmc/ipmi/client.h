#pragma once
// One BMC's session as a caller sees it: a command and what came back. It knows nothing of power,
// sensors or logs.
#include "bmc/ipmi/exchange.h"
#include "bmc/ipmi/handshake.h"
#include "bmc/ipmi/transport.h"
#include "bmc/secret_source.h"
#include "inventory/access.h"

namespace cupel::bmc::ipmi {

class Client {
 public:
  Client(Transport& transport, std::string node, inventory::IpmiAccess access, std::string user,
         SecretSource password);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// What the BMC replied, whatever its completion code. Logs in first where there is no session,
  /// and raises the privilege where the command needs more than the session has. One command at a
  /// time, in the order of their callers. Cancel-safe.
  /// Errors: kTimeout, kUnreachable, kCancelled; kRefused, at once and without any datagram where
  /// these credentials were refused before; kUnsupported (no cipher suite in common); kInvalid (a
  /// user name over 16 or a password over 20 bytes, a suite other than 3 and 17).
  Task<Result<Reply>> exchange(const Command& command, Bytes data, Deadline deadline,
                               std::uint8_t unit = 0);

  /// The data that came back. Asks again a few times where the node is busy. Errors: as exchange(),
  /// and error_of().
  Task<Result<Bytes>> ask(const Command& command, Bytes data, Deadline deadline,
                          std::uint8_t unit = 0);

  /// Tells the BMC a last thing within an open session and takes whatever comes back, within
  /// kLogOutPatience of its own; works in a cancelled coroutine. For clearing up.
  Task<void> tell(const Command& command, Bytes data);

  /// Ends the session, if there is one, within kLogOutPatience of its own. Idempotent; works in a
  /// cancelled coroutine.
  Task<void> log_out();

  /// How many sessions there have been, with the one that the next command will use: it grows where
  /// that one has to log in anew.
  int session_number() const { return sessions_ + (is_open() ? 0 : 1); }

  /// Of the BMC, once there is a session.
  const Address& address() const { return *address_; }
  /// Nothing without one. Whoever uses it beside exchange() sees to it that nobody else does.
  Session* session() { return session_ ? &*session_ : nullptr; }

  Transport& transport() { return transport_; }
  const std::string& node() const { return node_; }
  /// What this BMC was sent, by whatever protocol: to be taken out of what it answers. exchange()
  /// does so with what stands in one reply; whoever joins several does it with the whole.
  SentSecrets& secrets() { return bmc_limits_.secrets; }
  int requests() const { return requests_; }
  std::size_t bytes() const { return bytes_; }

  static constexpr std::chrono::seconds kLogOutPatience{3};
  /// A BMC forgets a session after 60 s, give or take 3, without a packet (IPMI 2.0, 6.12.15).
  static constexpr std::chrono::seconds kIdle{50};

 private:
  void forget_session();
  bool is_open() const { return session_ && Deadline::Clock::now() - used_ < kIdle; }
  Task<Result<void>> perform(Conversation& conversation, Deadline deadline, Ticks grace = Ticks{0});
  Task<Result<Reply>> send(const Command& command, Bytes data, std::uint8_t unit,
                           Deadline deadline);
  Task<Result<void>> ensure_session(Deadline deadline);
  Task<Result<void>> ensure_privilege(const Command& command, Deadline deadline);
  Task<Result<void>> raise_privilege(Deadline deadline);
  Task<Result<void>> log_in(Deadline deadline);
  Task<Result<void>> log_in_with(Suite suite, const std::string& password, Deadline deadline);
  Result<std::vector<Suite>> suites() const;
  void remember(const Suite& suite);
  bool has_spoken_17();

  Transport& transport_;
  std::string node_;
  inventory::IpmiAccess access_;
  std::string user_;
  SecretSource password_;
  BmcLimits& bmc_limits_;  // lives as long as the transport
  Semaphore one_at_a_time_{1};
  std::optional<Address> address_{};
  std::optional<Session> session_{};
  Privilege granted_ = Privilege::admin;  // that the session may be raised to
  Privilege level_ = Privilege::user;     // that it has
  std::uint8_t sequence_ = 0;
  Deadline::Clock::time_point used_{};
  int sessions_ = 0;
  int requests_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace cupel::bmc::ipmi
