#include "orchestrator/cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cupel::cli {

std::size_t terminal_width() {
  winsize size{};
  const bool reported =
      ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return reported ? size.ws_col : 0;
}

RawTerminal::RawTerminal(int fd)
    : fd_{fd},
      in_flags_{::fcntl(STDIN_FILENO, F_GETFL)},
      out_flags_{::fcntl(STDOUT_FILENO, F_GETFL)} {
  terminal_ = ::isatty(fd) == 1 && ::tcgetattr(fd, &before_) == 0;
  if (!terminal_) return;
  termios raw = before_;
  ::cfmakeraw(&raw);
  ::tcsetattr(fd, TCSADRAIN, &raw);
}

RawTerminal::~RawTerminal() {
  if (terminal_) ::tcsetattr(fd_, TCSADRAIN, &before_);
  if (in_flags_ >= 0) ::fcntl(STDIN_FILENO, F_SETFL, in_flags_);
  if (out_flags_ >= 0) ::fcntl(STDOUT_FILENO, F_SETFL, out_flags_);
}

}  // namespace cupel::cli
