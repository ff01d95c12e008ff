#include "burnin/agent/node/node_programs.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "base/text.h"
#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/node/job/process_tree.h"

namespace cupel::agent {
namespace {

using Moment = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

constexpr milliseconds kKillPatience{10'000};  // then the kernel holds it: a driver that hangs
constexpr int kLongestPoll = 60'000;           // milliseconds
constexpr int kKilledAtLimit = 124, kNoProgram = 127, kCannotRun = 126, kKilled = 137;
constexpr int kMostPieces = 64;        // of 16 KiB: a pipe has 1 MiB at most
constexpr rlim_t kMostFiles = 65'536;  // a command on each of a large node's logical CPUs
constexpr std::string_view kMark = "CUPEL_COMMAND";

struct PipePair {
  Descriptor reading{};
  Descriptor writing{};
};

PipePair make_pipe_pair() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {Descriptor{ends[0]}, Descriptor{ends[1]}};
}

/// The three streams of a child, our ends. Without input it gets /dev/null.
struct Streams {
  explicit Streams(bool has_input) : in{has_input ? make_pipe_pair() : PipePair{}} {}

  PipePair in, out = make_pipe_pair(), err = make_pipe_pair();

  bool made(bool has_input) const {
    return (!has_input || in.reading) && out.reading && err.reading;
  }
  void keep_ours() {
    in.reading.close();
    out.writing.close();
    err.writing.close();
    for (const auto* each : {&in.writing, &out.reading, &err.reading})
      if (*each) ::fcntl(each->number(), F_SETFL, O_NONBLOCK);
  }
  void close() {
    for (auto* each : {&in, &out, &err}) {
      each->reading.close();
      each->writing.close();
    }
  }
};

/// Ours, with those of the command in place of what has their names, and with its mark.
std::vector<std::string> environment_of(const Command& command, const std::string& mark) {
  std::vector<std::string> all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view word{*each};
    const bool replaced = std::ranges::any_of(
        command.environment, [&](const auto& pair) { return word.starts_with(pair.first + "="); });
    if (!replaced) all.emplace_back(word);
  }
  for (const auto& [name, value] : command.environment) all.push_back(name + "=" + value);
  all.push_back(mark);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// -1 with errno set. Every signal is the program's own again.
pid_t spawn_child(const Command& command, const std::string& mark, const Streams& streams) {
  auto words = command.argv, environment = environment_of(command, mark);
  const auto argv = pointers_to(words), variables = pointers_to(environment);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  if (streams.in.reading)
    ::posix_spawn_file_actions_adddup2(&files, streams.in.reading.number(), STDIN_FILENO);
  else
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
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
pid_t start_child(const Command& command, const std::string& mark, const Streams& streams,
                  Ran& ran) {
  const OnCpus on{command.cpus};
  ran.cpus = on.given();
  if (ran.cpus != command.cpus) {
    ran.status = kCannotRun;
    ran.err = on.refused();
    return -1;
  }
  const auto pid = spawn_child(command, mark, streams);
  if (pid >= 0) return pid;
  ran.status = errno == ENOENT ? kNoProgram : kCannotRun;
  ran.err = std::strerror(errno);
  return pid;
}

/// Reads what is there now, and of a tool that never stops writing no more than a full pipe. Closes
/// the descriptor at its end.
void read_from(Descriptor& from, std::size_t most, std::string& into, bool& cut) {
  std::array<char, 16384> piece{};
  for (int i = 0; from && i < kMostPieces; ++i) {
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

/// Writes what the pipe takes now of what is left behind `given`. Closes the descriptor when all is
/// written, or nobody reads.
void write_to(Descriptor& to, std::string_view input, std::size_t& given) {
  while (to && given < input.size()) {
    const auto left = input.substr(given);
    const auto sent = ::write(to.number(), left.data(), left.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) break;
    given += static_cast<std::size_t>(sent);
  }
  to.close();
}

/// Milliseconds for poll(2), rounded up: what waits for a moment must not look again before it.
int left_until(Moment when) {
  const auto left = std::chrono::ceil<milliseconds>(when - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kLongestPoll));
}

void put_variable(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1);  // before any thread
}

void allow_many_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = std::max(files.rlim_cur, std::min(files.rlim_max, kMostFiles));
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

/// One command and its streams. All that it prints is read when poll(2) shows some of it.
class NodePrograms::Running {
 public:
  Running(const Command& command, int number)
      : mark{std::string{kMark} + "=" + std::to_string(::getpid()) + "." + std::to_string(number)},
        limit{std::chrono::steady_clock::now() + command.limit},
        input_{command.input},
        most_{command.most},
        shorten_{command.shorten},
        streams_{!command.input.empty()} {
    begin(command);
  }

  bool ended() const { return ended_; }

  /// The process comes first, then its streams that are open: poll(2) refuses more entries than the
  /// process may open files, closed ones included.
  void add_to(std::vector<pollfd>& all) const {
    const auto add = [&](const Descriptor& one, short events) {
      if (one) all.push_back({one.number(), events, 0});
    };
    add(handle_, POLLIN);
    add(streams_.out.reading, POLLIN);
    add(streams_.err.reading, POLLIN);
    add(streams_.in.writing, POLLOUT);
  }

  void serve() {
    read_from(streams_.out.reading, most_, ran.out, ran.cut);
    read_from(streams_.err.reading, most_, ran.err, ran.cut);
    if (shorten_) shorten_(ran.out);
    write_to(streams_.in.writing, input_, given_);
  }

  /// None of its processes lives: what the pipes hold is all that comes.
  void end(int status) {
    serve();
    streams_.close();
    handle_.close();
    ran.status = status;
    ended_ = true;
  }

  const std::string mark;
  const Moment limit;
  Watched child{};
  Ran ran{};

 private:
  void begin(const Command& command) {
    if (command.argv.empty()) return fail(EINVAL);
    if (!streams_.made(!input_.empty())) return fail(errno);
    child.pid = start_child(command, mark, streams_, ran);
    if (child.pid < 0) return give_up(ran.status);
    streams_.keep_ours();
    // Of Linux 5.3: every distribution with glibc 2.34 has it.
    handle_ = Descriptor{static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0))};
    if (handle_) return;
    const int why = errno;
    kill_family(child.pid, mark, {}, kKillPatience);
    fail(why);
  }
  void fail(int why) {
    ran.err = std::strerror(why);
    give_up(kCannotRun);
  }
  void give_up(int status) {
    streams_.close();  // they may block, and nobody writes
    end(status);
  }

  std::string input_;
  std::size_t most_, given_ = 0;
  std::function<void(std::string& out)> shorten_;
  Streams streams_;
  Descriptor handle_{};
  bool ended_ = false;
};

NodePrograms::NodePrograms() {
  const char* path = std::getenv("PATH");
  put_variable("PATH", "/opt/cupel/bin:" + std::string{path == nullptr ? "/usr/bin:/bin" : path} +
                           ":/usr/local/bin:/usr/sbin:/sbin");
  put_variable("LC_ALL", "C");
  allow_many_files();
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

NodePrograms::~NodePrograms() {
  Watched nobody;
  if (!others_than(0).empty()) kill_descendants(nobody, {}, kKillPatience);
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

int NodePrograms::start(const Command& command) {
  running_.emplace(++last_, std::make_unique<Running>(command, last_));
  return last_;
}

bool NodePrograms::begin(const Command& command, Wait<Ran>& wait) {
  const int number = start(command);
  attend(number, Moment::max());
  wait.answer(take(number));
  return true;
}

bool NodePrograms::begin_first_end(milliseconds span, Wait<std::optional<Ended>>& wait) {
  const int number = attend(0, std::chrono::steady_clock::now() + span);
  if (number != 0) wait.answer(Ended{number, take(number)});
  return true;
}

bool NodePrograms::begin_stop(int number, Wait<Ran>& wait) {
  const auto found = running_.find(number);
  if (found == running_.end()) return true;
  if (!found->second->ended()) finish(number, kKilled);
  wait.answer(take(number));
  return true;
}

Ran NodePrograms::take(int number) {
  auto node = running_.extract(number);
  return std::move(node.mapped()->ran);
}

std::set<pid_t> NodePrograms::others_than(int number) const {
  std::set<pid_t> all;
  for (const auto& [each, one] : running_)
    if (each != number && !one->ended()) all.insert(one->child.pid);
  return all;
}

void NodePrograms::finish(int number, std::optional<int> status) {
  auto& one = *running_.at(number);
  auto& child = one.child;
  const auto others = others_than(number);
  if (others.empty()) {
    kill_descendants(child, {}, kKillPatience);
  } else {
    kill_family(child.pid, one.mark, others, kKillPatience);
    int word = 0;
    if (::waitpid(child.pid, &word, WNOHANG) == child.pid) child.status = shell_status(word);
  }
  one.end(status ? *status : child.status.value_or(-1));
}

int NodePrograms::first_ended(int number) const {
  for (const auto& [each, one] : running_)
    if (one->ended() && (number == 0 || each == number)) return each;
  return 0;
}

std::optional<Moment> NodePrograms::end_at_limits() {
  std::optional<Moment> next;
  for (const auto& [number, one] : running_) {
    if (one->ended()) continue;
    if (std::chrono::steady_clock::now() >= one->limit) {
      one->ran.late = true;
      finish(number, kKilledAtLimit);
    } else {
      next = std::min(next.value_or(one->limit), one->limit);
    }
  }
  return next;
}

void NodePrograms::serve(Moment until) {
  std::vector<pollfd> all;
  std::vector<int> numbers;
  std::vector<std::size_t> begins;  // of each in `all`
  for (const auto& [number, one] : running_) {
    if (one->ended()) continue;
    numbers.push_back(number);
    begins.push_back(all.size());
    one->add_to(all);
  }
  begins.push_back(all.size());
  ::poll(all.data(), all.size(), left_until(until));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto shown = std::span{all}.subspan(begins[i], begins[i + 1] - begins[i]);
    if (std::ranges::all_of(shown, [](const pollfd& each) { return each.revents == 0; })) continue;
    running_.at(numbers[i])->serve();
    if (shown.front().revents != 0) finish(numbers[i], std::nullopt);
  }
}

int NodePrograms::attend(int number, Moment until) {
  while (true) {
    const auto limit = end_at_limits();
    const int ended = first_ended(number);
    if (ended != 0 || std::chrono::steady_clock::now() >= until) return ended;
    serve(std::min(until, limit.value_or(until)));
  }
}

milliseconds NodeClock::now() const {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

bool NodeClock::begin(milliseconds span, Wait<Passed>& wait) {
  const auto until = std::chrono::steady_clock::now() + span;
  while (std::chrono::steady_clock::now() < until) ::poll(nullptr, 0, left_until(until));
  wait.answer({});
  return true;
}

}  // namespace cupel::agent
