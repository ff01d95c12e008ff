#include "bmc/ipmi/exchange.h"

namespace cupel::bmc::ipmi {

Exchange::Exchange(Session* session, const Command& command, std::uint8_t sequence, View data,
                   std::uint8_t unit)
    : session_{session},
      command_{command},
      sequence_{sequence},
      message_{request_message(command, sequence, data, unit)} {}

Action Exchange::start() {
  const auto next = patience_.next();
  const auto wait = command_.once ? Patience::kOnce : next;
  auto datagram =
      session_ != nullptr ? session_->seal(PayloadType::ipmi, message_) : plain_message(message_);
  return Send{std::move(datagram), wait};
}

Action Exchange::on_timeout() {
  if (outcome_) return Done{};
  if (command_.once) {
    outcome_ = Error{Code::kTimeout,
                     "no answer to its datagram, which is not repeated: it may have been done"};
    return Done{};
  }
  if (!patience_.exhausted()) return start();
  outcome_ = Error{Code::kTimeout,
                   "no answer to any of " + std::to_string(Patience::kTries) + " datagrams"};
  return Done{};
}

Action Exchange::on_datagram(View datagram) {
  Bytes opened;
  View message;
  if (session_ != nullptr) {
    auto payload = session_->open(datagram);
    if (!payload || payload->type != PayloadType::ipmi) return Wait{};
    opened = std::move(payload->payload);
    message = opened;
  } else {
    const auto plain = parse_plain_message(datagram);
    if (!plain) return Wait{};
    message = *plain;
  }
  auto reply = parse_reply(message, command_, sequence_);
  if (!reply) return Wait{};
  outcome_ = std::move(reply);
  return Done{};
}

Result<Reply> Exchange::outcome() {
  if (!outcome_) return Error{Code::kCancelled, "stopped"};
  return std::move(*outcome_);
}

}  // namespace cupel::bmc::ipmi
