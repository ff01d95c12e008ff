#include "burnin/agent/common/small_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/common/json_line.h"

namespace cupel::agent {
namespace {

Error by_errno(const std::string& path) {
  const int why = errno;
  const bool absent = why == ENOENT || why == ENOTDIR || why == ENODEV || why == ENXIO;
  return Error{absent ? Code::kNotFound : Code::kFailed, path + ": " + std::strerror(why)};
}

}  // namespace

Result<std::string> read_small(const std::string& path, std::size_t limit) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file) return by_errno(path);
  std::string content;
  char piece[8192];
  for (;;) {
    const auto got = ::read(file.number(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return by_errno(path);
    if (got == 0) return content;
    content.append(piece, static_cast<std::size_t>(got));
    if (content.size() > limit)
      return Error{Code::kMalformed, path + ": longer than " + std::to_string(limit) + " bytes"};
  }
}

std::optional<std::string> read_word(const std::string& path) {
  const auto content = read_small(path);
  if (!content) return std::nullopt;
  return std::string{trimmed(*content)};
}

std::vector<std::string> names_in(const std::string& folder, std::size_t limit) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open{::opendir(folder.c_str()), ::closedir};
  if (!open) return names;
  while (const auto* entry = ::readdir(open.get())) {
    const std::string_view name{entry->d_name};
    if (name == "." || name == "..") continue;
    if (names.size() == limit) break;
    names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::optional<std::string> link_target(const std::string& path) {
  std::string target(4096, '\0');
  const auto length = ::readlink(path.c_str(), target.data(), target.size());
  if (length < 0 || static_cast<std::size_t>(length) == target.size()) return std::nullopt;
  target.resize(static_cast<std::size_t>(length));
  return target;
}

Result<void> write_durably(const std::string& path, std::string_view content) {
  const auto part = path + ".part";
  {
    const Descriptor file{
        ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644)};
    if (!file) return by_errno(part);
    if (!write_all(file.number(), content)) return by_errno(part);
    if (::fsync(file.number()) != 0) return by_errno(part);
  }
  if (::rename(part.c_str(), path.c_str()) != 0) return by_errno(path);
  const auto folder = path.substr(0, path.rfind('/') + 1);
  const Descriptor above{::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC)};
  if (above) ::fsync(above.number());
  return ok();
}

}  // namespace cupel::agent
