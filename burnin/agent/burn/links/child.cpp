#include "burnin/agent/burn/links/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace cupel::burn {
namespace {

constexpr std::size_t kLongestLine = 64 << 10;

/// In the child, after fork: nothing but what signal-safety(7) allows.
[[noreturn]] void become(char* const* words, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(out, STDOUT_FILENO);
  ::execv(words[0], words);
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

void read_all(int in, pid_t child, const std::function<void(std::string_view)>& takes,
              const std::function<bool()>& is_asked_to_end) {
  std::string held;
  bool told = false;
  std::array<char, 16384> room{};
  for (;;) {
    pollfd ready{in, POLLIN, 0};
    const int polled = ::poll(&ready, 1, 1000);
    if (!told && is_asked_to_end()) {
      told = true;
      ::kill(child, SIGTERM);
    }
    if (polled <= 0) continue;
    const auto count = ::read(in, room.data(), room.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    held.append(room.data(), static_cast<std::size_t>(count));
    give_lines(held, takes);
  }
}

}  // namespace

Outcome<int> run_child(const std::vector<std::string>& words,
                       const std::function<void(std::string_view)>& takes,
                       const std::function<bool()>& is_asked_to_end) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Failure{.code = "refused", .message = std::string{"pipe: "} + std::strerror(errno)};
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto child = ::fork();
  if (child == 0) become(argv.data(), ends[1]);
  const int why = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return Failure{.code = "refused", .message = std::string{"fork: "} + std::strerror(why)};
  }
  read_all(ends[0], child, takes, is_asked_to_end);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Outcome<> judge_end(std::string_view what, int status, bool has_ended, bool is_asked_to_end) {
  if (has_ended && (status <= 2 || status == 4)) return done();
  if (is_asked_to_end && status == 128 + SIGTERM) return done();
  return Failure{.code = "nccl",
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
    return report_.relay({}, faults, false);
  }
  doing_({});
  report_.relay(line.substr(0, line.size() - 1), 0, kind == "error");
}

}  // namespace cupel::burn
