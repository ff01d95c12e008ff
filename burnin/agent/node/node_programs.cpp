#include "burnin/agent/node/node_programs.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/node/job/process_tree.h"

namespace cupel::agent {
namespace {

using Moment = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

constexpr milliseconds kKillPatience{10'000};  // then the kernel holds it: a driver that hangs
constexpr int kLongestPoll = 60'000;           // milliseconds
constexpr int kKilledAtLimit = 124, kNoProgram = 127, kCannotRun = 126;

struct PipePair {
  Descriptor reading{};
  Descriptor writing{};
};

PipePair make_pipe_pair() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {Descriptor{ends[0]}, Descriptor{ends[1]}};
}

/// The three streams of a child, our ends.
struct Streams {
  PipePair in = make_pipe_pair(), out = make_pipe_pair(), err = make_pipe_pair();

  bool made() const { return in.reading && out.reading && err.reading; }
  void keep_ours() {
    in.reading.close();
    out.writing.close();
    err.writing.close();
    for (const auto* each : {&in.writing, &out.reading, &err.reading})
      ::fcntl(each->number(), F_SETFL, O_NONBLOCK);
  }
};

/// Ours, with those of the command in place of what has their names.
std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view word{*each};
    const bool replaced = std::ranges::any_of(
        command.environment, [&](const auto& pair) { return word.starts_with(pair.first + "="); });
    if (!replaced) all.emplace_back(word);
  }
  for (const auto& [name, value] : command.environment) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// -1 with errno set. Every signal is the program's own again.
pid_t spawn_child(const Command& command, const Streams& streams) {
  auto words = command.argv, environment = environment_of(command);
  const auto argv = pointers_to(words), variables = pointers_to(environment);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&files, streams.in.reading.number(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, streams.out.writing.number(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, streams.err.writing.number(), STDERR_FILENO);
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int why = ::posix_spawnp(&pid, argv[0], &files, &attributes, argv.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  errno = why;
  return why == 0 ? pid : -1;
}

using CpuSet = std::array<cpu_set_t, 8>;  // 8192 CPUs: the most that Linux is built for

std::vector<int> own_cpus() {
  CpuSet set{};
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, set.data()) != 0) return cpus;
  for (std::size_t i = 0; i < set.size() * CPU_SETSIZE; ++i)
    if (CPU_ISSET_S(i, sizeof set, set.data())) cpus.push_back(static_cast<int>(i));
  return cpus;
}

bool set_own_cpus(const std::vector<int>& cpus) {
  CpuSet set{};
  for (const int each : cpus) CPU_SET_S(static_cast<std::size_t>(each), sizeof set, set.data());
  return ::sched_setaffinity(0, sizeof set, set.data()) == 0;
}

/// A child begins with the CPUs of its parent: while this lives, ours are those of the command.
/// Read back, since a control group may give others.
class OnCpus {
 public:
  explicit OnCpus(const std::vector<int>& cpus) {
    if (cpus.empty()) return;
    before_ = own_cpus();
    if (!set_own_cpus(cpus)) refused_ = errno;
    given_ = own_cpus();
  }
  OnCpus(const OnCpus&) = delete;
  OnCpus& operator=(const OnCpus&) = delete;
  ~OnCpus() {
    if (!before_.empty()) set_own_cpus(before_);
  }

  const std::vector<int>& given() const { return given_; }
  std::string refused() const { return refused_ == 0 ? std::string{} : std::strerror(refused_); }

 private:
  std::vector<int> before_{}, given_{};
  int refused_ = 0;
};

/// -1 with the reason in `ran`.
pid_t start_child(const Command& command, const Streams& streams, Ran& ran) {
  const OnCpus on{command.cpus};
  ran.cpus = on.given();
  if (ran.cpus != command.cpus) {
    ran.status = kCannotRun;
    ran.err = on.refused();
    return -1;
  }
  const auto pid = spawn_child(command, streams);
  if (pid >= 0) return pid;
  ran.status = errno == ENOENT ? kNoProgram : kCannotRun;
  ran.err = std::strerror(errno);
  return pid;
}

/// Reads what is there now. Closes the descriptor at its end.
void take(Descriptor& from, std::size_t most, std::string& into, bool& cut) {
  std::array<char, 16384> piece{};
  while (from) {
    const auto got = ::read(from.number(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return from.close();
    const auto room = most - std::min(most, into.size());
    const auto kept = std::min(static_cast<std::size_t>(got), room);
    into.append(piece.data(), kept);
    cut = cut || kept < static_cast<std::size_t>(got);
  }
}

void take_all(Streams& streams, const Command& command, Ran& ran) {
  take(streams.out.reading, command.most, ran.out, ran.cut);
  take(streams.err.reading, command.most, ran.err, ran.cut);
  if (command.shorten) command.shorten(ran.out);
}

/// Writes what the pipe takes now. Closes the descriptor when all is written, or nobody reads.
void give(Descriptor& to, std::string_view& input) {
  while (to && !input.empty()) {
    const auto sent = ::write(to.number(), input.data(), input.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) break;
    input.remove_prefix(static_cast<std::size_t>(sent));
  }
  to.close();
}

/// Feeds and reads until the child itself has ended: what it left behind may keep the streams open
/// for ever. False at the limit.
bool attend(Streams& streams, int child, const Command& command, Ran& ran, Moment limit) {
  std::string_view input{command.input};
  while (true) {
    take_all(streams, command, ran);
    give(streams.in.writing, input);
    const auto left =
        std::chrono::ceil<milliseconds>(limit - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    const auto watched = [](const Descriptor& one, short events) {
      return pollfd{one ? one.number() : -1, events, 0};
    };
    std::array<pollfd, 4> all{pollfd{child, POLLIN, 0}, watched(streams.out.reading, POLLIN),
                              watched(streams.err.reading, POLLIN),
                              watched(streams.in.writing, POLLOUT)};
    ::poll(all.data(), all.size(), static_cast<int>(std::min<std::int64_t>(left, kLongestPoll)));
    if (all[0].revents != 0) return true;
  }
}

Ran not_run(int status, int why) { return {.status = status, .err = std::strerror(why)}; }

Ran run_to_end(const Command& command) {
  Streams streams;
  if (command.argv.empty() || !streams.made()) return not_run(kCannotRun, errno);
  Ran ran;
  Watched watched{.pid = start_child(command, streams, ran)};
  if (watched.pid < 0) return ran;
  streams.keep_ours();
  const auto limit = std::chrono::steady_clock::now() + command.limit;
  // Of Linux 5.3: every distribution with glibc 2.34 has it.
  const Descriptor child{static_cast<int>(::syscall(SYS_pidfd_open, watched.pid, 0))};
  if (!child) {
    ran.status = kCannotRun;
    ran.err = std::strerror(errno);
    kill_descendants(watched, {}, kKillPatience);
    return ran;
  }
  ran.late = !attend(streams, child.number(), command, ran, limit);
  if (!ran.late) reap(watched);
  kill_descendants(watched, {}, kKillPatience);
  take_all(streams, command, ran);
  ran.status = ran.late ? kKilledAtLimit : watched.status.value_or(ran.status);
  return ran;
}

void put_variable(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1);  // before any thread
}

}  // namespace

NodePrograms::NodePrograms() {
  const char* path = std::getenv("PATH");
  put_variable("PATH", "/opt/cupel/bin:" + std::string{path == nullptr ? "/usr/bin:/bin" : path} +
                           ":/usr/local/bin:/usr/sbin:/sbin");
  put_variable("LC_ALL", "C");
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::string NodePrograms::folder_of(const std::string& name) const {
  const char* path = std::getenv("PATH");
  for (auto folder : split(path == nullptr ? "" : path, ':')) {
    while (folder.ends_with('/')) folder.remove_suffix(1);
    const auto file = std::string{folder} + "/" + name;
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return std::string{folder};
  }
  return {};
}

bool NodePrograms::begin(const Command& command, Wait<Ran>& wait) {
  wait.answer(run_to_end(command));
  return true;
}

milliseconds NodeClock::now() const {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

bool NodeClock::begin(milliseconds span, Wait<Passed>& wait) {
  const auto until = std::chrono::steady_clock::now() + span;
  while (true) {
    const auto left =
        std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) break;
    ::poll(nullptr, 0, static_cast<int>(std::min<std::int64_t>(left, kLongestPoll)));
  }
  wait.answer({});
  return true;
}

}  // namespace cupel::agent
