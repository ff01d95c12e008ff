// Any bytes as a datagram: to the parsers, to a handshake at each of its steps, to a session, to a
// console.
#include "bmc/ipmi/commands.h"
#include "bmc/ipmi/exchange.h"
#include "bmc/ipmi/handshake.h"
#include "bmc/ipmi/identity.h"
#include "bmc/ipmi/ping.h"
#include "bmc/ipmi/sol.h"

namespace cupel::bmc::ipmi {
namespace {

/// A BMC's answers are in the clear until there is a session: whoever sends them chooses all bytes.
void shake_hands(View datagram) {
  Handshake handshake{{.suite = kSuite3, .user = "admin", .password = "x", .session = 1}};
  handshake.start();
  handshake.on_datagram(datagram);
  // On to RAKP 2 with a sound answer, and the same bytes again.
  Bytes payload{0, 0, 4, 0, 1, 0, 0, 0, 2, 0, 0, 0};
  for (std::uint8_t kind = 0; kind < 3; ++kind) put(payload, Bytes{kind, 0, 0, 8, 1, 0, 0, 0});
  handshake.on_datagram(without_session(PayloadType::open_session_response, payload));
  handshake.on_datagram(datagram);
  handshake.on_timeout();
  handshake.on_datagram(datagram);
  (void)handshake.outcome();
}

/// What a BMC that knows the key could send.
void open_sealed(View bytes) {
  const Bytes key(20, 1);
  Session console{kSuite3, 1, 2, key}, bmc{kSuite3, 2, 1, key};
  Exchange exchange{&console, kGetDeviceId, 0, {}};
  exchange.start();
  exchange.on_datagram(bytes);
  exchange.on_datagram(bmc.seal(PayloadType::ipmi, bytes));
  (void)exchange.outcome();
  const auto opened = console.open(bmc.seal(PayloadType::sol, bytes));
  if (!opened || opened->payload.size() != bytes.size()) __builtin_trap();
}

void run_console_session(View bytes) {
  SolStream stream{10};
  stream.send("hello");
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = std::min<std::size_t>(bytes[at] + 1u, bytes.size() - at);
    stream.hear(bytes.subspan(at, length));
    if (stream.delivered() && *stream.delivered() > 10) __builtin_trap();
    if (stream.delivered()) stream.send("again");
    at += length;
  }
}

}  // namespace
}  // namespace cupel::bmc::ipmi

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel::bmc::ipmi;
  if (size > kLargestDatagram / 2) return 0;
  const View bytes{data, size};
  (void)parse_packet(bytes);
  (void)parse_plain_message(bytes);
  (void)parse_pong(bytes);
  (void)parse_device_id(bytes);
  Presences presences{size > 9 ? data[9] : std::uint8_t{0}};
  presences.start();
  presences.on_datagram(bytes);
  shake_hands(bytes);
  open_sealed(bytes);
  run_console_session(bytes);
  return 0;
}
