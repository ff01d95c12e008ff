#include "base/ownership.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace cupel {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;            // as path_resolution(7) has it
constexpr std::size_t kRoom = 64 * 1024;  // for what the name service says of one user or group

/// The group that was made with the user, with nobody else in it: where the umask is 002, files are
/// open to it by custom. Source: login.defs(5), USERGROUPS_ENAB.
bool is_private_group(gid_t group, uid_t user) {
  std::vector<char> room(kRoom);
  ::group entry{};
  ::group* found = nullptr;
  const int failure = ::getgrgid_r(group, &entry, room.data(), room.size(), &found);
  if (failure != 0 || found == nullptr) return false;
  const auto owner = name_of_user(user);
  if (owner != found->gr_name) return false;
  for (auto** member = found->gr_mem; *member != nullptr; ++member)
    if (owner != *member) return false;
  return true;
}

/// May somebody else write there, going by its mode?
bool is_open(const struct stat& found) {
  const bool sticky = S_ISDIR(found.st_mode) && (found.st_mode & S_ISVTX) != 0;
  if (S_ISLNK(found.st_mode) || sticky) return false;
  if ((found.st_mode & S_IWOTH) != 0) return true;
  return (found.st_mode & S_IWGRP) != 0 && !is_private_group(found.st_gid, found.st_uid);
}

/// "chown root: /tmp/x && chmod go-w /tmp/x". A folder of another user is that user's to work in:
/// one that is given away, such as a service's own, shuts its owner out.
std::string remedy(const std::string& file, const struct stat& found, bool foreign, bool open) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@:";
  const bool plain_name = file.find_first_not_of(kPlain) == file.npos;
  const auto name = plain_name ? file : shell_quoted(file);
  const auto owner = name_of_user(found.st_uid);
  if (foreign && S_ISDIR(found.st_mode) && !owner.contains(' '))
    return fmt::format("work as {0} (runuser -u {0} -- cupel ...), or in a folder of your own",
                       owner);
  std::string command;
  if (foreign) command = fmt::format("chown {}: {}", name_of_user(::geteuid()), name);
  if (open) command += fmt::format("{}chmod go-w {}", foreign ? " && " : "", name);
  return command;
}

Result<void> check_one(const fs::path& path, const fs::path& at, const struct stat& found) {
  const bool foreign = found.st_uid != 0 && found.st_uid != ::geteuid();
  const bool open = is_open(found);
  if (!foreign && !open) return ok();
  const auto mode = static_cast<unsigned>(found.st_mode & 07777);
  const auto where = at == path ? std::string{} : fmt::format(" ({} is on the way)", at.string());
  return Error{
      Code::kInvalid,
      fmt::format("{} can be changed by other users{}: owner {}, mode {:04o}; look at what "
                  "it says, then: {}",
                  path.string(), where, name_of_user(found.st_uid), mode,
                  remedy(at.string(), found, foreign, open))};
}

/// The names of a path that are still to be walked.
using Way = std::deque<fs::path>;

void put_in_front(Way& way, const fs::path& path) {
  Way names{path.begin(), path.end()};
  way.insert(way.begin(), names.begin(), names.end());
}

}  // namespace

Result<void> check_ownership(const fs::path& path) {
  std::error_code failure;
  const auto whole = fs::absolute(path, failure);
  if (failure) return Error{Code::kInvalid, path.string() + ": " + failure.message()};
  Way way;
  put_in_front(way, whole);
  fs::path at = "/";
  int links = 0;
  while (!way.empty()) {
    const auto name = way.front();
    way.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      at = at.parent_path();
      continue;
    }
    const auto next = at / name;  // an absolute name starts over
    struct stat found{};
    if (::lstat(next.c_str(), &found) != 0) return ok();  // whoever opens it says why
    TRY(check_one(whole, next, found));
    if (!S_ISLNK(found.st_mode)) {
      at = next;
      continue;
    }
    if (++links > kMostLinks)
      return Error{Code::kInvalid, path.string() + ": too many symbolic links"};
    const auto target = fs::read_symlink(next, failure);
    if (failure) return ok();
    put_in_front(way, target);
  }
  return ok();
}

std::string name_of_user(uid_t user) {
  std::vector<char> room(kRoom);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, room.data(), room.size(), &found) != 0 || found == nullptr)
    return fmt::format("user {}", user);
  return printable(found->pw_name);
}

Result<std::string> read_trusted_file(const fs::path& file, std::size_t limit) {
  TRY(check_ownership(file));
  return read_file(file, limit);
}

}  // namespace cupel
