#include "burnin/agent/node/job/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "burnin/agent/common/json_line.h"
#include "burnin/agent/common/small_file.h"
#include "burnin/agent/node/job/folder.h"
#include "burnin/agent/node/job/launch.h"
#include "burnin/agent/node/job/process_tree.h"
#include "burnin/agent/node/job/spool.h"

namespace cupel::agent {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr seconds kBetweenBeats{10};
constexpr std::chrono::seconds kKillPatience{30};
constexpr int kFailedToStart = 73;
constexpr int kEndedByLimit = 124;  // as coreutils' timeout(1) says it

sigset_t handled_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int each : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) {
    ::sigaddset(&set, each);
  }
  return set;
}

class Supervisor {
 public:
  explicit Supervisor(const JobOrder& order) : order_{order} {}

  /// Errors: kFailed: nothing runs.
  Result<JobStarted> begin();
  void watch();
  void finish();

 private:
  enum class Ending { none, by_limit, by_spool, by_signal };

  Result<void> write_down();
  void end(Ending why);
  void wait_for_news();
  void take_signals();
  void spool();
  void beat();
  bool is_over() const;
  std::string file(std::string_view name) const { return order_.folder + "/" + std::string{name}; }
  bool was_stopped() const { return ::access(file("stopped").c_str(), F_OK) == 0; }

  const JobOrder& order_;
  Launched job_{};
  Spool out_{};
  Spool err_{};
  Descriptor signals_{};
  Descriptor keeper_{};  // with its lock: never closed before we end
  Descriptor beat_{};
  nanoseconds deadline_{};
  nanoseconds next_beat_{};
  nanoseconds kill_at_{};
  Ending ending_ = Ending::none;
  Watched watched_{};  // the job's own process
  bool family_gone_ = false;
};

Result<JobStarted> Supervisor::begin() {
  TRY(out_, Spool::into(file("out"), order_.spool_limit));
  TRY(err_, Spool::into(file("err"), order_.spool_limit));
  beat_ = Descriptor{::open(file("beat").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)};
  const auto handled = handled_signals();
  signals_ = Descriptor{::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (!beat_ || !signals_) return Error{Code::kFailed, std::string{std::strerror(errno)}};
  TRY(write_down());
  TRY(job_, launch(order_));
  watched_.pid = job_.pid;
  deadline_ = since_boot() + order_.limit;
  out_.listen_to(std::move(job_.out));
  err_.listen_to(std::move(job_.err));
  const auto group = std::to_string(job_.pid);
  // Whoever sees a keeper may ask for the group: so that comes first, and the keeper last.
  auto written = write_durably(file("group"), group + "\n");
  if (written && !job_.control_group.empty())
    written = write_durably(file("cgroup"), job_.control_group + "\n");
  beat();
  if (written && ::rename(file("keeper.part").c_str(), file("keeper").c_str()) != 0)
    written = Error{Code::kFailed, file("keeper") + ": " + std::strerror(errno)};
  if (written) return JobStarted{::getpid(), job_.pid};
  kill_descendants(watched_, job_.control_group, kKillPatience);
  return std::move(written).error();
}

/// What is known before the job runs. The lock is taken before anybody can see the file.
Result<void> Supervisor::write_down() {
  TRY(write_durably(file("boot"), boot_id() + "\n"));
  const auto now = std::to_string(::time(nullptr));
  TRY(write_durably(file("job"),
                    order_.name + "\n" + std::to_string(order_.limit.count()) + "\n" + now + "\n"));
  // Whoever finds the folder knows whom to ask.
  TRY(write_durably(file("program"), link_target("/proc/self/exe").value_or("") + "\n"));
  const auto part = file("keeper.part");
  keeper_ =
      Descriptor{::open(part.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644)};
  const bool held = keeper_ && hold_keeper_lock(keeper_.number()) &&
                    write_all(keeper_.number(), std::to_string(::getpid()) + "\n");
  if (held) return ok();
  return Error{Code::kFailed, part + ": " + std::strerror(errno)};
}

void Supervisor::end(Ending why) {
  if (ending_ != Ending::none) return;
  ending_ = why;
  const auto grace = why == Ending::by_limit    ? kGraceAtLimit
                     : why == Ending::by_signal ? kGraceAtStop
                                                : seconds{0};
  kill_at_ = since_boot() + grace;
  if (why == Ending::by_limit) {
    ::mkdir(file("over").c_str(), 0755);
    err_.remark("ended: it reached its limit of " + std::to_string(order_.limit.count()) + " s");
  }
  if (why == Ending::by_spool) {
    ::mkdir(file("full").c_str(), 0755);
    err_.remark("ended: " + std::string{out_.full() ? out_.why_full() : err_.why_full()});
    return;
  }
  for (const auto pid : descendants(::getpid())) ::kill(pid, SIGTERM);
}

bool Supervisor::is_over() const {
  if (ending_ == Ending::none) return watched_.status.has_value();
  return family_gone_ || since_boot() >= kill_at_;
}

void Supervisor::watch() {
  while (!is_over()) {
    wait_for_news();
    take_signals();
    spool();
    if (since_boot() >= deadline_) end(Ending::by_limit);
    if (since_boot() >= next_beat_) beat();
  }
}

void Supervisor::wait_for_news() {
  const auto until = std::min(ending_ == Ending::none ? deadline_ : kill_at_, next_beat_);
  const auto pause = std::chrono::ceil<std::chrono::milliseconds>(until - since_boot()).count();
  std::array<pollfd, 3> waiting{{{signals_.number(), POLLIN, 0},
                                 {out_.full() ? -1 : out_.source(), POLLIN, 0},
                                 {err_.full() ? -1 : err_.source(), POLLIN, 0}}};
  ::poll(waiting.data(), waiting.size(), static_cast<int>(std::clamp<long>(pause, 0, 60'000)));
}

void Supervisor::take_signals() {
  signalfd_siginfo reported{};
  while (::read(signals_.number(), &reported, sizeof reported) == sizeof reported) {
    if (reported.ssi_signo == SIGCHLD) {
      reap(watched_);
      if (ending_ != Ending::none) family_gone_ = descendants(::getpid()).empty();
    } else if (reported.ssi_signo != SIGPIPE && reported.ssi_signo != SIGHUP) {
      if (!was_stopped())
        err_.remark("ended: process " + std::to_string(reported.ssi_pid) + " sent signal " +
                    std::to_string(reported.ssi_signo));
      end(Ending::by_signal);
    }
  }
}

void Supervisor::spool() {
  out_.take();
  err_.take();
  if (out_.full() || err_.full()) end(Ending::by_spool);
}

void Supervisor::beat() {
  const std::chrono::duration<double> now = since_boot();
  auto line = std::to_string(now.count());
  line.resize(32, ' ');
  line += '\n';
  [[maybe_unused]] const auto written = ::pwrite(beat_.number(), line.data(), line.size(), 0);
  next_beat_ = since_boot() + kBetweenBeats;
}

void Supervisor::finish() {
  if (!kill_descendants(watched_, job_.control_group, kKillPatience))
    err_.remark("some of its processes cannot be ended: the kernel holds them");
  out_.take_rest();
  err_.take_rest();
  out_.sync();
  err_.sync();
  // Somebody ended us, and nobody asked us to stop the job: what it said is no result.
  if (ending_ == Ending::by_signal && !was_stopped()) return;
  const int status =
      ending_ == Ending::by_limit ? kEndedByLimit : watched_.status.value_or(128 + SIGKILL);
  const auto written = write_durably(file("exit"), std::to_string(status) + "\n");
  if (!written) err_.remark(written.error().what);
}

/// Nothing of the connection that started us stays open.
void let_go_of_streams(int kept) {
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, each);
  for (const auto& name : names_in("/proc/self/fd")) {
    const int each = number<int>(name).value_or(-1);
    if (each > STDERR_FILENO && each != kept) ::close(each);
  }
}

[[noreturn]] void supervise(const JobOrder& order, Descriptor report) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  Supervisor supervisor{order};
  const auto begun = supervisor.begin();
  if (!begun) {
    write_all(report.number(), "-" + begun.error().what);
    ::_exit(kFailedToStart);
  }
  const auto& started = *begun;
  write_all(report.number(),
            "+" + std::to_string(started.keeper) + " " + std::to_string(started.group));
  report.close();
  supervisor.watch();
  supervisor.finish();
  ::_exit(0);
}

[[noreturn]] void guard(const JobOrder& order, Descriptor report) {
  ::setsid();
  let_go_of_streams(report.number());
  if (::chdir("/") != 0) ::_exit(kFailedToStart);
  const auto handled = handled_signals();
  ::sigprocmask(SIG_BLOCK, &handled, nullptr);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  become_hard_to_kill();
  const pid_t supervisor = ::fork();
  if (supervisor == 0) supervise(order, std::move(report));
  if (supervisor < 0) write_all(report.number(), std::string{"-fork: "} + std::strerror(errno));
  report.close();
  int status = 0;
  while (::waitpid(supervisor, &status, 0) < 0 && errno == EINTR) {
  }
  const auto group = read_word(order.folder + "/cgroup").value_or("");
  Watched nobody;
  kill_descendants(nobody, WIFSIGNALED(status) ? group : "", kKillPatience);
  ::_exit(0);
}

}  // namespace

Result<JobStarted> start_supervised(const JobOrder& order) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{Code::kFailed, std::string{"pipe: "} + std::strerror(errno)};
  Descriptor hearing{ends[0]}, report{ends[1]};
  const pid_t pid = ::fork();
  if (pid == 0) guard(order, std::move(report));
  if (pid < 0) return Error{Code::kFailed, std::string{"fork: "} + std::strerror(errno)};
  report.close();
  std::string heard;
  char piece[4096];
  for (;;) {
    const auto got = ::read(hearing.number(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    heard.append(piece, static_cast<std::size_t>(got));
  }
  const auto reported = words(std::string_view{heard}.substr(heard.empty() ? 0 : 1));
  if (heard.starts_with('+') && reported.size() == 2)
    return JobStarted{number<pid_t>(reported[0]).value_or(0),
                      number<pid_t>(reported[1]).value_or(0)};
  return Error{Code::kFailed,
               heard.starts_with('-') ? heard.substr(1) : "the supervisor ended before it began"};
}

}  // namespace cupel::agent
