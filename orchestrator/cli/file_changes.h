#pragma once
// Waits until a file is written or replaced, by inotify(7): nothing is missed from the moment this
// exists, and nothing is looked at again and again.
#include <filesystem>
#include <string>

#include "base/result.h"

namespace cupel::cli {

class FileChanges {
 public:
  /// Errors: kInvalid where the file's folder cannot be watched.
  static Result<FileChanges> of(const std::filesystem::path& file);

  FileChanges(FileChanges&& other) noexcept;
  FileChanges& operator=(FileChanges&&) = delete;
  ~FileChanges();

  /// Until whoever wrote the file has closed it, or another was renamed to its name. False where
  /// nobody reads our standard output any more.
  bool wait();

 private:
  FileChanges(int number, std::string name);
  /// True where one of the changes that came is of the file.
  bool is_ours();

  int number_ = -1;
  std::string name_{};
};

}  // namespace cupel::cli
