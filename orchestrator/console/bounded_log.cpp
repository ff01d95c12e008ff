#include "orchestrator/console/bounded_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cupel::console {
namespace {

constexpr int kPieces = 3;

/// A node's name as a file's: it may not lead anywhere.
std::string file_name(std::string_view name) {
  std::string safe{name};
  std::ranges::replace(safe, '/', '_');
  if (safe.starts_with('.')) safe.front() = '_';
  return safe;
}

std::filesystem::path piece(const std::filesystem::path& folder, std::string_view name, int which) {
  return folder / fmt::format("{}.{}.log", file_name(name), which);
}

std::size_t size_of(const std::filesystem::path& file) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(file, failure);
  return failure ? 0 : static_cast<std::size_t>(size);
}

Error failed(const std::filesystem::path& file) {
  return Error{Code::kStorage, "cannot record to " + file.string() + ": " + std::strerror(errno)};
}

}  // namespace

BoundedLog::BoundedLog(std::filesystem::path folder, std::string_view name, LogLimits limits)
    : folder_{std::move(folder)}, name_{name}, limits_{limits} {}

std::filesystem::path BoundedLog::file(int which) const { return piece(folder_, name_, which); }

void BoundedLog::make_folder() {
  std::error_code failure;
  const auto above = folder_.parent_path();
  if (std::filesystem::create_directories(above, failure))
    std::filesystem::permissions(above, std::filesystem::perms::owner_all, failure);
  std::filesystem::create_directories(folder_, failure);
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, failure);
  is_made_ = true;
}

/// Its folder is made once, and again where somebody took it away. -1 and errno: it cannot be.
int BoundedLog::open_file(const std::filesystem::path& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  constexpr mode_t kMode = 0600;
  if (!is_made_) make_folder();
  const int fd = ::open(path.c_str(), kFlags, kMode);
  if (fd >= 0 || errno != ENOENT) return fd;
  make_folder();
  return ::open(path.c_str(), kFlags, kMode);
}

Result<void> BoundedLog::write(int which, std::string_view bytes) {
  const auto path = file(which);
  const int fd = open_file(path);
  if (fd < 0) return failed(path);
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      auto error = failed(path);
      ::close(fd);
      return error;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  ::close(fd);
  return ok();
}

Result<void> BoundedLog::append(std::string_view bytes) {
  std::error_code failure;
  const auto first = size_of(file(1));
  const auto to_first =
      first < limits_.beginning ? std::min(bytes.size(), limits_.beginning - first) : 0;
  if (to_first > 0) {
    TRY(write(1, bytes.substr(0, to_first)));
    bytes.remove_prefix(to_first);
  }
  while (!bytes.empty()) {
    const auto last = size_of(file(kPieces));
    if (last >= limits_.piece) {
      std::filesystem::rename(file(kPieces), file(2), failure);
      if (failure) return Error{Code::kStorage, "cannot turn over " + file(kPieces).string()};
      continue;
    }
    const auto size = std::min(bytes.size(), limits_.piece - last);
    TRY(write(kPieces, bytes.substr(0, size)));
    bytes.remove_prefix(size);
  }
  return ok();
}

std::vector<LogFile> log_files(const std::filesystem::path& folder, std::string_view name) {
  std::vector<LogFile> found;
  for (int which = 1; which <= kPieces; ++which) {
    auto path = piece(folder, name, which);
    std::error_code failure;
    const auto bytes = std::filesystem::file_size(path, failure);
    if (!failure) found.push_back({std::move(path), bytes});
  }
  return found;
}

std::filesystem::path console_folder(const std::filesystem::path& state, std::int64_t run) {
  return state / "evidence" / "console" / fmt::format("run-{}", run);
}

}  // namespace cupel::console
