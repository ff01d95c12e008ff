#pragma once
// A program that a test starts, listens to and stops by its process id. Everything that it prints
// is kept; whoever waits is woken by what it prints or by its end, never by a clock.
#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cupel::testing {

struct Ran {
  int status = -1;  // exit status, 128 + signal, or -1 where it did not end in time
  std::string out{};
  std::string err{};
};

class Child {
 public:
  /// argv[0] is looked up in PATH. `environment`: "NAME=value", added to ours. `file_limit`: bytes
  /// that it may write into one file, 0 for no limit; a full disk to the program.
  explicit Child(std::vector<std::string> argv, std::vector<std::string> environment = {},
                 std::size_t file_limit = 0);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;

  bool has_ended() const;

  /// True once its standard output or error holds `text`.
  bool wait_for(const std::string& text, std::chrono::seconds patience = std::chrono::seconds{60});

  /// Waits for its end; kills it where that does not come.
  Ran wait(std::chrono::seconds patience = std::chrono::seconds{120});

 private:
  void read_all(int from, std::string& into);

  pid_t pid_ = -1;
  int pidfd_ = -1;
  bool reaped_ = false;
  std::mutex mutex_;
  std::condition_variable heard_;
  std::string out_, err_;
  int open_ = 2;
  std::vector<std::jthread> readers_;
};

/// Runs it to its end.
Ran run(std::vector<std::string> argv, std::vector<std::string> environment = {},
        std::chrono::seconds patience = std::chrono::seconds{120});

}  // namespace cupel::testing
