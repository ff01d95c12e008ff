#include "burnin/agent/node/job/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "burnin/agent/common/json_line.h"
#include "burnin/agent/common/small_file.h"
#include "burnin/agent/node/job/process_tree.h"

namespace cupel::agent {
namespace {

constexpr const char* kOwnScore = "/proc/self/oom_score_adj";

void write_score(std::string_view score) {
  const Descriptor file{::open(kOwnScore, O_WRONLY | O_CLOEXEC)};
  if (file) write_all(file.number(), score);
}

struct Pipe {
  Descriptor reading{};
  Descriptor writing{};
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{Code::kFailed, std::string{"pipe: "} + std::strerror(errno)};
  Pipe made{Descriptor{ends[0]}, Descriptor{ends[1]}};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return made;
}

/// Our own programs are found before anything else of their name.
void set_environment(const JobOrder& order) {
  const auto self = link_target("/proc/self/exe").value_or("");
  const char* reported = std::getenv("PATH");
  const std::string path = reported != nullptr ? reported : "/usr/local/bin:/usr/bin:/bin";
  const auto beside = self.substr(0, self.rfind('/'));
  if (!beside.empty()) ::setenv("PATH", (beside + ":" + path).c_str(), 1);
  ::setenv("CUPEL_JOB", order.folder.c_str(), 1);
}

/// As every program expects to find them, whatever the supervisor does with its own.
void reset_signals() {
  for (int each = 1; each < NSIG; ++each) ::signal(each, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const JobOrder& order, const std::string& control_group, int out,
                         int err) {
  ::setsid();
  if (!control_group.empty()) join_control_group(control_group);
  const int input = ::open(order.input.c_str(), O_RDONLY | O_NOFOLLOW);
  if (input < 0) ::_exit(126);
  ::dup2(input, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (input > STDERR_FILENO) ::close(input);
  write_score("0\n");
  reset_signals();
  set_environment(order);
  const auto work = order.folder + "/work";
  if (::chdir(work.c_str()) != 0) ::_exit(126);
  std::vector<char*> words;
  auto command = order.command;
  for (auto& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const int why = errno;
  write_all(STDERR_FILENO, "cupel-node: " + command[0] + ": " + std::strerror(why) + "\n");
  ::_exit(why == ENOENT ? 127 : 126);
}

}  // namespace

void become_hard_to_kill() { write_score("-900\n"); }

Result<Launched> launch(const JobOrder& order) {
  TRY(auto out, make_pipe());
  TRY(auto err, make_pipe());
  const auto work = order.folder + "/work";
  if (::mkdir(work.c_str(), 0755) != 0 && errno != EEXIST)
    return Error{Code::kFailed, work + ": " + std::strerror(errno)};
  Launched launched;
  launched.control_group = make_control_group("cupel-job-" + std::to_string(::getpid()));
  launched.pid = ::fork();
  if (launched.pid == 0)
    become(order, launched.control_group, out.writing.number(), err.writing.number());
  if (launched.pid < 0) {
    const int why = errno;
    if (!launched.control_group.empty()) ::rmdir(launched.control_group.c_str());
    return Error{Code::kFailed, std::string{"fork: "} + std::strerror(why)};
  }
  launched.out = std::move(out.reading);
  launched.err = std::move(err.reading);
  return launched;
}

}  // namespace cupel::agent
