#pragma once
// Whether an image may be written to a machine: it is listed in the site's signed manifest, and its
// file is what the manifest says. Fails closed: whatever cannot be checked is not written.
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <optional>

#include "base/task.h"
#include "bmc/update.h"
#include "inventory/image_manifest.h"
#include "inventory/model.h"
#include "orchestrator/firmware/firmware_plan.h"

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

/// A file's digest is read on a thread of its own, once for each state of the file: whoever sends
/// the image checks the digest again while sending.
class ImageChecker {
 public:
  /// Nothing: the inventory names no manifest, and nothing may be written.
  explicit ImageChecker(std::optional<inventory::ImageTrust> trust) : trust_{std::move(trust)} {}
  ImageChecker(const ImageChecker&) = delete;
  ImageChecker& operator=(const ImageChecker&) = delete;
  /// Waits for a file that is being read.
  ~ImageChecker();

  /// What is to be sent. Errors: kUntrusted; kInvalid; kNotFound for a file that is not there;
  /// kTimeout for one that was not read in time; kCancelled.
  Task<Result<bmc::UpdateOrder>> check(FirmwareUpdate update, bmc::Identity machine,
                                       std::chrono::sys_seconds now, Deadline deadline);

 private:
  /// On the thread: the file is what is listed.
  Task<Result<void>> hold_against(inventory::ListedImage listed, std::string file,
                                  Deadline deadline);

  std::optional<inventory::ImageTrust> trust_;
  std::map<FileState, std::string> known_{};  // digests; of the thread alone
  asio::thread_pool thread_{1};
};

}  // namespace cupel::firmware
