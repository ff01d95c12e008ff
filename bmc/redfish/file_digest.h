#pragma once
// The SHA-256 of a file that is sent to many BMCs at the same time, computed once: whoever comes to
// a piece first adds it to the digest, and the others must have read the same bytes. Knows no file.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/keyed_tags.h"

namespace cupel::bmc::redfish {

/// Used from the threads of all who read the file.
class FileDigest {
 public:
  /// The digest of this file as it was checked (`file`: all that tells it from another one), which
  /// all that read it at the same time have together.
  static std::shared_ptr<FileDigest> of(const std::string& file);

  /// Pieces come in order, each as long as for everybody else. False: this reader's piece is
  /// another one than the others'.
  bool add(std::size_t number, std::string_view bytes);
  /// Of all pieces, once the last one was added by whomever.
  const std::string& hex();

 private:
  KeyedTags keyed_{};
  std::mutex mutex_{};
  // Under the mutex:
  Sha256 sum_{};
  std::vector<KeyedTags::Tag> tags_{};  // of the pieces that are in `sum_`
  std::optional<std::string> hex_{};
};

}  // namespace cupel::bmc::redfish
