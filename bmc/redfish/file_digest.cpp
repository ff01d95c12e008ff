#include "bmc/redfish/file_digest.h"

#include <map>

namespace cupel::bmc::redfish {

std::shared_ptr<FileDigest> FileDigest::of(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<FileDigest>> known;
  const std::lock_guard lock{mutex};
  std::erase_if(known, [](const auto& one) { return one.second.expired(); });
  auto& kept = known[file];
  auto digest = kept.lock();
  if (!digest) kept = digest = std::make_shared<FileDigest>();
  return digest;
}

bool FileDigest::add(std::size_t number, std::string_view bytes) {
  const auto tag = keyed_.of(number, bytes);
  const std::lock_guard lock{mutex_};
  if (number < tags_.size()) return tags_[number] == tag;
  if (number > tags_.size() || hex_) return false;
  sum_.add(bytes);
  tags_.push_back(tag);
  return true;
}

const std::string& FileDigest::hex() {
  const std::lock_guard lock{mutex_};
  if (!hex_) hex_ = sum_.hex();
  return *hex_;
}

}  // namespace cupel::bmc::redfish
