#pragma once
// Files that are read or written piece by piece: that what was opened is a file, and a new one that
// takes its place whole or not at all. What fits into memory is file.h's.
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel {

/// That an open descriptor is of a regular file. Open it with O_NONBLOCK: of a pipe open(2) may
/// never end, and of /dev/zero reading. `name`: as errors name it. Errors: kInvalid: it is a
/// folder, a pipe, a device or a socket, or cannot be looked at.
Result<void> check_regular(int descriptor, const std::filesystem::path& name);

/// A file beside the one whose place it takes, under a name that nobody knows beforehand: never
/// through a link, nor into a file that somebody else has put there.
class NewFile {
 public:
  /// Errors: kStorage: it cannot be made, or the place is taken by what is no file.
  static Result<NewFile> beside(const std::filesystem::path& file, unsigned mode);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  /// Removes it, unless it has taken the place.
  ~NewFile();

  /// Errors: kStorage.
  Result<void> write(std::string_view bytes);
  /// Durable, and then under its name. Once. Errors: kStorage.
  Result<void> take_place();

 private:
  NewFile(int descriptor, std::filesystem::path file, std::filesystem::path fresh)
      : descriptor_{descriptor}, file_{std::move(file)}, fresh_{std::move(fresh)} {}

  int descriptor_;
  std::filesystem::path file_, fresh_;  // fresh_: empty once it has taken the place
};

}  // namespace cupel
