#include "orchestrator/cli/state_owner.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace cupel::cli {

Result<void> act_as_owner_of(const std::filesystem::path& state) {
  struct stat found{};
  // Also by a link: whoever can set it takes privileges away, and gives none.
  if (::geteuid() != 0 || ::stat(state.c_str(), &found) != 0) return ok();
  if (!S_ISDIR(found.st_mode) || found.st_uid == 0) return ok();
  std::vector<char> room(64 * 1024);
  passwd entry{};
  passwd* owner = nullptr;
  const int failure = ::getpwuid_r(found.st_uid, &entry, room.data(), room.size(), &owner);
  if (failure != 0 || owner == nullptr)
    return Error{Code::kInvalid,
                 fmt::format("{} belongs to user {}, whom this machine does not know: chown it, or "
                             "name another folder with --state",
                             state.string(), found.st_uid)};
  // Who asked stays known where the kernel keeps no login.
  ::setenv("SUDO_USER", "root", 0);
  ::setenv("HOME", owner->pw_dir, 1);
  const bool became = ::initgroups(owner->pw_name, owner->pw_gid) == 0 &&
                      ::setresgid(owner->pw_gid, owner->pw_gid, owner->pw_gid) == 0 &&
                      ::setresuid(owner->pw_uid, owner->pw_uid, owner->pw_uid) == 0;
  if (became) return ok();
  return Error{Code::kInvalid,
               fmt::format("{} belongs to {}, and this process cannot become that user ({}): sudo "
                           "-u {} cupel ...",
                           state.string(), owner->pw_name, std::strerror(errno), owner->pw_name)};
}

}  // namespace cupel::cli
