#pragma once
// A program on a terminal of its own, for tools that want one: what it shows is kept, and what is
// typed goes to it. Ended by its process id.
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

namespace cupel::testing {

class Terminal {
 public:
  Terminal(std::vector<std::string> argv, const std::vector<std::string>& environment) {
    std::vector<char*> pointers;
    for (auto& each : argv) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    pid_ = ::forkpty(&fd_, nullptr, nullptr, nullptr);
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const auto& each : environment) ::putenv(const_cast<char*>(each.c_str()));
    ::execvp(pointers[0], pointers.data());
    ::_exit(127);
  }
  ~Terminal() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(fd_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys) const {
    [[maybe_unused]] const auto count = ::write(fd_, keys.data(), keys.size());
  }

  /// True once it has shown `text` since the last time it was waited for.
  bool wait_for(const std::string& text, std::chrono::seconds patience = std::chrono::minutes{1}) {
    const auto until = std::chrono::steady_clock::now() + patience;
    for (;;) {
      const auto found = shown_.find(text, seen_);
      if (found != std::string::npos) {
        seen_ = found + text.size();
        return true;
      }
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      pollfd waiting{fd_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0)
        return false;
      char piece[4096];
      const auto count = ::read(fd_, piece, sizeof piece);
      if (count <= 0) return false;
      shown_.append(piece, static_cast<std::size_t>(count));
    }
  }
  const std::string& shown() const { return shown_; }

 private:
  int fd_ = -1;
  pid_t pid_ = -1;
  std::string shown_{};
  std::size_t seen_ = 0;
};

}  // namespace cupel::testing
