#include "orchestrator/images/served_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/digest.h"
#include "base/text.h"

namespace cupel::images {
namespace {

/// 128 bits.
constexpr std::size_t kTokenBytes = 16;
constexpr std::size_t kLongestName = 128;

bool is_plain(std::string_view name) {
  const auto plain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         std::ranges::all_of(name, plain);
}

}  // namespace

ServedFile::ServedFile(int descriptor, std::uint64_t bytes, Grant from)
    : fd{descriptor},
      size{bytes},
      grant{std::move(from)},
      until{std::chrono::steady_clock::now() + grant.lifetime} {}

ServedFile::~ServedFile() { ::close(fd); }

Result<std::string> ServedFiles::add(Grant grant) {
  if (!is_plain(grant.name))
    return Error{Code::kInvalid, "an image's name may have letters, digits and ._- only: '" +
                                     printable(grant.name) + "'"};
  const int fd = ::open(grant.file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return Error{errno == ENOENT ? Code::kNotFound : Code::kInvalid,
                 grant.file + ": " + std::strerror(errno)};
  struct stat told{};
  const bool regular = ::fstat(fd, &told) == 0 && S_ISREG(told.st_mode);
  const auto size = static_cast<std::uint64_t>(told.st_size);
  auto path = "/" + random_hex(kTokenBytes) + "/" + grant.name;
  auto file = std::make_shared<ServedFile>(fd, size, std::move(grant));
  if (!regular) return Error{Code::kInvalid, file->grant.file + " is not a regular file"};
  const std::scoped_lock lock{mutex_};
  forget_old();
  if (files_.size() >= kMost)
    return Error{Code::kConflict, "too many images are being served: " + std::to_string(kMost)};
  files_.emplace(path, std::move(file));
  return path;
}

void ServedFiles::revoke(std::string_view path) {
  const std::scoped_lock lock{mutex_};
  const auto at = files_.find(path);
  if (at == files_.end()) return;
  at->second->revoked = true;
  files_.erase(at);
}

std::shared_ptr<ServedFile> ServedFiles::find(std::string_view path,
                                              const asio::ip::address& peer) {
  const std::scoped_lock lock{mutex_};
  const auto at = files_.find(path);
  if (at == files_.end() || at->second->is_over()) return nullptr;
  const auto& only = at->second->grant.peer;
  return !only || *only == peer ? at->second : nullptr;
}

void ServedFiles::forget_old() {
  std::erase_if(files_, [](const auto& entry) { return entry.second->is_over(); });
}

}  // namespace cupel::images
