#include "orchestrator/images/unnamed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace cupel::images {
namespace {

constexpr mode_t kOursAlone = 0600;

Error no_copy(const std::filesystem::path& folder) {
  return {Code::kStorage, folder.string() + ": no copy can be written: " + std::strerror(errno)};
}

/// Where the file system knows no file without a name: one whose name is gone at once.
int unlinked_in(const std::filesystem::path& folder) {
  auto name = (folder / "copy-XXXXXX").string();
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) ::unlink(name.c_str());
  return fd;
}

}  // namespace

Result<UnnamedFile> UnnamedFile::make(const std::filesystem::path& folder) {
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, kOursAlone);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) fd = unlinked_in(folder);
  if (fd < 0) return no_copy(folder);
  return UnnamedFile{fd, folder};
}

UnnamedFile::UnnamedFile(UnnamedFile&& other) noexcept
    : fd_{std::exchange(other.fd_, -1)}, folder_{std::move(other.folder_)} {}

UnnamedFile::~UnnamedFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> UnnamedFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return no_copy(folder_);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ok();
}

Result<OpenFile::Ptr> UnnamedFile::finish(const std::string& name) {
  return OpenFile::of(std::exchange(fd_, -1), name);
}

}  // namespace cupel::images
