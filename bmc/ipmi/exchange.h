#pragma once
// One command within a session, or one without any: sent until its own reply comes. Conversations.
#include <optional>

#include "base/result.h"
#include "bmc/ipmi/conversation.h"
#include "bmc/ipmi/message.h"
#include "bmc/ipmi/session.h"

namespace cupel::bmc::ipmi {

/// A repeated request keeps its rqSeq, so that the BMC can know it again (IPMI 2.0, 6.12.2), and
/// gets a session sequence number of its own. A command that is sent once (Command::once) is not
/// repeated.
class Exchange final : public Conversation {
 public:
  /// Without a session where `session` is nullptr, in the envelope of IPMI 1.5.
  Exchange(Session* session, const Command& command, std::uint8_t sequence, View data,
           std::uint8_t unit = 0);

  Action start() override;
  Action on_datagram(View datagram) override;
  Action on_timeout() override;

  /// Once it is Done. Errors: kTimeout; then the BMC may have done what it was asked.
  Result<Reply> outcome();

 private:
  Session* session_;
  const Command& command_;
  std::uint8_t sequence_;
  Bytes message_;
  Patience patience_{};
  std::optional<Result<Reply>> outcome_{};
};

}  // namespace cupel::bmc::ipmi
