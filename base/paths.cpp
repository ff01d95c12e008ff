#include "base/paths.h"

namespace cupel {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code failure;
  return fs::exists(path, failure);
}

bool is_folder(const fs::path& path) {
  std::error_code failure;
  return fs::is_directory(path, failure);
}

bool is_pipe(const fs::path& path) {
  std::error_code failure;
  return fs::is_fifo(path, failure);
}

std::optional<std::string> absence(const fs::path& path) {
  std::error_code failure;
  const auto found = fs::status(path, failure);
  if (found.type() == fs::file_type::not_found) return "there is no file " + path.string();
  if (!failure) return std::nullopt;
  return path.string() + " cannot be looked at: " + failure.message();
}

std::optional<std::string> why_no_file(const fs::path& path) {
  if (auto why = absence(path)) return why;
  std::error_code failure;
  if (fs::is_regular_file(path, failure)) return std::nullopt;
  return path.string() + " is a folder, a pipe or a device: name a file";
}

fs::path absolute_path(const fs::path& path) {
  std::error_code failure;
  auto whole = fs::absolute(path, failure);
  return failure ? path : whole;
}

fs::path path_from(const fs::path& folder, const fs::path& name) {
  return absolute_path(folder / name).lexically_normal();
}

fs::path working_folder() {
  std::error_code failure;
  auto folder = fs::current_path(failure);
  return failure ? fs::path{"."} : folder;
}

fs::path temporary_folder() {
  std::error_code failure;
  auto folder = fs::temp_directory_path(failure);
  return failure ? fs::path{"/tmp"} : folder;
}

}  // namespace cupel
