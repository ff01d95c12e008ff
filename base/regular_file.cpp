#include "base/regular_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

namespace cupel {
namespace {

Error failure(const std::filesystem::path& file, std::string_view verb) {
  return Error{Code::kStorage,
               std::string{verb} + " " + file.string() + ": " + std::strerror(errno)};
}

std::string_view what_it_is(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return "a device or a socket";
}

/// 16 digits that nobody can know beforehand.
std::string random_word() {
  std::uint64_t value = 0;
  // Of so few bytes it gives all, from start-up on (getrandom(2)); where it cannot, O_EXCL guards.
  if (::getrandom(&value, sizeof value, 0) < 0) value = static_cast<std::uint64_t>(::getpid());
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

/// Root may rename a file over a device: /dev/null would be a report from then on.
Result<void> check_replaceable(const std::filesystem::path& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0)
    return errno == ELOOP ? Result<void>{failure(file, "cannot replace")} : ok();
  if (S_ISREG(found.st_mode)) return ok();
  return Error{Code::kStorage, "cannot replace " + file.string() + ": it is " +
                                   std::string{what_it_is(found.st_mode)} +
                                   ", and no file: name another one"};
}

}  // namespace

Result<void> check_regular(int descriptor, const std::filesystem::path& name) {
  struct stat found{};
  if (::fstat(descriptor, &found) != 0)
    return Error{Code::kInvalid, name.string() + " cannot be looked at: " + std::strerror(errno)};
  if (S_ISREG(found.st_mode)) return ok();
  return Error{Code::kInvalid, name.string() + " is not a regular file, but " +
                                   std::string{what_it_is(found.st_mode)}};
}

Result<NewFile> NewFile::beside(const std::filesystem::path& file, unsigned mode) {
  TRY(check_replaceable(file));
  auto fresh = file;
  fresh += ".new-" + random_word();
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int descriptor = ::open(fresh.c_str(), flags, static_cast<mode_t>(mode));
  if (descriptor < 0) return failure(fresh, "cannot create");
  return NewFile{descriptor, file, std::move(fresh)};
}

NewFile::NewFile(NewFile&& other) noexcept
    : descriptor_{std::exchange(other.descriptor_, -1)},
      file_{std::move(other.file_)},
      fresh_{std::exchange(other.fresh_, {})} {}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!fresh_.empty()) ::unlink(fresh_.c_str());
}

Result<void> NewFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failure(fresh_, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ok();
}

Result<void> NewFile::take_place() {
  if (::fsync(descriptor_) != 0) return failure(fresh_, "cannot write");
  if (::rename(fresh_.c_str(), file_.c_str()) != 0) return failure(file_, "cannot replace");
  fresh_.clear();
  return ok();
}

}  // namespace cupel
