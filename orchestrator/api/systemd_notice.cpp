#include "orchestrator/api/systemd_notice.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/text.h"

namespace cupel::api {

SystemdNotice::SystemdNotice() {
  const auto taken = [](const char* name) {
    const char* value = std::getenv(name);
    std::string text = value == nullptr ? "" : value;
    ::unsetenv(name);
    return text;
  };
  socket_ = taken("NOTIFY_SOCKET");
  const auto pid = taken("WATCHDOG_PID");
  const auto period = number<std::int64_t>(taken("WATCHDOG_USEC"));
  const bool ours = pid.empty() || number<pid_t>(pid) == ::getpid();
  if (period && *period > 0 && ours)
    watchdog_ = std::chrono::milliseconds{std::max<std::int64_t>(*period / 1000, 1)};
}

void SystemdNotice::send(const std::string& state) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  // "@name": one of the abstract namespace.
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  (void)::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&address), size);
  ::close(fd);
}

void SystemdNotice::send_reloading() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                   static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000));
}

}  // namespace cupel::api
