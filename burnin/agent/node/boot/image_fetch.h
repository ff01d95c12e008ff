#pragma once
// One file of a boot server as a stream that survives the connection, and the server.
#include <optional>

#include "burnin/agent/node/boot/boot_server.h"

namespace cupel::agent::boot {

class ImageFetch {
 public:
  /// `argv`: curl with all that it needs, the URL last.
  ImageFetch(Argv argv, std::uint64_t size, std::chrono::seconds patience, Pause pause);

  /// As ImageSource. Errors: kServer, kCut.
  Outcome<std::size_t> read(std::span<char> into);

 private:
  using Clock = std::chrono::steady_clock;

  Outcome<void> connect();
  Outcome<void> disconnected();

  Argv argv_;
  std::uint64_t size_;
  std::chrono::seconds patience_;
  Pause pause_;
  std::uint64_t received_ = 0;
  std::optional<RunningTool> curl_{};
  Clock::time_point last_ = Clock::now();  // when something came
  int failures_ = 0;                       // since then
};

/// 1, 2, 4, 8, then 15 seconds.
std::chrono::milliseconds back_off(int failures);

}  // namespace cupel::agent::boot
