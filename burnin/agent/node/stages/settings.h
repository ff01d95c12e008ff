#pragma once
// What a stage changes on a node, and where it keeps what was before: values of the kernel, files
// that are replaced whole, a copy of this program. A node does it to real files
// (node/node_settings.h), a virtual rack to its machine's disk. GPUs and services are changed by
// their tools, through Programs.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel::agent {

class Settings {
 public:
  static constexpr std::size_t kMost = 16u << 20;  // bytes of a file that is read or replaced

  Settings() = default;
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  virtual ~Settings() = default;

  /// Why another user of the node could have changed what lies there, or in its place; empty where
  /// none could. What is not there is safe where what lies above it is.
  virtual std::string unsafe(const std::string& path) const = 0;
  /// With all that lies above it; others may read in it (0755). Errors: kFailed.
  virtual Result<void> make_folder(const std::string& path) = 0;
  /// Follows no link. Errors: kNotFound where there is no such file; kFailed.
  virtual Result<std::string> read(const std::string& path) const = 0;
  /// Another file in its place, whole, and on the disk when this returns: a crash leaves the one or
  /// the other. Errors: kFailed.
  virtual Result<void> replace(const std::string& path, std::string_view text) = 0;
  /// Also what an interrupted replace() has left. One that is not there is as good.
  virtual void remove(const std::string& path) = 0;
  /// A copy of the program that runs now, for its own user alone (0700). Errors: kFailed.
  virtual Result<void> keep_program(const std::string& path) = 0;
  /// A line for a file of /proc or /sys that is there, by one write(2). Errors: kFailed, in the
  /// kernel's words.
  virtual Result<void> set(const std::string& path, std::string_view value) = 0;
  /// Seconds since 1970, by the node's clock, which may be set.
  virtual std::int64_t now() const = 0;
};

/// Of a node on which nothing is changed: refuses everything.
Settings& no_settings();

}  // namespace cupel::agent
