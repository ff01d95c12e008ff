#pragma once
// An IPMI message as LAN carries it: a command with its data, and the reply that belongs to it.
#include <string>

#include "base/result.h"
#include "bmc/ipmi/bytes.h"

namespace cupel::bmc::ipmi {

/// IPMI 2.0, 6.8.
enum class Privilege : std::uint8_t { user = 2, operate = 3, admin = 4 };

/// A command by the name that the standard gives it, and the least privilege that it asks for
/// (appendix G).
struct Command {
  std::uint8_t function;  // NetFn of the request: even
  std::uint8_t code;
  const char* name;
  Privilege least = Privilege::user;
  /// Done twice it does more than once: sent in one datagram, since not every BMC recognizes a
  /// repeated rqSeq. Whether it began where no answer comes, its caller sees by the state.
  bool once = false;
};

/// What came back for a command; `data` follows the completion code.
struct Reply {
  std::uint8_t completion = 0;
  Bytes data{};
};

/// The message of a request. `sequence` is rqSeq, 0 to 63; `unit` the responder's LUN.
/// Source: IPMI 2.0, 13.8.
Bytes request_message(const Command& command, std::uint8_t sequence, View data,
                      std::uint8_t unit = 0);

/// Whether `message` answers this command with this sequence number, and what it says.
/// Errors: kMalformed for anything else: foreign, late, damaged.
Result<Reply> parse_reply(View message, const Command& command, std::uint8_t sequence);

/// A completion code other than 0 as an Error: "Get Device ID: node busy (0xc0)". What the code
/// means to one command alone is that command's. Source: IPMI 2.0, table 5-2.
Error error_of(const Command& command, std::uint8_t completion);

}  // namespace cupel::bmc::ipmi
