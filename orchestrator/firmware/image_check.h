#pragma once
// Whether an image may be written to a machine: it is listed in the site's signed manifest, and its
// file is what the manifest says. Fails closed: whatever cannot be checked is not written.
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "base/task.h"
#include "bmc/bmc_limits.h"
#include "bmc/update.h"
#include "inventory/image_manifest.h"
#include "inventory/image_trust.h"
#include "orchestrator/firmware/firmware_plan.h"
#include "orchestrator/images/disk_threads.h"

namespace cupel::firmware {

/// The manifest, once its signature is checked. Reads small files, and blocks for them.
/// Errors: kUntrusted for a manifest that is not there, can be changed by other users, or is not
/// signed with the site's key, however that shows; kInvalid for mistakes in it. That no second
/// person has approved it is none: ImageManifest::unapproved.
Result<inventory::ImageManifest> read_manifest(const std::optional<inventory::ImageTrust>& trust);

/// Why the update needs the approval of a second person, and has none; empty: nothing is against
/// it. A version that is not known to be a later one is a downgrade.
std::string lacks_approval(const FirmwareUpdate& update, const inventory::ImageManifest& manifest);

/// What tells one state of a file from another.
struct FileState {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t modified = 0, changed = 0;  // nanoseconds
  friend auto operator<=>(const FileState&, const FileState&) = default;
};

/// A file is read on threads of its own, once for each state of it: the digest is checked again
/// while the image is sent. A disk that hangs keeps only those waiting who need its files.
class ImageChecker {
 public:
  /// Nothing: the inventory names no manifest, and nothing may be written.
  explicit ImageChecker(std::optional<inventory::ImageTrust> trust,
                        images::DiskThreads::Limits disk = {},
                        images::DiskThreads::Read read = &images::OpenFile::read)
      : trust_{std::move(trust)}, disk_{disk, std::move(read)} {}

  /// So many bytes of copies there are at once.
  static constexpr std::uint64_t kMostCopied = 32ull << 30;
  ImageChecker(const ImageChecker&) = delete;
  ImageChecker& operator=(const ImageChecker&) = delete;

  /// What is to be sent. An update that names no image is sent the manifest's of its version.
  /// Errors: kUntrusted; kInvalid; kNotFound for a file that is not there;
  /// kTimeout for one that was not read in time, or whose disk hangs; kCancelled.
  Task<Result<bmc::UpdateOrder>> check(FirmwareUpdate update, bmc::Identity machine,
                                       std::chrono::sys_seconds now, Deadline deadline);

  /// An image whole, one copy for all who hold it at the time. Errors: kUntrusted where it has not
  /// this SHA-256; kInvalid where it is larger than 256 MiB; else as check().
  Task<Result<std::shared_ptr<const std::string>>> whole(std::string file, std::string sha256,
                                                         Deadline deadline);

  /// A copy of the image that nobody can change: hashed as it was copied, without a name, on the
  /// disk of `folder`, which is made; one for all who hold it at the time. Errors: kUntrusted where
  /// it has not this SHA-256; kStorage; kInvalid where there would be more than kMostCopied bytes;
  /// else as check().
  Task<Result<images::OpenFile::Ptr>> copy(std::string file, std::string sha256,
                                           std::filesystem::path folder, Deadline deadline);

 private:
  Task<Result<images::OpenFile::Ptr>> write_copy(images::OpenFile::Ptr file, std::string sha256,
                                                 std::filesystem::path folder, Deadline deadline);
  std::uint64_t bytes_of_copies() const;
  Task<Result<std::string>> read_whole(images::OpenFile::Ptr file, std::string sha256,
                                       Deadline deadline);
  std::shared_ptr<bmc::Semaphore> turn_of(const std::string& file);
  /// The file is what is listed.
  Task<Result<void>> hold_against(inventory::ListedImage listed, std::string file,
                                  Deadline deadline);
  Task<Result<std::string>> digest_of(images::OpenFile::Ptr file, Deadline deadline);
  /// The file piece by piece, to its end, or until `take` refuses one.
  Task<Result<void>> read_pieces(images::OpenFile::Ptr file,
                                 std::function<Result<void>(std::string_view)> take,
                                 Deadline deadline);

  std::optional<inventory::ImageTrust> trust_;
  std::map<FileState, std::string> known_{};                               // digests
  std::map<std::string, std::weak_ptr<const std::string>> held_{};         // whole, by digest
  std::map<std::string, std::weak_ptr<const images::OpenFile>> copies_{};  // by digest
  std::uint64_t being_copied_ = 0;                                         // bytes
  std::map<std::string, std::shared_ptr<bmc::Semaphore>> turns_{};         // of files: one reads it
  images::DiskThreads disk_;
};

}  // namespace cupel::firmware
