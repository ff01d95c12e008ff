#pragma once
// A terminal in raw mode, for as long as somebody is at a console. Given back as it was on every
// way out of the block, and by the loop's signal handling on every signal that can be handled.
#include <termios.h>

#include <cstddef>

namespace cupel::cli {

/// Columns of the terminal behind standard output; 0 where there is none.
std::size_t terminal_width();

class RawTerminal {
 public:
  /// Raw where `fd` is a terminal; else this does nothing but to keep the descriptors' flags.
  explicit RawTerminal(int fd);
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal();

  bool is_terminal() const { return terminal_; }

 private:
  int fd_;
  bool terminal_ = false;
  termios before_{};
  int in_flags_ = 0;  // O_NONBLOCK is shared with the shell that started us
  int out_flags_ = 0;
};

}  // namespace cupel::cli
