#include "base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace cupel {
namespace {

using Stream = asio::posix::stream_descriptor;

/// A child that leads a process group of its own. The group is killed and the child reaped when the
/// owner goes, whatever path that is.
struct Child {
  pid_t pid = -1;
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid <= 0) return;
    kill();
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  void kill() const { ::kill(-pid, SIGKILL); }
  /// Only after the pidfd said that it has ended: does not block.
  int reap() {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    pid = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
};

struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return ::pipe2(ends, O_CLOEXEC) == 0; }
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int fd : ends)
      if (fd >= 0) ::close(fd);
  }
  int take(int which) { return std::exchange(ends[which], -1); }
};

Task<Result<void>> feed(Stream& pipe, const std::string& input, bool stays_open) {
  // A program that does not read its input is no failure: what counts is what it does.
  const auto bytes = asio::buffer(input);
  co_await asio::async_write(pipe, bytes, asio::as_tuple(asio::use_awaitable));
  if (!stays_open) pipe.close();
  co_return ok();
}

using OnPiece = std::function<void(std::string_view)>;

/// A child that says too much is killed: its other pipes would stay open, and be waited for.
/// `on_piece`, where there is one, gets all of it, and nothing is kept.
Task<Result<void>> drain(Stream& pipe, std::string& into, std::size_t limit, const Child& child,
                         const OnPiece& on_piece) {
  std::array<char, 16384> chunk{};
  for (;;) {
    const auto room = asio::buffer(chunk);
    const auto [failure, got] =
        co_await pipe.async_read_some(room, asio::as_tuple(asio::use_awaitable));
    if (failure == asio::error::operation_aborted)
      co_return Error{Code::kCancelled, "stopped while reading"};
    if (failure) co_return ok();
    if (on_piece) {
      on_piece({chunk.data(), got});
      continue;
    }
    if (into.size() + got > limit) {
      child.kill();
      co_return Error{Code::kMalformed, "printed more than " + std::to_string(limit) + " bytes"};
    }
    into.append(chunk.data(), got);
  }
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> found;
  found.reserve(words.size() + 1);
  for (auto& word : words) found.push_back(word.data());
  found.push_back(nullptr);
  return found;
}

Result<pid_t> spawn(ProcessRequest& request, Pipe& in, Pipe& out, Pipe& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], 2);
  auto argv = pointers(request.argv);
  auto environment = pointers(request.environment);
  environment.pop_back();
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  environment.push_back(nullptr);
  pid_t pid = -1;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int failure =
      ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    return Error{Code::kNotFound,
                 "cannot start " + request.argv[0] + ": " + std::strerror(failure)};
  return pid;
}

Task<Result<ProcessOutcome>> run_to_exit(ProcessRequest request) {
  Pipe in;
  Pipe out;
  Pipe err;
  if (!in.open() || !out.open() || !err.open())
    co_return Error{Code::kUnreachable, std::string{"pipe: "} + std::strerror(errno)};
  Child child;
  CO_TRY(child.pid, spawn(request, in, out, err));
  const auto executor = co_await asio::this_coro::executor;
  Stream to_child{executor, in.take(1)};
  Stream from_child{executor, out.take(0)};
  Stream errors{executor, err.take(0)};
  ::close(in.take(0));
  ::close(out.take(1));
  ::close(err.take(1));

  ProcessOutcome outcome;
  std::optional<Result<void>> fed;
  std::optional<Result<void>> read;
  std::optional<Result<void>> read_errors;
  const OnPiece kept;
  auto all = asio::experimental::make_parallel_group(
      asio::co_spawn(executor,
                     detail::run_into(fed, feed(to_child, request.input, request.input_stays_open)),
                     asio::deferred),
      asio::co_spawn(executor,
                     detail::run_into(read, drain(from_child, outcome.output, request.output_limit,
                                                  child, kept)),
                     asio::deferred),
      asio::co_spawn(
          executor,
          detail::run_into(read_errors, drain(errors, outcome.error, request.output_limit, child,
                                              request.on_error)),
          asio::deferred));
  co_await all.async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
  for (auto* part : {&*read, &*read_errors})
    if (!*part) co_return std::move(*part).error().within(request.argv[0]);

  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0));
  if (descriptor < 0)
    co_return Error{Code::kUnreachable, std::string{"pidfd_open: "} + std::strerror(errno)};
  Stream ended{executor, descriptor};
  const auto [failure] =
      co_await ended.async_wait(Stream::wait_read, asio::as_tuple(asio::use_awaitable));
  if (failure) co_return Error{Code::kCancelled, request.argv[0] + ": stopped"};
  outcome.exit_status = child.reap();
  co_return outcome;
}

}  // namespace

Task<Result<ProcessOutcome>> run_process(ProcessRequest request, Deadline deadline) {
  assert(!request.argv.empty());
  const std::string name = request.argv[0];
  auto outcome = co_await with_deadline(deadline, run_to_exit(std::move(request)));
  if (!outcome && outcome.error().code == Code::kTimeout)
    co_return std::move(outcome).error().within(name);
  co_return outcome;
}

}  // namespace cupel
