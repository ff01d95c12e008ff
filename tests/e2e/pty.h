#pragma once
// A program at a terminal, as a person has it: what it shows, what is typed, and how the terminal
// is left behind.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cupel::testing {

class AtTerminal {
 public:
  explicit AtTerminal(std::vector<std::string> words) {
    if (::openpty(&ours_, &theirs_, nullptr, nullptr, nullptr) != 0)
      throw std::runtime_error{"no terminal"};
    // Whoever else held our end would keep the terminal from being hung up.
    for (const int fd : {ours_, theirs_}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::login_tty(theirs_);
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
    if (pid_ < 0) throw std::runtime_error{"fork"};
  }
  ~AtTerminal() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    if (ours_ >= 0) hang_up();
  }
  AtTerminal(const AtTerminal&) = delete;
  AtTerminal& operator=(const AtTerminal&) = delete;

  /// Whether it shows that within the patience, after what was waited for before.
  bool shows(const std::string& text,
             std::chrono::milliseconds patience = std::chrono::minutes{1}) {
    const auto until = std::chrono::steady_clock::now() + patience;
    for (;;) {
      const auto at = shown_.find(text, seen_);
      if (at != shown_.npos) {
        seen_ = at + text.size();
        return true;
      }
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      pollfd waiting{ours_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0)
        return false;
      char piece[4096];
      const auto size = ::read(ours_, piece, sizeof piece);
      if (size <= 0) return false;
      shown_.append(piece, static_cast<std::size_t>(size));
    }
  }
  void type(const std::string& keys) const {
    if (::write(ours_, keys.data(), keys.size()) < 0) throw std::runtime_error{"cannot type"};
  }
  /// As a window that is closed, or an ssh session that breaks off: the terminal is gone.
  void hang_up() {
    ::close(std::exchange(ours_, -1));
    ::close(std::exchange(theirs_, -1));
  }
  void resize(unsigned short rows, unsigned short columns) const {
    const winsize size{rows, columns, 0, 0};
    ::ioctl(ours_, TIOCSWINSZ, &size);
  }
  void signal(int number) const { ::kill(pid_, number); }
  /// Its exit status, 128 + signal where one ended it.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  /// Lines are edited and echoed, and Ctrl-C is a signal: as a shell wants to find it.
  bool is_usual() const {
    termios now{};
    constexpr tcflag_t kUsual = ICANON | ECHO | ISIG;
    return ::tcgetattr(theirs_, &now) == 0 && (now.c_lflag & kUsual) == kUsual;
  }
  const std::string& shown() const { return shown_; }

 private:
  pid_t pid_ = -1;
  int ours_ = -1, theirs_ = -1;
  std::string shown_{};
  std::size_t seen_ = 0;
};

}  // namespace cupel::testing
