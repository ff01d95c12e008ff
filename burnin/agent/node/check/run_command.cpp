#include "burnin/agent/node/check/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/common/json_line.h"

namespace cupel::agent {
namespace {

using Point = std::chrono::steady_clock::time_point;
constexpr std::size_t kMostApart = 1u << 20;
constexpr int kNoProgram = 127;

struct Pipe {
  Descriptor read{}, write{};
};

Result<Pipe> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Error{Code::kFailed, std::string{"pipe: "} + std::strerror(errno)};
  return Pipe{Descriptor{ends[0]}, Descriptor{ends[1]}};
}

int milliseconds_to(Point deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 600'000));
}

/// Until its end, `most` bytes, or the deadline. False at the deadline.
bool read_to_end(int from, std::size_t most, Point deadline, std::string& into) {
  std::array<char, 4096> piece{};
  while (into.size() < most) {
    pollfd waits{from, POLLIN, 0};
    const int ready = ::poll(&waits, 1, milliseconds_to(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const auto count = ::read(from, piece.data(), std::min(piece.size(), most - into.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    into.append(piece.data(), static_cast<std::size_t>(count));
  }
  return true;
}

/// Its exit status; nothing where it does not end by then. A killed one ends soon, unless it is
/// inside of a driver: that one is left to init.
std::optional<int> reap(pid_t child, Point deadline) {
  int status = 0;
  while (true) {
    const auto done = ::waitpid(child, &status, WNOHANG);
    if (done == child) return status;
    if (done < 0 && errno != EINTR) return std::nullopt;
    const int left = milliseconds_to(deadline);
    if (left == 0) return std::nullopt;
    ::poll(nullptr, 0, std::min(left, 5));
  }
}

void kill_and_reap(pid_t child) {
  ::kill(child, SIGKILL);
  reap(child, std::chrono::steady_clock::now() + std::chrono::milliseconds{200});
}

[[noreturn]] void become(const std::vector<std::string>& words, int out) {
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::execvp(argv.front(), argv.data());
  ::_exit(kNoProgram);
}

Error took_too_long(std::string_view what) {
  return Error{Code::kTimeout, std::string{what} + ": no answer in time"};
}

}  // namespace

Result<std::string> run_command(const std::vector<std::string>& words, Point deadline) {
  TRY(auto pipe, open_pipe());
  const pid_t child = ::fork();
  if (child < 0) return Error{Code::kFailed, std::string{"fork: "} + std::strerror(errno)};
  if (child == 0) become(words, pipe.write.number());
  pipe.write.close();
  std::string output;
  const bool ended = read_to_end(pipe.read.number(), kMostCommandOutput, deadline, output);
  const auto status = ended ? reap(child, deadline) : std::nullopt;
  if (!status) {
    kill_and_reap(child);
    return took_too_long(words.front());
  }
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == kNoProgram)
    return Error{Code::kNotFound, words.front() + ": there is no such program here"};
  if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0)
    return Error{Code::kFailed, words.front() + ": " + shortened(printable(trimmed(output)), 200)};
  return output;
}

Result<std::string> run_apart(std::string (*read)(const void*), const void* with, Point deadline) {
  TRY(auto pipe, open_pipe());
  const pid_t child = ::fork();
  if (child < 0) return Error{Code::kFailed, std::string{"fork: "} + std::strerror(errno)};
  if (child == 0) {
    const bool written = write_all(pipe.write.number(), read(with));
    ::_exit(written ? 0 : 1);
  }
  pipe.write.close();
  std::string output;
  const bool ended = read_to_end(pipe.read.number(), kMostApart, deadline, output);
  const auto status = ended ? reap(child, deadline) : std::nullopt;
  if (!status) {
    kill_and_reap(child);
    return took_too_long("reading the node");
  }
  if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0)
    return Error{Code::kFailed, "reading the node: the process that read it died"};
  return output;
}

}  // namespace cupel::agent
