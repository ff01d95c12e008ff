#pragma once
// How an RMCP+ session is set up: Open Session, RAKP 1 to 4. A conversation: no socket, no clock.
#include <optional>
#include <string>

#include "base/result.h"
#include "bmc/ipmi/conversation.h"
#include "bmc/ipmi/message.h"
#include "bmc/ipmi/session.h"

namespace cupel::bmc::ipmi {

/// Who logs in, and with what of chance.
struct Login {
  Suite suite;
  std::string user;      // at most 16 bytes
  std::string password;  // at most 20 bytes
  Privilege privilege = Privilege::admin;
  std::uint32_t session = 0;  // our id for it: not 0, and never used before
  Block random{};             // of ours
  std::uint8_t tag = 0;       // of the first message
};

/// Source: IPMI 2.0, 13.17 to 13.24, 13.28, 13.31, 13.32.
class Handshake final : public Conversation {
 public:
  explicit Handshake(Login login);
  ~Handshake() override;
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;

  Action start() override;
  Action on_datagram(View datagram) override;
  Action on_timeout() override;

  /// Once it is Done. Errors: kTimeout; kRefused (the user, the password, or its rights: see
  /// refused_role()); kUnsupported (this suite); kBusy (no session left); kUnreachable (it went
  /// wrong on the way, and may be begun again).
  Result<Session> outcome();

  /// It was refused because of the privilege alone: a lower one may be granted.
  bool refused_role() const { return refused_role_; }

  /// What ended it did not name our session, as some BMCs' refusals do not: it rests on a tag of
  /// eight bits, which anybody may guess. To be begun anew, and accepted if it comes again.
  bool unproven() const { return unproven_; }

  /// It stuck in the middle: a BMC answers what it has answered once not always again. To be begun
  /// anew, with another session.
  bool stuck() const { return stuck_; }

  /// To be sent once, so that the BMC forgets the session at once; empty where there is no need.
  const Bytes& parting() const { return parting_; }

 private:
  enum class Step : std::uint8_t { open, rakp1, rakp3, over };

  Action ask(Step step);
  Action again();
  Action give_up();
  Action fail(Error error);
  Action refuse(std::uint8_t status, bool names_session);
  Bytes question() const;
  Bytes open_request() const;
  Bytes rakp1() const;
  Bytes rakp3(std::uint8_t status, View code) const;
  bool is_anothers(std::uint8_t status, std::uint32_t session) const;
  Action on_open_response(View payload);
  Action on_rakp2(View payload);
  Action on_rakp4(View payload);
  std::uint8_t role() const;
  std::uint8_t tag() const;

  Login login_;
  Step step_ = Step::open;
  Patience patience_{};
  bool resent_rakp1_ = false;
  bool refused_role_ = false;
  bool stuck_ = false;
  bool unproven_ = false;
  std::uint32_t theirs_ = 0;  // the BMC's id for the session
  Bytes their_random_{}, their_guid_{};
  Bytes key_{};  // session integrity key
  Bytes proof_{};
  Bytes parting_{};
  std::optional<Result<Session>> outcome_{};
};

}  // namespace cupel::bmc::ipmi
