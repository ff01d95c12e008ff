#include "rehearsal/tools/virtual_settings.h"

#include "rehearsal/shell/host.h"
#include "rehearsal/shell/program.h"

namespace cupel::rehearsal {
namespace {

Error failed(const std::string& path, const std::string& why) {
  return {Code::kFailed, path + ": " + why};
}

}  // namespace

std::string VirtualSettings::unsafe(const std::string& path) const {
  const auto node = process_.disk().find(path, false);
  return node && node->kind == Inode::Kind::link ? path + " is a symbolic link" : "";
}

Result<void> VirtualSettings::make_folder(const std::string& path) {
  const auto node = process_.disk().find(path);
  if (node && !node->is_folder()) return failed(path, "Not a directory");
  if (!node) process_.disk().make_folders(path);
  return ok();
}

Result<std::string> VirtualSettings::read(const std::string& path) const {
  const auto node = process_.disk().find(path, false);
  if (!node) return Error{Code::kNotFound, path + ": No such file or directory"};
  if (node->kind != Inode::Kind::file) return failed(path, "it is no file");
  return node->content();
}

Result<void> VirtualSettings::replace(const std::string& path, std::string_view text) {
  return put(path, std::string{text}, 0644);
}

void VirtualSettings::remove(const std::string& path) {
  const auto place = process_.disk().place(path, false);
  if (place.folder) process_.disk().remove(place);
}

/// What the machine runs as the tool of that name, as what was brought to it is.
Result<void> VirtualSettings::keep_program(const std::string& path) {
  return put(path, std::string{kProgramMark} + " cupel-node", 0700);
}

Result<void> VirtualSettings::set(const std::string& path, std::string_view value) {
  const auto node = process_.disk().find(path);
  if (!node) return Error{Code::kFailed, "No such file or directory"};
  if (node->kind != Inode::Kind::file) return Error{Code::kFailed, "Permission denied"};
  auto& disk = process_.disk();
  disk.truncate(*node, 0, process_.now());
  const bool written = disk.write(*node, 0, std::string{value} + "\n", process_.now());
  return written ? ok() : Result<void>{Error{Code::kFailed, "No space left on device"}};
}

std::int64_t VirtualSettings::now() const { return static_cast<std::int64_t>(process_.now()); }

Result<void> VirtualSettings::put(const std::string& path, std::string text, unsigned mode) {
  auto& disk = process_.disk();
  if (disk.place(path, false).error != 0) return failed(path, "No such file or directory");
  if (disk.full() || disk.used() + text.size() > disk.limit())
    return failed(path, "No space left on device");
  disk.put(path, std::move(text), mode)->modified = process_.now();
  return ok();
}

}  // namespace cupel::rehearsal
