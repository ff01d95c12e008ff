#include "orchestrator/controller/background.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/paths.h"
#include "orchestrator/controller/state_folder.h"
#include "orchestrator/store/controller_lock.h"

extern char** environ;

namespace cupel::controller {
namespace {

using store::ControllerLock;

constexpr std::chrono::seconds kBeginsWithin{30};
constexpr std::chrono::milliseconds kLookAgain{100};

/// This very program, also where its file was replaced meanwhile.
std::string own_program() {
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  const bool there = !failure && std::filesystem::exists(self, failure);
  return there ? self.string() : "/proc/self/exe";
}

/// `cupel controller`, of nobody's terminal. Errors: kFailed.
Result<pid_t> start(const BackgroundController& controller) {
  auto words = words_of(controller);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const auto log = absolute_path(controller_log(controller.state));
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, log.c_str(),
                                     O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0600);
  ::posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const auto program = controller.program.empty() ? own_program() : controller.program.string();
  const int failure = ::posix_spawn(&pid, program.c_str(), &files, &how, argv.data(), environ);
  ::posix_spawnattr_destroy(&how);
  ::posix_spawn_file_actions_destroy(&files);
  if (failure != 0)
    return Error{Code::kFailed, fmt::format("cannot start a controller that writes {}: {}",
                                            log.string(), std::strerror(failure))};
  return pid;
}

}  // namespace

std::vector<std::string> words_of(const BackgroundController& controller) {
  const auto absolute = [](const std::filesystem::path& path) {
    return absolute_path(path).string();
  };
  std::vector<std::string> words{"cupel", "--state", absolute(controller.state)};
  if (!controller.programs.empty()) {
    words.emplace_back("--programs");
    words.push_back(absolute(controller.programs));
  }
  if (!controller.log.empty()) {
    words.emplace_back("--log");
    words.push_back(controller.log);
  }
  words.emplace_back("controller");
  return words;
}

Task<Result<int>> leave_to_background(BackgroundController controller, const store::Store& store,
                                      engine::RunId id) {
  const auto deadline = Deadline::in(kBeginsWithin);
  pid_t started = 0;
  while (!deadline.passed()) {
    // In this order: the one that has begun the run may be gone again.
    const auto holder = ControllerLock::holder(controller.state);
    CO_TRY(const auto run, store.run(id));
    if (run.phase != engine::RunPhase::submitted) co_return holder ? holder->pid : 0;
    const bool ended = started > 0 && ::waitpid(started, nullptr, WNOHANG) == started;
    if (ended && !holder)
      co_return Error{Code::kFailed,
                      fmt::format("the controller ended before it began run {}: see {}", id,
                                  controller_log(controller.state).string())};
    if (ended) started = 0;  // another one was faster
    if (!holder && started == 0) {
      CO_TRY(started, start(controller));
    }
    CO_TRY(co_await pause_for(kLookAgain));
  }
  co_return Error{Code::kTimeout,
                  fmt::format("run {} was submitted, and no controller has begun it in {} s: see "
                              "cupel status",
                              id, kBeginsWithin.count())};
}

}  // namespace cupel::controller
