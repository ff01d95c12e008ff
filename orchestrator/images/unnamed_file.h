#pragma once
// A file without a name: nobody else can open it, and it is gone with the last who holds it. For
// bytes that were checked as they were written, and are handed out later.
#include <filesystem>
#include <string_view>

#include "orchestrator/images/open_file.h"

namespace cupel::images {

class UnnamedFile {
 public:
  /// On the disk of `folder`, which must exist. Errors: kStorage.
  static Result<UnnamedFile> make(const std::filesystem::path& folder);
  UnnamedFile(UnnamedFile&& other) noexcept;
  UnnamedFile& operator=(UnnamedFile&&) = delete;
  ~UnnamedFile();

  /// Errors: kStorage: the disk is full.
  Result<void> append(std::string_view bytes);
  /// To be read from now on, by the name `name` in messages. Errors: kStorage.
  Result<OpenFile::Ptr> finish(const std::string& name);

 private:
  explicit UnnamedFile(int fd, std::filesystem::path folder)
      : fd_{fd}, folder_{std::move(folder)} {}

  int fd_;
  std::filesystem::path folder_;
};

}  // namespace cupel::images
