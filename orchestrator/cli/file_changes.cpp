#include "orchestrator/cli/file_changes.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cupel::cli {

FileChanges::FileChanges(int number, std::string name) : number_{number}, name_{std::move(name)} {}

FileChanges::FileChanges(FileChanges&& other) noexcept
    : number_{std::exchange(other.number_, -1)}, name_{std::move(other.name_)} {}

FileChanges::~FileChanges() {
  if (number_ >= 0) ::close(number_);
}

Result<FileChanges> FileChanges::of(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path{"."};
  FileChanges changes{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK), file.filename().string()};
  const bool watched =
      changes.number_ >= 0 &&
      ::inotify_add_watch(changes.number_, folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO) >= 0;
  if (!watched)
    return Error{Code::kInvalid,
                 fmt::format("cannot watch {}: {}", folder.string(), std::strerror(errno))};
  return changes;
}

bool FileChanges::is_ours() {
  alignas(inotify_event) std::array<char, 1 << 14> reported{};
  bool ours = false;
  for (;;) {
    const auto got = ::read(number_, reported.data(), reported.size());
    if (got <= 0) return ours;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      const auto* event = reinterpret_cast<const inotify_event*>(reported.data() + at);
      // The queue ran over: the file may have changed too.
      ours = ours || (event->mask & IN_Q_OVERFLOW) != 0 ||
             (event->len > 0 && name_ == static_cast<const char*>(event->name));
      at += sizeof(inotify_event) + event->len;
    }
  }
}

bool FileChanges::wait() {
  constexpr short kReaderGone = POLLERR | POLLHUP | POLLNVAL;
  for (;;) {
    std::array<pollfd, 2> waiting{{{number_, POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return false;
    if ((waiting[1].revents & kReaderGone) != 0) return false;
    if (is_ours()) return true;
  }
}

}  // namespace cupel::cli
