#include "bmc/ipmi/message.h"

#include <algorithm>
#include <array>

namespace cupel::bmc::ipmi {
namespace {

constexpr std::uint8_t kBmc = 0x20;      // IPMB address of the BMC
constexpr std::uint8_t kConsole = 0x81;  // software ID of a remote console

struct Meaning {
  std::uint8_t completion;
  Code code;
  const char* words;
};

constexpr std::array kMeanings{
    Meaning{0xc0, Code::kBusy, "node busy"},
    Meaning{0xc1, Code::kUnsupported, "invalid command: this BMC does not have it"},
    Meaning{0xc2, Code::kUnsupported, "command invalid for this LUN"},
    Meaning{0xc3, Code::kBusy, "timeout while the BMC processed it"},
    Meaning{0xc4, Code::kBusy, "out of space"},
    Meaning{0xc5, Code::kConflict, "reservation cancelled or invalid"},
    Meaning{0xc6, Code::kFailed, "request data truncated"},
    Meaning{0xc7, Code::kUnsupported, "request data length invalid"},
    Meaning{0xc8, Code::kUnsupported, "request data field length limit exceeded"},
    Meaning{0xc9, Code::kUnsupported, "parameter out of range"},
    Meaning{0xca, Code::kUnsupported, "cannot return that many bytes"},
    Meaning{0xcb, Code::kNotFound, "requested sensor, data or record not present"},
    Meaning{0xcc, Code::kUnsupported, "invalid data field in request"},
    Meaning{0xcd, Code::kUnsupported, "command illegal for this sensor or record type"},
    Meaning{0xce, Code::kBusy, "no response could be provided"},
    Meaning{0xcf, Code::kBusy, "duplicated request"},
    Meaning{0xd0, Code::kBusy, "SDR repository is being updated"},
    Meaning{0xd1, Code::kBusy, "BMC firmware is being updated"},
    Meaning{0xd2, Code::kBusy, "BMC is initialising"},
    Meaning{0xd3, Code::kUnreachable, "destination unavailable"},
    Meaning{0xd4, Code::kRefused,
            "insufficient privilege: give this user administrator rights on the LAN channel"},
    Meaning{0xd5, Code::kConflict, "not supported in the present state"},
    Meaning{0xd6, Code::kUnsupported, "sub-function disabled or unavailable"},
    Meaning{0xff, Code::kFailed, "unspecified error"},
};

}  // namespace

Bytes request_message(const Command& command, std::uint8_t sequence, View data, std::uint8_t unit) {
  Bytes bytes;
  bytes.reserve(data.size() + 7);
  bytes.push_back(kBmc);
  bytes.push_back(static_cast<std::uint8_t>(command.function << 2 | (unit & 3)));
  bytes.push_back(checksum(bytes));
  bytes.push_back(kConsole);
  bytes.push_back(static_cast<std::uint8_t>((sequence & 63) << 2));
  bytes.push_back(command.code);
  put(bytes, data);
  bytes.push_back(checksum(View{bytes}.subspan(3)));
  return bytes;
}

Result<Reply> parse_reply(View message, const Command& command, std::uint8_t sequence) {
  if (message.size() < 8) return Error{Code::kMalformed, "a message cut short"};
  if (checksum(message.first(3)) != 0 || checksum(message.subspan(3)) != 0)
    return Error{Code::kMalformed, "a message with a wrong checksum"};
  const bool ours = message[1] >> 2 == (command.function | 1) && message[5] == command.code &&
                    message[4] >> 2 == (sequence & 63);
  if (!ours) return Error{Code::kMalformed, "the reply to another request"};
  const auto data = message.subspan(7, message.size() - 8);
  return Reply{message[6], Bytes{data.begin(), data.end()}};
}

Error error_of(const Command& command, std::uint8_t completion) {
  const auto found = std::ranges::find(kMeanings, completion, &Meaning::completion);
  const auto number = " (" + hex(completion, 2) + ")";
  if (found != kMeanings.end())
    return Error{found->code, std::string{command.name} + ": " + found->words + number};
  return Error{Code::kFailed, std::string{command.name} +
                                  ": completion code of its own or of the vendor's" + number};
}

}  // namespace cupel::bmc::ipmi
