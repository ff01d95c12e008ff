#include "rehearsal/shell/file_system.h"

#include <cerrno>

#include "base/text.h"

namespace cupel::rehearsal {

std::string Inode::content() const {
  if (kind == Kind::generated) return generate();
  if (kind != Kind::file) return {};
  std::string all = bytes;
  constexpr std::uint64_t kZerosToShow = 16u << 20;  // a sparse file of terabytes is not read whole
  if (size > all.size()) all.resize(std::min(size, all.size() + kZerosToShow), '\0');
  return all;
}

std::uint64_t Inode::length() const {
  switch (kind) {
    case Kind::file:
      return size;
    case Kind::link:
      return bytes.size();
    case Kind::generated:
      return 0;  // as /proc and /sys say it
    case Kind::folder:
      return 4096;
    case Kind::device:
      return 0;
  }
  return 0;
}

FileSystem::FileSystem(std::uint64_t limit) : limit_{limit} {
  root_ = std::make_shared<Inode>();
  root_->kind = Inode::Kind::folder;
  root_->mode = 0755;
  root_->number = 1;
}

std::string FileSystem::absolute(std::string_view folder, std::string_view path) {
  std::string joined =
      path.starts_with('/') ? std::string{path} : std::string{folder} + "/" + std::string{path};
  std::vector<std::string_view> parts;
  for (const auto part : split(joined, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
      continue;
    }
    parts.push_back(part);
  }
  std::string clean;
  for (const auto part : parts) clean += "/" + std::string{part};
  return clean.empty() ? "/" : clean;
}

FileSystem::Place FileSystem::walk(std::string_view path, bool follow, int links,
                                   std::string* real) const {
  constexpr int kMostLinks = 16;
  if (links > kMostLinks) return {.error = ELOOP};
  Place here{.node = root_};
  std::string so_far;
  auto parts = split(path, '/');
  std::erase_if(parts, [](std::string_view part) { return part.empty(); });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!here.node) return {.error = ENOENT};
    if (!here.node->is_folder()) return {.error = ENOTDIR};
    here.folder = here.node;
    here.name = parts[i];
    const auto entry = here.folder->entries.find(here.name);
    here.node = entry == here.folder->entries.end() ? nullptr : entry->second;
    const bool last = i + 1 == parts.size();
    if (here.node && here.node->kind == Inode::Kind::link && (!last || follow)) {
      auto target = absolute(so_far.empty() ? "/" : so_far, here.node->bytes);
      for (std::size_t rest = i + 1; rest < parts.size(); ++rest)
        target += "/" + std::string{parts[rest]};
      return walk(target, follow, links + 1, real);
    }
    so_far += "/" + here.name;
  }
  if (real) *real = here.node ? (so_far.empty() ? "/" : so_far) : "";
  return here;
}

InodePtr FileSystem::find(std::string_view path, bool follow) const {
  return walk(path, follow, 0, nullptr).node;
}

FileSystem::Place FileSystem::place(std::string_view path, bool follow) const {
  return walk(path, follow, 0, nullptr);
}

std::string FileSystem::real_path(std::string_view path) const {
  std::string real;
  walk(path, true, 0, &real);
  return real;
}

InodePtr FileSystem::make(Inode::Kind kind, unsigned mode, double now) {
  auto node = std::make_shared<Inode>();
  node->kind = kind;
  node->mode = mode;
  node->modified = now;
  node->number = next_++;
  return node;
}

InodePtr FileSystem::make_file(const Place& place, unsigned mode, double now) {
  auto node = make(Inode::Kind::file, mode, now);
  place.folder->entries[place.name] = node;
  return node;
}

InodePtr FileSystem::make_folder(const Place& place, unsigned mode, double now) {
  auto node = make(Inode::Kind::folder, mode, now);
  place.folder->entries[place.name] = node;
  return node;
}

InodePtr FileSystem::make_folders(std::string_view path) {
  auto here = root_;
  for (const auto part : split(path, '/')) {
    if (part.empty()) continue;
    auto& entry = here->entries[std::string{part}];
    if (!entry) entry = make(Inode::Kind::folder, 0755, 0);
    here = entry;
  }
  return here;
}

namespace {
std::pair<std::string_view, std::string> parted(std::string_view path) {
  const auto slash = path.rfind('/');
  return {path.substr(0, slash), std::string{path.substr(slash + 1)}};
}
}  // namespace

InodePtr FileSystem::put(std::string_view path, std::string bytes, unsigned mode) {
  const auto [folder, name] = parted(path);
  auto& entry = make_folders(folder)->entries[name];
  if (entry) forget(entry);
  entry = make(Inode::Kind::file, mode, 0);
  entry->size = bytes.size();
  used_ += bytes.size();
  entry->bytes = std::move(bytes);
  return entry;
}

InodePtr FileSystem::put_generated(std::string_view path, std::function<std::string()> generate) {
  const auto [folder, name] = parted(path);
  auto& entry = make_folders(folder)->entries[name];
  entry = make(Inode::Kind::generated, 0444, 0);
  entry->generate = std::move(generate);
  return entry;
}

InodePtr FileSystem::put_link(std::string_view path, std::string target) {
  const auto [folder, name] = parted(path);
  auto& entry = make_folders(folder)->entries[name];
  entry = make(Inode::Kind::link, 0777, 0);
  entry->bytes = std::move(target);
  return entry;
}

void FileSystem::forget(const InodePtr& node) {
  // A file that is still open lives on without a name; it no longer counts.
  if (node->kind != Inode::Kind::file || node->number == 0) return;
  used_ -= node->bytes.size();
  node->number = 0;
}

void FileSystem::remove(const Place& place) {
  const auto entry = place.folder->entries.find(place.name);
  if (entry == place.folder->entries.end()) return;
  forget(entry->second);
  place.folder->entries.erase(entry);
}

void FileSystem::remove_tree(std::string_view path) {
  const auto where = place(path, false);
  if (!where.node) return;
  if (where.node->is_folder()) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : where.node->entries) names.push_back(name);
    for (const auto& name : names) remove_tree(std::string{path} + "/" + name);
  }
  if (where.folder) remove(where);
}

bool FileSystem::write(Inode& file, std::uint64_t at, std::string_view bytes, double now) {
  const bool counted = file.number != 0;
  const auto end = at + bytes.size();
  if (end > file.bytes.size()) {
    const auto more = end - file.bytes.size();
    if (used_ + more > limit_) return false;
    if (counted) used_ += more;
    file.bytes.resize(end, '\0');
  }
  file.bytes.replace(at, bytes.size(), bytes);
  file.size = std::max(file.size, end);
  file.modified = now;
  return true;
}

void FileSystem::truncate(Inode& file, std::uint64_t size, double now) {
  if (file.bytes.size() > size) {
    if (file.number != 0) used_ -= file.bytes.size() - size;
    file.bytes.resize(size);
  }
  file.size = size;
  file.modified = now;
}

}  // namespace cupel::rehearsal
