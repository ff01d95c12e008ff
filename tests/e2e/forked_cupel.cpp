#include "tests/e2e/forked_cupel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>

#include "orchestrator/cli/command_line.h"

namespace cupel::testing {
namespace {

/// A file in memory that takes all output, so that no pipe has to be read meanwhile.
class Output {
 public:
  explicit Output(int stream) : stream_{stream}, file_{::memfd_create("output", MFD_CLOEXEC)} {
    if (file_ < 0) throw std::runtime_error{"no file in memory"};
  }
  ~Output() { ::close(file_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void take() const { ::dup2(file_, stream_); }
  std::string text() const {
    std::string all(static_cast<std::size_t>(::lseek(file_, 0, SEEK_END)), '\0');
    const auto got = ::pread(file_, all.data(), all.size(), 0);
    all.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return all;
  }

 private:
  int stream_, file_;
};

/// fork(2) under AddressSanitizer takes a lock in each of a million places, and frees them on
/// either side: 4 MB that both write anew, which costs more than many a command line. Where no
/// other thread could hold one of them, none need be taken.
pid_t fork_of_test() {
  const std::filesystem::directory_iterator threads{"/proc/self/task"}, end;
  return std::distance(threads, end) == 1 ? ::_Fork() : ::fork();
}

[[noreturn]] void become_cupel(std::vector<std::string>& words, const Output& out,
                               const Output& err) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::alarm(120);
  ::setenv("GTEST_FILTER", "-*", 1);  // no test runs a second time where it is started after all
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  out.take();
  err.take();
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int code = cli::run_command_line(static_cast<int>(words.size()), argv.data());
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace

Ran run_forked_cupel(std::vector<std::string> words) {
  words.insert(words.begin(), "cupel");
  const Output out{STDOUT_FILENO}, err{STDERR_FILENO};
  std::fflush(nullptr);
  const auto pid = fork_of_test();
  if (pid < 0) throw std::runtime_error{"no process"};
  if (pid == 0) become_cupel(words, out, err);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  Ran ran;
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.out = out.text();
  ran.err = err.text();
  return ran;
}

}  // namespace cupel::testing
