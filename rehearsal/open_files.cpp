#include "rehearsal/open_files.h"

#include <fmt/format.h>
#include <sys/resource.h>

namespace cupel::rehearsal {

Result<void> allow_files(std::size_t nodes, std::size_t pdus) {
  constexpr rlim_t kOthers = 256, kListening = 4, kClients = 4;
  const auto least = kOthers + nodes * kListening + pdus;
  const auto needed = least + (nodes + pdus) * kClients;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return ok();
  const auto more = std::min<rlim_t>(needed, limit.rlim_max);
  if (more < least)
    return Error{Code::kInvalid,
                 fmt::format("{} virtual nodes need {} open files, and this process may have {} at "
                             "most (ulimit -Hn; LimitNOFILE= of a systemd unit)",
                             nodes, least, limit.rlim_max)};
  limit.rlim_cur = std::max(more, limit.rlim_cur);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return ok();
}

}  // namespace cupel::rehearsal
