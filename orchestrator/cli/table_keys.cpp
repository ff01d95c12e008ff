#include "orchestrator/cli/table_keys.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace cupel::cli {
namespace {

/// As terminals send them; letters as in less(1).
constexpr auto kKeys = std::to_array<std::pair<std::string_view, TableKey>>({
    {"\x1b[A", TableKey::up},       {"\x1bOA", TableKey::up},      {"k", TableKey::up},
    {"\x1b[B", TableKey::down},     {"\x1bOB", TableKey::down},    {"j", TableKey::down},
    {"\x1b[5~", TableKey::page_up}, {"b", TableKey::page_up},      {"\x1b[6~", TableKey::page_down},
    {" ", TableKey::page_down},     {"\x1b[H", TableKey::top},     {"\x1bOH", TableKey::top},
    {"\x1b[1~", TableKey::top},     {"g", TableKey::top},          {"\x1b[F", TableKey::bottom},
    {"\x1bOF", TableKey::bottom},   {"\x1b[4~", TableKey::bottom}, {"G", TableKey::bottom},
    {"s", TableKey::sort},          {"q", TableKey::help},         {"h", TableKey::help},
    {"?", TableKey::help},
});

/// Bytes of the escape sequence at the beginning; 0: it has not ended yet. ECMA-48, 5.4: "ESC [",
/// then 0x20 to 0x3F, and one of 0x40 to 0x7E ends it. "ESC O" has one byte behind it.
std::size_t sequence_size(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] == 'O') return text.size() < 3 ? 0 : 3;
  if (text[1] != '[') return 1;
  for (std::size_t i = 2; i < text.size(); ++i)
    if (text[i] < 0x20 || text[i] > 0x3F) return i + 1;
  return 0;
}

/// The terminal's modes before this program changed them.
std::optional<termios>& modes_before() {
  static std::optional<termios> before;
  return before;
}

bool in_foreground(int terminal) { return ::tcgetpgrp(terminal) == ::getpgrp(); }

/// A description of its own: asio makes it non-blocking, and standard output shares the flags of
/// standard input.
int open_terminal() {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) return -1;
  return ::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
}

}  // namespace

std::vector<TableKey> take_keys(std::string& typed) {
  constexpr std::size_t kLongest = 16;  // bytes of a sequence: no terminal sends a longer one
  std::vector<TableKey> keys;
  std::string_view left = typed;
  while (!left.empty()) {
    const auto size = left.front() == '\x1b' ? sequence_size(left) : 1;
    if (size == 0 && left.size() < kLongest) break;
    const auto word = left.substr(0, std::max<std::size_t>(size, 1));
    for (const auto& [sent, key] : kKeys)
      if (sent == word) keys.push_back(key);
    left.remove_prefix(word.size());
  }
  typed = std::string{left};
  return keys;
}

TableKeys::TableKeys(const boost::asio::any_io_executor& executor, Heard heard)
    : terminal_{executor}, heard_{std::make_shared<Heard>(std::move(heard))} {
  const int terminal = open_terminal();
  if (terminal < 0) return;
  boost::system::error_code refused;
  terminal_.assign(terminal, refused);
  if (refused) ::close(terminal);
}

TableKeys::~TableKeys() { give_terminal_back(); }

bool TableKeys::hold() {
  if (!terminal_.is_open()) return false;
  const int terminal = terminal_.native_handle();
  termios now{};
  if (!in_foreground(terminal) || ::tcgetattr(terminal, &now) != 0) return false;
  if ((now.c_lflag & ICANON) != 0) {
    modes_before() = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    if (::tcsetattr(terminal, TCSANOW, &now) != 0) return false;
  }
  if (!waits_) wait();
  return true;
}

void TableKeys::wait() {
  waits_ = true;
  terminal_.async_wait(
      boost::asio::posix::stream_descriptor::wait_read,
      [this, alive = std::weak_ptr{heard_}](const boost::system::error_code& error) {
        if (alive.expired()) return;
        waits_ = false;
        if (!error) take();
      });
}

/// In the background, and at a terminal that is gone, nothing is waited for again: the next hold()
/// tries.
void TableKeys::take() {
  std::array<char, 256> bytes{};
  if (!in_foreground(terminal_.native_handle())) return;
  const auto size = ::read(terminal_.native_handle(), bytes.data(), bytes.size());
  if (size <= 0) return;
  typed_.append(bytes.data(), static_cast<std::size_t>(size));
  for (const auto key : take_keys(typed_)) (*heard_)(key);
  hold();
}

void give_terminal_back() {
  const auto before = std::exchange(modes_before(), std::nullopt);
  if (before && in_foreground(STDIN_FILENO)) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before);
}

}  // namespace cupel::cli
