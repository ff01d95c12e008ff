#pragma once
// The built `cupel`, as a script would start it.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/process.h"

extern char** environ;

namespace cupel::e2e {

/// Runs it to its end; a test that hangs fails after a minute.
inline ProcessOutcome run_cupel(std::vector<std::string> words, std::string input = {}) {
  words.insert(words.begin(), CUPEL_BINARY);
  asio::io_context io{1};
  auto work = run_process({.argv = std::move(words), .input = std::move(input)},
                          Deadline::in(std::chrono::minutes{1}));
  auto ran = run_to_end(io, std::move(work));
  if (!ran) throw std::runtime_error{ran.error().what};
  return std::move(ran).value();
}

/// One that goes on while the test does something else. Ended with the test at the latest.
class RunningCupel {
 public:
  explicit RunningCupel(std::vector<std::string> words) {
    words.insert(words.begin(), CUPEL_BINARY);
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error{"pipe"};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    const int failure = ::posix_spawn(&pid_, CUPEL_BINARY, &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    out_ = ends[0];
    if (failure != 0) throw std::runtime_error{"cannot start " CUPEL_BINARY};
  }
  ~RunningCupel() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_);
  }
  RunningCupel(const RunningCupel&) = delete;
  RunningCupel& operator=(const RunningCupel&) = delete;

  /// Reads its standard output until `word` was in it, or it ended.
  bool says(std::string_view word) {
    char piece[4096];
    while (output_.find(word) == output_.npos) {
      const auto got = ::read(out_, piece, sizeof piece);
      if (got <= 0) return false;
      output_.append(piece, static_cast<std::size_t>(got));
    }
    return true;
  }
  /// Reads so much of its standard output, and forgets it. False where it ended before.
  bool says_bytes(std::size_t bytes) {
    std::vector<char> piece(1u << 20);
    while (bytes > 0) {
      const auto got = ::read(out_, piece.data(), std::min(bytes, piece.size()));
      if (got <= 0) return false;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }
  /// The most memory that it had so far (man 5 proc, VmHWM), in bytes; 0 where it has ended.
  std::size_t peak_memory() const {
    std::ifstream status{"/proc/" + std::to_string(pid_) + "/status"};
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) * 1024;
    return 0;
  }
  void signal(int number) const { ::kill(pid_, number); }
  /// Its exit status, 128 + signal where one ended it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  std::string output_;
};

}  // namespace cupel::e2e
