#include "burnin/agent/node/boot/tool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace cupel::agent::boot {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Descriptor reading{};
  Descriptor writing{};
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  return {Descriptor{ends[0]}, Descriptor{ends[1]}};
}

/// -1 with errno set. Every signal is the program's own again.
pid_t spawn(const Argv& argv, int in, int out, int err) {
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  if (in < 0)
    ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  else
    ::posix_spawn_file_actions_adddup2(&files, in, 0);
  ::posix_spawn_file_actions_adddup2(&files, out, 1);
  ::posix_spawn_file_actions_adddup2(&files, err, 2);
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int why = ::posix_spawnp(&pid, words[0], &files, &attributes, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  errno = why;
  return why == 0 ? pid : -1;
}

int end_of(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// False at its end.
bool take(const Descriptor& from, std::string& into) {
  char buffer[16384];
  const auto got = ::read(from.number(), buffer, sizeof buffer);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  const auto room = kMostOutput - std::min(kMostOutput, into.size());
  into.append(buffer, std::min(static_cast<std::size_t>(got), room));
  return got > 0;
}

bool give(const Descriptor& to, std::string_view& input) {
  const auto sent = ::write(to.number(), input.data(), input.size());
  if (sent < 0) return errno == EINTR || errno == EAGAIN;
  input.remove_prefix(static_cast<std::size_t>(sent));
  return !input.empty();
}

/// Feeds and reads until both outputs have ended. False at the limit.
bool attend(Pipe& in, Pipe& out, Pipe& err, std::string_view input, Finished& finished,
            Clock::time_point limit) {
  if (in.writing) ::fcntl(in.writing.number(), F_SETFL, O_NONBLOCK);
  if (input.empty()) in.writing.close();
  while (out.reading || err.reading) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 3> all{pollfd{out.reading ? out.reading.number() : -1, POLLIN, 0},
                              pollfd{err.reading ? err.reading.number() : -1, POLLIN, 0},
                              pollfd{in.writing ? in.writing.number() : -1, POLLOUT, 0}};
    ::poll(all.data(), all.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (all[0].revents != 0 && !take(out.reading, finished.out)) out.reading.close();
    if (all[1].revents != 0 && !take(err.reading, finished.err)) err.reading.close();
    if (all[2].revents != 0 && !give(in.writing, input)) in.writing.close();
  }
  return true;
}

}  // namespace

Finished run_tool(const Argv& argv, std::string_view input, std::chrono::seconds limit) {
  auto in = make_pipe(), out = make_pipe(), err = make_pipe();
  Finished finished;
  if (!in.reading || !out.reading || !err.reading) {
    finished.err = std::string{"pipe: "} + std::strerror(errno);
    return finished;
  }
  const auto pid = spawn(argv, in.reading.number(), out.writing.number(), err.writing.number());
  if (pid < 0) return {errno == ENOENT ? 127 : 126, "", std::strerror(errno)};
  in.reading.close();
  out.writing.close();
  err.writing.close();
  const bool ended = attend(in, out, err, input, finished, Clock::now() + limit);
  if (!ended) ::kill(pid, SIGKILL);
  finished.status = end_of(pid);
  if (!ended) {
    finished.status = 124;
    finished.err += "ended after " + std::to_string(limit.count()) + " s without a result";
  }
  return finished;
}

std::string failure_text(const Argv& argv, const Finished& finished) {
  if (finished.status == 127) return argv.front() + ": the RAM system has no such program";
  const auto& stream = trimmed(finished.err).empty() ? finished.out : finished.err;
  // What curl adds to whatever is wrong with a certificate is longer than what is kept here.
  constexpr std::string_view kAddedByCurl = "\nMore details here:";
  const auto all = trimmed(stream);
  auto words = all.substr(0, all.find(kAddedByCurl));
  if (words.size() > 300) words = words.substr(words.size() - 300);
  return argv.front() + ": exit status " + std::to_string(finished.status) + ": " +
         printable(words);
}

Outcome<RunningTool> RunningTool::start(const Argv& argv, Input input) {
  RunningTool tool;
  auto in = input == Input::kPipe ? make_pipe() : Pipe{};
  auto out = make_pipe();
  tool.errors_ = Descriptor{::memfd_create("errors", MFD_CLOEXEC)};
  if (!out.reading || !tool.errors_ || (input == Input::kPipe && !in.reading))
    return Failure{Cause::kOutOfMemory, argv.front() + ": pipe: " + std::strerror(errno)};
  // A large image passes here: a full pipe holds as much as a step of the writer.
  ::fcntl(out.reading.number(), F_SETPIPE_SZ, 1 << 20);
  if (in.reading) ::fcntl(in.reading.number(), F_SETPIPE_SZ, 1 << 20);
  tool.pid_ = spawn(argv, in.reading ? in.reading.number() : -1, out.writing.number(),
                    tool.errors_.number());
  if (tool.pid_ < 0)
    return Failure{errno == ENOMEM ? Cause::kOutOfMemory : Cause::kFailed,
                   argv.front() + ": " + std::strerror(errno)};
  tool.in = std::move(in.writing);
  tool.out = std::move(out.reading);
  return tool;
}

RunningTool::RunningTool(RunningTool&& other) noexcept
    : in{std::move(other.in)},
      out{std::move(other.out)},
      pid_{std::exchange(other.pid_, -1)},
      errors_{std::move(other.errors_)} {}

RunningTool::~RunningTool() {
  if (pid_ < 0) return;
  kill();
  finish();
}

void RunningTool::kill() const {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

Finished RunningTool::finish() {
  in.close();
  out.close();
  Finished finished;
  finished.status = end_of(std::exchange(pid_, -1));
  char words[4096];
  const auto got = ::pread(errors_.number(), words, sizeof words, 0);
  if (got > 0) finished.err.assign(words, static_cast<std::size_t>(got));
  return finished;
}

}  // namespace cupel::agent::boot
