#pragma once
// One TCP connection between two cupel-nodes: a line of text either way, then bulk data in one
// direction. Every call has a deadline; nothing here waits for longer.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "burnin/agent/common/descriptor.h"

namespace cupel::agent::tcp {

using Clock = std::chrono::steady_clock;

/// The sender stops at whichever comes first.
struct Bounds {
  std::chrono::duration<double> time{};
  std::uint64_t bytes = 0;
};

/// What a sender knows of its data, by the kernel's TCP_INFO.
struct Sent {
  std::uint64_t bytes = 0;
  std::uint64_t segments = 0;  // with data, retransmitted ones included
  std::uint64_t retransmits = 0;
  double rtt = 0;  // microseconds, the smallest that was seen
};

struct Received {
  std::uint64_t bytes = 0;
  double seconds = 0;  // from the first byte to the end
};

class Stream {
 public:
  explicit Stream(Descriptor socket) : socket_{std::move(socket)} {}

  /// Errors: kUnreachable, kTimeout.
  Result<void> write_line(std::string_view line, Clock::time_point until);
  /// Without its end. Errors: kUnreachable, kTimeout; kMalformed for one longer than 128 bytes.
  Result<std::string> read_line(Clock::time_point until);

  /// Sends zeros, then closes this direction and waits until the other side has confirmed the end.
  /// Errors: kUnreachable, kTimeout.
  Result<Sent> send(const Bounds& bounds);
  /// Reads to the end, and confirms it. Errors: kUnreachable, kTimeout; kMalformed where more comes
  /// than the bounds allow.
  Result<Received> receive(const Bounds& bounds);

 private:
  Result<void> wait(short events, Clock::time_point until);

  Descriptor socket_;
};

/// To the first of the host's addresses that accepts. Errors: kUnreachable, kTimeout.
Result<Stream> connect_to(const std::string& host, std::uint16_t port, Clock::time_point until);

}  // namespace cupel::agent::tcp
