#pragma once
// What one console has said, on disk and bounded: its beginning and its end. Not the journal:
// nothing depends on it, and a disk that is full costs the recording and nothing else.
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::console {

struct LogLimits {
  std::size_t beginning = 256u << 10;  // bytes that are kept for ever
  std::size_t piece = 384u << 10;      // of the end, at least this and at most twice this is kept
};

/// Files NAME.1.log (the beginning), NAME.2.log and NAME.3.log (the end, in this order), in a
/// folder that only we may read. Goes on where an earlier process has stopped.
class BoundedLog {
 public:
  BoundedLog(std::filesystem::path folder, std::string_view name, LogLimits limits = {});

  /// In the file when it returns, as far as the kernel is concerned. Errors: kStorage.
  Result<void> append(std::string_view bytes);

 private:
  std::filesystem::path file(int which) const;
  int open_file(const std::filesystem::path& path);
  void make_folder();
  Result<void> write(int which, std::string_view bytes);

  std::filesystem::path folder_;
  std::string name_;
  LogLimits limits_;
  bool is_made_ = false;  // its folder
};

struct LogFile {
  std::filesystem::path file;
  std::uintmax_t bytes = 0;
};

/// What there is of `name`, in the order of time.
std::vector<LogFile> log_files(const std::filesystem::path& folder, std::string_view name);

/// Where the consoles of one run are recorded: "evidence/console/run-12" in the state's folder.
std::filesystem::path console_folder(const std::filesystem::path& state, std::int64_t run);

}  // namespace cupel::console
