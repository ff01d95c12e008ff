#include "bmc/ipmi/ping.h"

#include "bmc/ipmi/commands.h"

namespace cupel::bmc::ipmi {
namespace {

constexpr Ticks kAnswerWithin{700};
constexpr int kMostDatagrams = 4;
constexpr std::uint8_t kExtended = 0x80;  // with the data that IPMI 2.0 added

}  // namespace

Action Presences::start() { return on_timeout(); }

// A lost ping is as likely as a BMC that does not answer pings: the two questions take turns.
Action Presences::on_timeout() {
  if (sent_ == kMostDatagrams) {
    over_ = true;
    return Done{};
  }
  if (sent_ % 2 == 0 && !presence_.pong) {
    ++sent_;
    return Send{presence_ping(tag_), kAnswerWithin};
  }
  return ask_more();
}

Action Presences::ask_more() {
  ++sent_;
  const Bytes data{kThisChannel | kExtended, static_cast<std::uint8_t>(Privilege::admin)};
  return Send{plain_message(request_message(kGetAuthenticationCapabilities, tag_ & 63, data)),
              kAnswerWithin};
}

Action Presences::on_datagram(View datagram) {
  if (over_) return Wait{};
  const auto pong = parse_pong(datagram);
  if (pong) {
    if (pong->tag != tag_ || presence_.pong) return Wait{};
    presence_.pong = true;
    presence_.ipmi = pong->ipmi;
    sent_ = std::min(sent_, kMostDatagrams - 1);
    return ask_more();
  }
  const auto message = parse_plain_message(datagram);
  if (!message) return Wait{};
  const auto reply = parse_reply(*message, kGetAuthenticationCapabilities, tag_ & 63);
  if (!reply) return Wait{};
  over_ = true;
  presence_.ipmi = true;
  Reader reader{reply->data};
  reader.u8();
  const bool extended = (reader.u8() & kExtended) != 0;
  reader.u8();
  const auto versions = reader.u8();
  presence_.rmcp_plus = extended && (versions & 2) != 0;
  presence_.enterprise = reader.u24();
  return Done{};
}

Result<Presence> Presences::outcome() const {
  if (!presence_.pong && !presence_.ipmi)
    return Error{Code::kTimeout, "no answer to presence pings"};
  return presence_;
}

Task<Result<Presence>> ping(Transport& transport, inventory::Endpoint endpoint, Deadline deadline) {
  auto found = co_await transport.resolve(endpoint, deadline);
  CO_TRY(const Address address, within(to_string(endpoint), std::move(found)));
  // 255 would mean that no answer is requested (ASF 2.0, 3.2.2.3).
  Presences presences{static_cast<std::uint8_t>(transport.fresh_session() % 255)};
  auto done = co_await transport.perform(address, presences, deadline);
  CO_TRY(within(to_string(endpoint), std::move(done)));
  co_return within(to_string(endpoint), presences.outcome());
}

}  // namespace cupel::bmc::ipmi
