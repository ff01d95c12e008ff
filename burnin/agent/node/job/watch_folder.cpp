#include "burnin/agent/node/job/watch_folder.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace cupel::agent {

FolderWatch::FolderWatch(const std::string& folder)
    : changes_{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)} {
  ::inotify_add_watch(changes_.number(), folder.c_str(), IN_MODIFY | IN_CREATE | IN_MOVED_TO);
}

bool FolderWatch::wait(pid_t keeper, std::chrono::milliseconds patience) {
  const bool goes_on = poll(keeper, changes_.number(), patience);
  char reported[4096];
  while (changes_ && ::read(changes_.number(), reported, sizeof reported) > 0) {
  }
  return goes_on;
}

bool FolderWatch::wait_for_end(pid_t keeper, std::chrono::milliseconds patience) {
  return poll(keeper, -1, patience);
}

bool FolderWatch::poll(pid_t keeper, int changes, std::chrono::milliseconds patience) {
  // Where inotify or pidfd_open(2) cannot be had (a kernel before 5.3), the caller looks again
  // soon.
  constexpr std::chrono::milliseconds kLookAgain{1000};
  const Descriptor process{keeper > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, keeper, 0))
                                      : -1};
  const bool blind = !changes_ || (keeper > 0 && !process);
  const auto pause = std::clamp(patience, std::chrono::milliseconds{0},
                                blind ? kLookAgain : std::chrono::milliseconds{3'600'000});
  std::array<pollfd, 3> waiting{
      {{changes, POLLIN, 0}, {process.number(), POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
  ::poll(waiting.data(), waiting.size(), static_cast<int>(pause.count()));
  return (waiting[2].revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
}

}  // namespace cupel::agent
