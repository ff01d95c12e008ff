#include "orchestrator/cli/controller_log.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cstdio>

#include "orchestrator/controller/state_folder.h"

namespace cupel::cli {

Terminals::Terminals() {
  for (int fd = 0; fd < 3; ++fd) is_[static_cast<std::size_t>(fd)] = ::isatty(fd) == 1;
}

void Terminals::leave(const std::filesystem::path& state) {
  const auto log = controller::controller_log(state);
  int fd = ::open(log.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const std::array from{nothing, fd, fd};
  for (std::size_t i = 0; i < is_.size(); ++i)
    if (is_[i] && from[i] >= 0) ::dup2(from[i], static_cast<int>(i));
  for (auto* stream : {stdout, stderr}) {
    ::__fpurge(stream);  // what the terminal did not take any more
    std::clearerr(stream);
  }
  for (const int each : {fd, nothing})
    if (each >= 0) ::close(each);
  is_ = {};
}

}  // namespace cupel::cli
