#include "orchestrator/images/served_files.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"

namespace cupel::images {
namespace {

/// 128 bits.
constexpr std::size_t kTokenBytes = 16;
constexpr std::size_t kLongestName = 128;

bool is_plain(std::string_view name) {
  const auto plain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         std::ranges::all_of(name, plain);
}

}  // namespace

Result<std::string> ServedFiles::add(Grant grant) {
  if (!is_plain(grant.name))
    return Error{Code::kInvalid, "an image's name may have letters, digits and ._- only: '" +
                                     printable(grant.name) + "'"};
  auto opened = grant.opened;
  if (!opened) {
    TRY(opened, OpenFile::open(grant.file));
  }
  auto path = "/" + random_hex(kTokenBytes) + "/" + grant.name;
  auto file = std::make_shared<ServedFile>(std::move(opened), std::move(grant));
  const std::scoped_lock lock{mutex_};
  forget_old();
  if (files_.size() >= kMost)
    return Error{Code::kConflict, "too many images are being served: " + std::to_string(kMost)};
  files_.emplace(path, std::move(file));
  return path;
}

void ServedFiles::revoke(std::string_view path) {
  const std::scoped_lock lock{mutex_};
  const auto at = files_.find(path);
  if (at == files_.end()) return;
  at->second->revoked = true;
  files_.erase(at);
}

std::shared_ptr<ServedFile> ServedFiles::find(std::string_view path,
                                              const asio::ip::address& peer) {
  const std::scoped_lock lock{mutex_};
  const auto at = files_.find(path);
  if (at == files_.end() || at->second->is_over()) return nullptr;
  const auto& only = at->second->grant.peer;
  return !only || *only == peer ? at->second : nullptr;
}

void ServedFiles::forget_old() {
  std::erase_if(files_, [](const auto& entry) { return entry.second->is_over(); });
}

}  // namespace cupel::images
