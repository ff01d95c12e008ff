#pragma once
// A real OpenSSH server on 127.x addresses, with keys and configuration of its own in a folder of
// its own. Stopped by its process id.
#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "inventory/model.h"

namespace cupel::testing {

class Sshd {
 public:
  static bool installed();

  /// Starts it on these addresses and one free port, and returns when it listens on all of them.
  /// Throws std::runtime_error with what it said where it does not.
  explicit Sshd(std::vector<std::string> addresses = {"127.0.0.1"});
  ~Sshd();
  Sshd(const Sshd&) = delete;
  Sshd& operator=(const Sshd&) = delete;

  /// How to get in: as the current user, with a key that it accepts.
  inventory::SshAccess access(const std::string& address = "127.0.0.1") const;

  /// A key that it does not accept.
  std::string strange_key() const { return file("strange"); }
  /// In its folder. What lies in "path" is found first by commands on the node.
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::uint16_t port() const { return port_; }
  pid_t pid() const { return pid_; }

  /// Kills the server and every connection of it, as a crash of the node would.
  void crash();

  /// Starts again with the same keys, on another port.
  void restart();

 private:
  void start();

  std::filesystem::path folder_;
  std::vector<std::string> addresses_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
  std::jthread drain_;
};

/// Process ids of all children, zombies too.
std::vector<pid_t> children_of(pid_t parent);

/// Process ids of all living (not zombie) processes with `text` in their command line.
std::vector<pid_t> processes_with(const std::string& text);

/// Process ids of all living processes that a detached job started, whatever they call themselves.
std::vector<pid_t> processes_of_job(const std::string& folder);

}  // namespace cupel::testing
