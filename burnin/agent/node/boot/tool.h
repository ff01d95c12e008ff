#pragma once
// Programs of the RAM system as children: an argv each, never a shell. What they write is bounded.
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/node/boot/failure.h"

namespace cupel::agent::boot {

using Argv = std::vector<std::string>;

struct Finished {
  int status = -1;  // exit status, 128 + signal; 127: there is no such program
  std::string out{};
  std::string err{};
};

inline constexpr std::size_t kMostOutput = 512 * 1024;  // of each stream; the rest is dropped
inline constexpr std::chrono::seconds kToolLimit{120};

/// Runs it to its end with `input` on its standard input; kills it at the limit (status 124).
Finished run_tool(const Argv& argv, std::string_view input = {},
                  std::chrono::seconds limit = kToolLimit);

/// How steps run tools: run_tool in life, a table of answers in tests.
using RunTool =
    std::function<Finished(const Argv& argv, std::string_view input, std::chrono::seconds limit)>;

/// "sfdisk: exit status 1: <its last words>"
std::string failure_text(const Argv& argv, const Finished& finished);

/// A child that streams. Ended, and waited for, when this goes.
class RunningTool {
 public:
  enum class Input { kNone, kPipe };
  /// Its standard error goes into a file without a name, its end into the Finished. Errors:
  /// kOutOfMemory, kFailed.
  static Outcome<RunningTool> start(const Argv& argv, Input input);
  RunningTool(RunningTool&& other) noexcept;
  RunningTool& operator=(RunningTool&&) = delete;
  ~RunningTool();

  Descriptor in{};
  Descriptor out{};
  /// Closes both pipes and waits for the end, which then comes by itself.
  Finished finish();
  void kill() const;

 private:
  RunningTool() = default;
  pid_t pid_ = -1;
  Descriptor errors_{};
};

}  // namespace cupel::agent::boot
