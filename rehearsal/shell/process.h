#pragma once
// One process of a virtual node: a coroutine with a number, a group, open files and signals. It
// never runs anything on the host.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rehearsal/clock.h"
#include "rehearsal/shell/open_file.h"

namespace cupel::rehearsal {

class Host;

class Process : public std::enable_shared_from_this<Process> {
 public:
  Process(Host& host, asio::any_io_executor executor, int number);

  Host& host;
  const int number;
  int parent = 0;
  int group = 0;
  int session = 0;
  std::string command{};
  std::string folder = "/root";
  unsigned mask = 022;
  std::map<std::string, std::string> environment{};
  std::map<int, OpenFilePtr> files{};
  std::set<int> ignored{};     // signals
  std::set<int> caught{};      // signals with a trap
  std::vector<int> pending{};  // caught, and not yet handled
  std::function<void(int status)> on_exit{};

  bool ended() const { return exit_status_.has_value(); }
  int exit_status() const { return exit_status_.value_or(0); }
  /// The signal that ends it, or 0.
  int fatal() const { return fatal_; }
  /// By a signal that ends it, or by one that is caught and need not wait.
  bool interrupted() const { return fatal_ != 0 || (!pending.empty() && !traps_wait_); }

  void signal(int number);
  /// Somebody changed something that this process waits for: it looks again.
  void wake() { timer_.cancel(); }
  /// Until somebody calls wake().
  Task<void> block();
  /// Until somebody calls wake(), or about that point of the rack's time: whoever needs it exactly
  /// looks again.
  Task<void> block_until(VirtualTime when);
  /// By the node's clock. False if a signal came first.
  Task<bool> sleep(VirtualTime span);
  /// Lets everybody else on the loop have a turn.
  Task<void> yield();

  Task<int> write(int descriptor, std::string_view bytes);
  Task<int> read(int descriptor, std::string& into, std::size_t limit);
  /// Until the end of the file; EFBIG with over `most` bytes. A trap runs when the command is over
  /// (POSIX.1-2017, Shell 2.11): a signal that is caught waits in `pending` and ends no reading.
  Task<int> read_all(OpenFile& file, std::string& into, std::size_t most = kMostRead);
  Task<int> read_all(int descriptor, std::string& into);
  Task<void> say(std::string_view bytes) { co_await write(1, bytes); }
  Task<void> print_error(std::string_view bytes) { co_await write(2, bytes); }

  double now() const;
  std::string path(std::string_view relative) const {
    return FileSystem::absolute(folder, relative);
  }
  FileSystem& disk() const;

 private:
  static constexpr std::size_t kMostRead = 64u << 20;
  friend class Host;
  std::optional<int> exit_status_{};
  int fatal_ = 0;
  bool traps_wait_ = false;
  asio::steady_timer timer_;
};
using ProcessPtr = std::shared_ptr<Process>;

/// 15 for "TERM", "SIGTERM" and "15"; nothing for what is no signal.
std::optional<int> signal_number(std::string_view name);
std::string signal_name(int number);

}  // namespace cupel::rehearsal
