#pragma once
// The boot server as a client of its ticket sees it: small files and reports, and the image with
// resume. By curl, so that no TLS is ours.
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>

#include "burnin/agent/node/boot/tool.h"
#include "burnin/agent/node/boot/write_image.h"

namespace cupel::agent::boot {

/// Waits before the next attempt.
using Pause = std::function<void(std::chrono::milliseconds)>;
void pause_for(std::chrono::milliseconds time);

struct Reply {
  int status = 0;  // HTTP's
  std::string body{};
};

class BootServer {
 public:
  struct Settings {
    std::string url{};  // of the ticket, with its last slash
    std::string ca_file = "/etc/cupel/ca.pem";
    /// How long it may be away: a controller that is restarted, a switch that comes up.
    std::chrono::seconds patience{600};
    /// The same of a mirror: the boot server has what it lacks.
    std::chrono::seconds mirror_patience{30};
    RunTool run = run_tool;
    Pause pause = pause_for;
    std::function<std::time_t()> clock = [] { return std::time(nullptr); };  // of this machine
  };

  explicit BootServer(Settings settings) : settings_{std::move(settings)} {}

  /// Tried again while there is no answer, or one of 408, 429 or 5xx; any other is returned.
  /// Errors: kServer, kClock.
  Outcome<Reply> get(std::string_view name) const;
  Outcome<Reply> post(std::string_view name, std::string_view json) const;
  /// Once, and without a word of it: for what the next report says again.
  void mention(std::string_view name, std::string_view json) const;

  /// The bytes of `file` in order. Where the connection breaks, the rest is asked for by its range,
  /// for as long as bytes come at least once within the patience. Ends at `size`.
  /// Errors: kServer, kCut.
  ImageSource image(std::string_view file, std::uint64_t size) const;
  /// The same of another server. Its bytes are no more trusted than any others.
  ImageSource mirrored(const std::string& url, std::uint64_t size) const;

 private:
  ImageSource stream(const std::string& url, std::uint64_t size,
                     std::chrono::seconds patience) const;
  Outcome<Reply> ask(const Argv& more, std::string_view name, std::string_view body) const;
  Outcome<Reply> once(const Argv& argv, std::string_view body) const;

  Settings settings_;
};

}  // namespace cupel::agent::boot
