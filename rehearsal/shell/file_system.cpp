#include "rehearsal/shell/file_system.h"

#include <cerrno>

#include "base/text.h"

namespace cupel::rehearsal {

namespace {

/// The first name of a path, which points into it; empty where there is none.
std::string_view first_part(std::string_view path) {
  const auto begin = path.find_first_not_of('/');
  if (begin == path.npos) return {};
  return path.substr(begin, path.find('/', begin) - begin);
}

/// What follows such a name.
std::string_view behind(std::string_view path, std::string_view part) {
  return path.substr(static_cast<std::size_t>(part.data() - path.data()) + part.size());
}

}  // namespace

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
  std::string clean;
  const auto append = [&clean](std::string_view more) {
    for (auto part = first_part(more); !part.empty(); part = first_part(more)) {
      more = behind(more, part);
      if (part == ".") continue;
      if (part == "..") {
        clean.resize(clean.empty() ? 0 : clean.rfind('/'));
        continue;
      }
      clean += '/';
      clean += part;
    }
  };
  if (!path.starts_with('/')) append(folder);
  append(path);
  return clean.empty() ? "/" : clean;
}

FileSystem::Place FileSystem::walk(std::string_view path, bool follow, int links,
                                   std::string* real) const {
  constexpr int kMostLinks = 16;
  if (links > kMostLinks) return {.error = ELOOP};
  Place here{.node = root_};
  auto rest = path;
  for (auto part = first_part(rest); !part.empty(); part = first_part(rest)) {
    if (!here.node) return {.error = ENOENT};
    if (!here.node->is_folder()) return {.error = ENOTDIR};
    const auto before = path.substr(0, static_cast<std::size_t>(part.data() - path.data()));
    rest = behind(rest, part);
    here.folder = std::move(here.node);
    here.name = part;
    const auto entry = here.folder->entries.find(part);
    here.node = entry == here.folder->entries.end() ? nullptr : entry->second;
    const bool last = first_part(rest).empty();
    if (here.node && here.node->kind == Inode::Kind::link && (!last || follow)) {
      auto target = absolute(before, here.node->bytes);
      target += rest;
      return walk(target, follow, links + 1, real);
    }
  }
  if (real) *real = here.node ? absolute("/", path) : "";
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
  for (auto part = first_part(path); !part.empty(); part = first_part(path)) {
    path = behind(path, part);
    auto entry = here->entries.find(part);
    if (entry == here->entries.end())
      entry = here->entries.emplace(part, make(Inode::Kind::folder, 0755, 0)).first;
    here = entry->second;
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
  auto [folder, name] = parted(path);
  return put_generated(*make_folders(folder), std::move(name), std::move(generate));
}

InodePtr FileSystem::put_generated(Inode& folder, std::string name,
                                   std::function<std::string()> generate) {
  auto& entry = folder.entries[std::move(name)];
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

void FileSystem::forget_tree(const InodePtr& node) {
  forget(node);
  for (const auto& [name, entry] : node->entries) forget_tree(entry);
  node->entries.clear();
}

void FileSystem::remove_tree(std::string_view path) {
  const auto where = place(path, false);
  if (!where.node) return;
  forget_tree(where.node);
  if (where.folder) where.folder->entries.erase(where.name);
}

bool FileSystem::write(Inode& file, std::uint64_t at, std::string_view bytes, double now) {
  const bool counted = file.number != 0;
  const auto end = at + bytes.size();
  if (end > file.bytes.size()) {
    const auto more = end - file.bytes.size();
    if (full_ || used_ + more > limit_) return false;
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
