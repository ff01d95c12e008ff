#include "tests/support/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string_view>

namespace cupel::testing {
namespace {

/// Ours with `added` in their places; one of these without "=" takes ours away.
std::vector<char*> environment_with(std::vector<std::string>& added) {
  std::vector<char*> all;
  for (char** each = environ; *each != nullptr; ++each) all.push_back(*each);
  for (auto& one : added) {
    const auto equals = one.find('=');
    const auto name = one.substr(0, equals) + "=";
    std::erase_if(all, [&](const char* each) { return std::string_view{each}.starts_with(name); });
    if (equals != one.npos) all.push_back(one.data());
  }
  all.push_back(nullptr);
  return all;
}

/// In the memory of the test: it changes nothing in there.
void become(const std::vector<char*>& argv, const std::vector<char*>& environment,
            std::size_t file_limit) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (file_limit != 0) {
    const rlimit limit{file_limit, file_limit};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ::execvpe(argv[0], argv.data(), environment.data());
  ::_exit(127);
}

}  // namespace

Child::Child(std::vector<std::string> argv, std::vector<std::string> environment,
             std::size_t file_limit) {
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0)
    throw std::runtime_error{"no pipe"};
  std::vector<char*> pointers;
  for (auto& each : argv) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  const auto whole = environment_with(environment);
  // fork(2) would copy the page tables of a test that a sanitizer has made large, and let both
  // write their pages anew.
  pid_ = ::vfork();
  if (pid_ == 0) {
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    become(pointers, whole, file_limit);
  }
  ::close(out[1]);
  ::close(err[1]);
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  readers_.emplace_back([this, from = out[0]] { read_all(from, out_); });
  readers_.emplace_back([this, from = err[0]] { read_all(from, err_); });
}

Child::~Child() {
  if (!reaped_) wait(std::chrono::seconds{0});
  ::close(pidfd_);
}

void Child::read_all(int from, std::string& into) {
  char piece[8192];
  for (;;) {
    const auto count = ::read(from, piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    const std::lock_guard lock{mutex_};
    if (count > 0) into.append(piece, static_cast<std::size_t>(count));
    if (count <= 0) --open_;
    heard_.notify_all();
    if (count <= 0) break;
  }
  ::close(from);
}

void Child::signal(int number) const {
  ::syscall(SYS_pidfd_send_signal, pidfd_, number, nullptr, 0);
}

bool Child::has_ended() const {
  pollfd ended{pidfd_, POLLIN, 0};
  return ::poll(&ended, 1, 0) == 1;
}

bool Child::wait_for(const std::string& text, std::chrono::seconds patience) {
  std::unique_lock lock{mutex_};
  const auto heard = [&] {
    return out_.find(text) != std::string::npos || err_.find(text) != std::string::npos;
  };
  heard_.wait_for(lock, patience, [&] { return heard() || open_ == 0; });
  return heard();
}

Ran Child::wait(std::chrono::seconds patience) {
  pollfd ended{pidfd_, POLLIN, 0};
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(patience);
  const bool gone = ::poll(&ended, 1, static_cast<int>(milliseconds.count())) == 1;
  if (!gone) signal(SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  Ran ran;
  if (gone) ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  // A grandchild may hold the pipes open; what was reported until now is what counts.
  std::unique_lock lock{mutex_};
  heard_.wait_for(lock, std::chrono::seconds{2}, [&] { return open_ == 0; });
  ran.out = out_;
  ran.err = err_;
  return ran;
}

Ran run(std::vector<std::string> argv, std::vector<std::string> environment,
        std::chrono::seconds patience) {
  Child child{std::move(argv), std::move(environment)};
  return child.wait(patience);
}

}  // namespace cupel::testing
