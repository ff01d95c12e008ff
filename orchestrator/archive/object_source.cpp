#include "orchestrator/archive/object_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cupel::archive {

Result<ObjectSource> ObjectSource::of(const ObjectBody& body) {
  ObjectSource source;
  source.bytes_ = body.bytes;
  source.size_ = body.bytes.size();
  if (body.file.empty()) return source;
  source.file_.reset(std::fopen(body.file.c_str(), "rbe"));
  auto* file = source.file_.get();
  const auto end = file != nullptr && ::fseeko(file, 0, SEEK_END) == 0 ? ::ftello(file) : off_t{-1};
  if (end < 0 || !source.seek(0))
    return Error{Code::kStorage,
                 fmt::format("cannot read {}: {}", body.file.string(), std::strerror(errno))};
  source.size_ = static_cast<std::uint64_t>(end);
  return source;
}

std::optional<std::size_t> ObjectSource::read(char* into, std::size_t most) {
  if (file_ != nullptr) {
    const auto got = std::fread(into, 1, most, file_.get());
    if (std::ferror(file_.get()) != 0) return std::nullopt;
    return got;
  }
  const auto piece = bytes_.substr(at_, most);
  std::ranges::copy(piece, into);
  at_ += piece.size();
  return piece.size();
}

bool ObjectSource::seek(std::int64_t offset) {
  if (file_ != nullptr) return ::fseeko(file_.get(), offset, SEEK_SET) == 0;
  at_ = std::min(static_cast<std::size_t>(offset), bytes_.size());
  return true;
}

}  // namespace cupel::archive
