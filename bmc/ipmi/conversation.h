#pragma once
// A conversation over datagrams that may be lost: what to send, how long to wait, when it is over.
// No socket and no clock: a driver performs the Action and reports what happened.
#include <algorithm>
#include <chrono>
#include <variant>

#include "bmc/ipmi/bytes.h"

namespace cupel::bmc::ipmi {

using Ticks = std::chrono::milliseconds;

/// Nothing to do: keep on waiting as before.
struct Wait {};
struct Send {
  Bytes datagram;
  Ticks answer_within;
};
/// The outcome is with the conversation.
struct Done {};
using Action = std::variant<Wait, Send, Done>;

class Conversation {
 public:
  virtual ~Conversation() = default;
  virtual Action start() = 0;
  /// Wait where it is not for this conversation.
  virtual Action on_datagram(View datagram) = 0;
  virtual Action on_timeout() = 0;
};

/// How often one thing is sent, and how long each time is waited for an answer: longer each time,
/// because a busy BMC is not helped by more. Source: IPMI 2.0, 6.12.15 leaves the figures open.
class Patience {
 public:
  static constexpr int kTries = 5;
  static constexpr Ticks kFirst{1000}, kLongest{5000};
  static constexpr Ticks kOnce{13'000};  // of what is sent once: as long as all tries take

  bool exhausted() const { return tries_ == kTries; }
  int tries() const { return tries_; }
  /// One more is sent.
  Ticks next() {
    ++tries_;
    const auto now = wait_;
    wait_ = std::min(wait_ * 3 / 2, kLongest);
    return now;
  }

 private:
  int tries_ = 0;
  Ticks wait_ = kFirst;
};

}  // namespace cupel::bmc::ipmi
