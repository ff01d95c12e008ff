#pragma once
// Diagnostic data of one BMC, collected and brought here: to a folder, or into memory. What is done
// with it is the command's.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmc/bmc.h"

namespace cupel::cli {

inline constexpr std::string_view kUsualDiagnostics = "Manager";

/// A file that came whole.
struct CollectedFile {
  std::string service{};  // URI of the log service
  std::string entry{};    // URI of its log entry
  std::string name{};     // of ours: "a01-n07-Managers-HGX_BMC_0-Dump-3-20261121T101500Z.xz"
  std::uint64_t bytes = 0;
  std::string sha256{};
};

/// Where the files of a collection go, one after the other.
class DiagnosticFiles {
 public:
  virtual ~DiagnosticFiles() = default;
  /// A new one, of which `name` has no extension yet. What was not ended is dropped.
  /// Errors: kInvalid, kStorage.
  virtual Result<void> begin(const std::string& name) = 0;
  virtual Result<void> add(std::string_view piece) = 0;
  /// It is whole, and is to be called so.
  virtual Result<void> end(const std::string& name) = 0;
};

/// What one BMC gave.
struct Collected {
  std::vector<CollectedFile> files{};
  std::vector<std::string> failures{};  // of services, and of files: the others came
};

/// Files of one BMC that are fetched.
inline constexpr std::size_t kMostDiagnosticFiles = 32;

/// Asks every log service that offers `type` (see bmc::diagnostic_orders) for its data, follows its
/// task, and brings each file, of at most `most` bytes, to `into`, each under a name of its own.
/// What is over kMostDiagnosticFiles is among the failures. Errors: as
/// facet::Diagnostics::offered, bmc::diagnostic_orders; kCancelled; kFailed with all failures where
/// no file came.
Task<Result<Collected>> collect_diagnostics(const bmc::Bmc& bmc, std::string node, std::string type,
                                            std::uint64_t most, DiagnosticFiles& into,
                                            Deadline deadline);

/// Into a folder, for its owner alone (0600): "NAME.part" until it is whole. The folder is made
/// where there is none, for its owner alone; one that another user can change is refused, and so
/// is a name that is taken.
class FilesInFolder final : public DiagnosticFiles {
 public:
  explicit FilesInFolder(std::string folder) : folder_{std::move(folder)} {}
  FilesInFolder(const FilesInFolder&) = delete;
  FilesInFolder& operator=(const FilesInFolder&) = delete;
  ~FilesInFolder() override { drop(); }

  /// Whether the folder may be written to, or made. Errors: as check_ownership(); kStorage.
  Result<void> check() const;
  Result<void> begin(const std::string& name) override;
  Result<void> add(std::string_view piece) override;
  Result<void> end(const std::string& name) override;

 private:
  void drop();

  std::string folder_;
  std::string part_{};  // path of what is being written; empty: nothing
  int fd_ = -1;
};

/// ".gz", ".xz", ".zst" or ".zip" by a file's first bytes, else ".bin".
std::string_view extension_of(std::string_view beginning);

/// "a01-n07-Managers-HGX_BMC_0-Dump-3-20261121T101500Z": of letters, digits and -._ alone.
std::string name_of_diagnostics(std::string_view node, std::string_view entry,
                                std::chrono::sys_seconds time);

}  // namespace cupel::cli
