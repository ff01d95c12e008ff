#include "burnin/agent/node/node_settings.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/common/json_line.h"

namespace cupel::agent {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t kForAll = 0644, kFolderForAll = 0755, kForUs = 0700;

Error failed(const std::string& path) {
  return {errno == ENOENT ? Code::kNotFound : Code::kFailed, path + ": " + std::strerror(errno)};
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Each folder on the way from "/", and the path itself; until it returns something.
std::string on_each_level(const std::string& path,
                          const std::function<std::string(const std::string& level)>& look) {
  if (auto reason = look("/"); !reason.empty()) return reason;
  for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (auto reason = look(path.substr(0, end)); !reason.empty()) return reason;
    if (end == path.npos) return {};
  }
}

/// What belongs to root or to us, and nobody else may write to. A sticky folder of root's (/tmp)
/// may be above: others cannot rename what is not theirs there. So may be a link of root's or our
/// own (some systems keep /var elsewhere).
std::string why_others_may_change(const std::string& level) {
  struct stat found{};
  if (::lstat(level.c_str(), &found) != 0)
    return errno == ENOENT || errno == ENOTDIR ? "" : level + ": " + std::strerror(errno);
  const bool owned = found.st_uid == 0 || found.st_uid == ::geteuid();
  const bool closed = S_ISLNK(found.st_mode) || (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  const bool sticky = S_ISDIR(found.st_mode) && (found.st_mode & S_ISVTX) != 0 && found.st_uid == 0;
  if (owned && (closed || sticky)) return {};
  std::array<char, 8> octal{};
  std::snprintf(octal.data(), octal.size(), "%04o", static_cast<unsigned>(found.st_mode & 07777));
  return level + " is of user " + std::to_string(found.st_uid) + ", mode " + octal.data() +
         ": it must belong to root or to user " + std::to_string(::geteuid()) +
         ", and no other user may write to it";
}

/// Where the folder really lies; as it is where it is not there.
std::string without_links(const std::string& folder) {
  std::array<char, PATH_MAX> real{};
  return ::realpath(folder.c_str(), real.data()) == nullptr ? folder : std::string{real.data()};
}

/// `fill` writes the new file. What stands at `path` goes when that is on the disk, and not before.
Result<void> replace_by(const std::string& path, mode_t mode,
                        const std::function<bool(int file)>& fill) {
  const Descriptor folder{::open(parent_of(path).c_str(), kFolder)};
  const auto name = name_of(path), part = name + ".part";
  if (!folder) return failed(path);
  ::unlinkat(folder.number(), part.c_str(), 0);
  const Descriptor file{::openat(folder.number(), part.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)};
  const bool whole = file && ::fchmod(file.number(), mode) == 0 && fill(file.number()) &&
                     ::fsync(file.number()) == 0 &&
                     ::renameat(folder.number(), part.c_str(), folder.number(), name.c_str()) == 0;
  if (!whole) {
    auto error = failed(path);
    ::unlinkat(folder.number(), part.c_str(), 0);
    return Error{Code::kFailed, std::move(error.what)};
  }
  if (::fsync(folder.number()) != 0) return failed(path);
  return ok();
}

bool copy(int from, int to) {
  std::array<char, 65536> piece{};
  while (true) {
    const auto got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    if (!write_all(to, {piece.data(), static_cast<std::size_t>(got)})) return false;
  }
}

/// Nothing but a file: to read another kind may wait, or do something.
Result<std::string> text_of(int file, const std::string& path) {
  struct stat what{};
  if (::fstat(file, &what) != 0) return failed(path);
  if (!S_ISREG(what.st_mode)) return Error{Code::kFailed, path + " is no file"};
  std::string text;
  std::array<char, 16384> piece{};
  while (text.size() <= Settings::kMost) {
    const auto got = ::read(file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(path);
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return Error{Code::kFailed,
               path + " is longer than " + std::to_string(Settings::kMost) + " bytes"};
}

}  // namespace

NodeSettings::NodeSettings(std::string root) : root_{std::move(root)} {
  while (root_.ends_with('/')) root_.pop_back();
}

std::string NodeSettings::unsafe(const std::string& path) const {
  const auto real = root_ + path;
  struct stat found{};
  if (::lstat(real.c_str(), &found) == 0 && S_ISLNK(found.st_mode))
    return real + " is a symbolic link";
  if (auto why = on_each_level(real, why_others_may_change); !why.empty()) return why;
  const auto parent = without_links(parent_of(real));
  return on_each_level(parent == "/" ? real : parent + "/" + name_of(real), why_others_may_change);
}

Result<void> NodeSettings::make_folder(const std::string& path) {
  const auto real = root_ + path;
  const auto made = on_each_level(real, [](const std::string& level) -> std::string {
    if (::mkdir(level.c_str(), kFolderForAll) != 0)
      return errno == EEXIST || errno == EROFS ? "" : std::strerror(errno);
    ::chmod(level.c_str(), kFolderForAll);  // whatever the umask is
    return {};
  });
  const Descriptor folder{::open(real.c_str(), kFolder)};
  if (!made.empty() || !folder || ::fchmod(folder.number(), kFolderForAll) != 0)
    return Error{Code::kFailed,
                 real + " cannot be made: " + (made.empty() ? std::strerror(errno) : made)};
  return ok();
}

Result<std::string> NodeSettings::read(const std::string& path) const {
  const auto real = root_ + path;
  const Descriptor file{::open(real.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file) return failed(real);
  return text_of(file.number(), real);
}

Result<void> NodeSettings::replace(const std::string& path, std::string_view text) {
  if (text.size() > kMost)
    return Error{Code::kInvalid, path + " would be longer than can be read again"};
  return replace_by(root_ + path, kForAll, [&](int file) { return write_all(file, text); });
}

void NodeSettings::remove(const std::string& path) {
  const auto real = root_ + path;
  const Descriptor folder{::open(parent_of(real).c_str(), kFolder)};
  if (!folder) return;
  ::unlinkat(folder.number(), (name_of(real) + ".part").c_str(), 0);
  if (::unlinkat(folder.number(), name_of(real).c_str(), 0) == 0) ::fsync(folder.number());
}

Result<void> NodeSettings::keep_program(const std::string& path) {
  const Descriptor own{::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
  if (!own) return failed("/proc/self/exe");
  return replace_by(root_ + path, kForUs, [&](int file) { return copy(own.number(), file); });
}

Result<void> NodeSettings::set(const std::string& path, std::string_view value) {
  const auto line = std::string{value} + "\n";
  const Descriptor file{
      ::open((root_ + path).c_str(), O_WRONLY | O_TRUNC | O_NONBLOCK | O_CLOEXEC)};
  const bool written =
      file && ::write(file.number(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
  return written ? ok() : Result<void>{Error{Code::kFailed, std::strerror(errno)}};
}

std::int64_t NodeSettings::now() const { return ::time(nullptr); }

}  // namespace cupel::agent
