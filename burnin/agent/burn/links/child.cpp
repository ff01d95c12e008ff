#include "burnin/agent/burn/links/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

namespace cupel::burn {
namespace {

constexpr std::size_t kLongestLine = 64 << 10;

constexpr std::chrono::seconds kMayEnd{30};      // once it has printed its last line
constexpr std::chrono::seconds kMayBeKilled{5};  // a process that waits for a dead driver does not

using Clock = std::chrono::steady_clock;

/// In the child, after fork: nothing but what signal-safety(7) allows.
[[noreturn]] void become(char* const* words, char* const* environment, int in, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::execve(words[0], words, environment);
  ::_exit(127);
}

/// Gives whole lines; what is left stays in `held`.
void give_lines(std::string& held, const std::function<void(std::string_view)>& takes) {
  std::size_t from = 0;
  for (auto feed = held.find('\n'); feed != held.npos; feed = held.find('\n', from)) {
    takes(std::string_view{held}.substr(from, feed + 1 - from));
    from = feed + 1;
  }
  held.erase(0, from);
  if (held.size() > kLongestLine) held.clear();
}

enum class Heard { kEnd, kSilence, kStays };

Heard read_all(int in, pid_t pid, const Child& child) {
  std::string held;
  bool reported = false;
  auto last = Clock::now();
  std::optional<Clock::time_point> ended;
  std::array<char, 16384> room{};
  for (;;) {
    pollfd ready{in, POLLIN, 0};
    const int polled = ::poll(&ready, 1, 1000);
    if (!reported && child.is_asked_to_end && child.is_asked_to_end()) {
      reported = true;
      ::kill(pid, SIGTERM);
    }
    if (!ended && child.has_ended && child.has_ended()) ended = Clock::now();
    if (ended && Clock::now() - *ended > kMayEnd) return Heard::kStays;
    if (polled <= 0) {
      if (child.silence.count() > 0 && Clock::now() - last > child.silence) return Heard::kSilence;
      continue;
    }
    const auto count = ::read(in, room.data(), room.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Heard::kEnd;
    last = Clock::now();
    held.append(room.data(), static_cast<std::size_t>(count));
    give_lines(held, child.takes);
  }
}

int status_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Of one that was killed; nothing where it does not end.
std::optional<int> wait_shortly(pid_t pid) {
  const auto until = Clock::now() + kMayBeKilled;
  for (int status = 0; Clock::now() < until; ::poll(nullptr, 0, 50))
    if (::waitpid(pid, &status, WNOHANG) == pid) return status_of(status);
  return std::nullopt;
}

/// The parent's variables, but for those that `own` has.
std::vector<char*> environment_with(const std::vector<std::string>& own) {
  std::vector<char*> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view name{*each, std::strcspn(*each, "=")};
    const bool is_own = std::ranges::any_of(own, [&](const std::string& variable) {
      return variable.size() > name.size() && variable.starts_with(name) &&
             variable[name.size()] == '=';
    });
    if (!is_own) all.push_back(*each);
  }
  for (const auto& variable : own) all.push_back(const_cast<char*>(variable.c_str()));
  all.push_back(nullptr);
  return all;
}

Failure refused(std::string_view call, int why) {
  return {.code = "refused", .message = std::string{call} + ": " + std::strerror(why)};
}

/// A pipe's two ends, closed with their scope.
class Pipe {
 public:
  ~Pipe() { close_all(); }
  bool open() { return ::pipe2(ends_.data(), O_CLOEXEC) == 0; }
  int out() const { return ends_[0]; }
  int in() const { return ends_[1]; }
  void close_in() { close_one(ends_[1]); }
  void close_all() {
    close_one(ends_[0]);
    close_one(ends_[1]);
  }

 private:
  static void close_one(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace

Outcome<ChildEnd> run_child(const Child& child) {
  Pipe output;
  Pipe input;
  if (!output.open() || !input.open()) return refused("pipe", errno);
  if (!agent::write_all(input.in(), child.input)) return refused("write", errno);  // it holds it
  std::vector<char*> argv;
  for (const auto& word : child.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto envp = environment_with(child.environment);
  const auto pid = ::fork();
  if (pid == 0) become(argv.data(), envp.data(), input.out(), output.in());
  const int why = errno;
  output.close_in();
  input.close_all();
  if (pid < 0) return refused("fork", why);
  const auto heard = read_all(output.out(), pid, child);
  if (heard != Heard::kEnd) {
    ::kill(pid, SIGKILL);
    const auto status = wait_shortly(pid);
    return ChildEnd{
        .status = status.value_or(0), .was_silent = heard == Heard::kSilence, .is_left = !status};
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return ChildEnd{.status = status_of(status)};
}

Outcome<int> run_child(const std::vector<std::string>& words,
                       const std::function<void(std::string_view)>& takes,
                       const std::function<bool()>& is_asked_to_end) {
  TRY(const auto ended,
      run_child({.words = words, .takes = takes, .is_asked_to_end = is_asked_to_end}));
  return ended.status;
}

Outcome<std::string> read_input() {
  std::string text;
  std::array<char, 16384> room{};
  for (;;) {
    const auto count = ::read(STDIN_FILENO, room.data(), room.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(room.data(), static_cast<std::size_t>(count));
    if (text.size() > kLongestLine)
      return Failure{.code = "usage", .message = "the standard input is longer than 64 KiB"};
  }
}

Outcome<> judge_end(std::string_view what, int status, bool has_ended, bool is_asked_to_end,
                    std::string_view code) {
  if (has_ended && (status <= 2 || status == 4)) return done();
  if (is_asked_to_end && status == 128 + SIGTERM) return done();
  return Failure{.code = std::string{code},
                 .message = "the process for " + std::string{what} + " ended with status " +
                            std::to_string(status) +
                            " and no last line (128 and more: by a signal); see dmesg"};
}

std::string_view member_of(std::string_view line, std::string_view name) {
  const auto mark = "\"" + std::string{name} + "\":";
  const auto at = line.find(mark);
  if (at == line.npos) return {};
  line.remove_prefix(at + mark.size());
  if (!line.starts_with('"')) return line.substr(0, line.find_first_of(",}\n"));
  line.remove_prefix(1);
  std::size_t end = 0;
  while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
  return line.substr(0, end);
}

void Relay::take(std::string_view line) {
  if (!line.starts_with("{\"kind\":\"") || !line.ends_with("}\n")) return;
  const auto kind = member_of(line, "kind");
  if (kind == "start") return;
  if (kind == "progress") return doing_(member_of(line, "doing"));
  if (kind == "end") {
    has_ended_ = true;
    is_complete_ = member_of(line, "complete") == "true";
    std::uint64_t faults = 0;
    const auto text = member_of(line, "faults");
    std::from_chars(text.data(), text.data() + text.size(), faults);
    return report_.relay({}, faults > faults_ ? faults - faults_ : 0, false);
  }
  doing_({});
  if (kind == "hang") {
    has_hung_ = true;
    report_.relayed_hang();
  }
  // Counted as they come: a process that is killed prints no end.
  std::uint64_t faults = 0;
  if (kind == "fault") {
    faults = 1;
    const auto text = member_of(line, "count");
    std::from_chars(text.data(), text.data() + text.size(), faults);
  }
  faults_ += faults;
  report_.relay(line.substr(0, line.size() - 1), faults, kind == "error");
}

}  // namespace cupel::burn
