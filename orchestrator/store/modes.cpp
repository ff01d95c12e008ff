#include "orchestrator/store/modes.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/paths.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;

/// True if others could do something with it.
bool was_open(const fs::path& path) {
  std::error_code failure;
  const auto status = fs::symlink_status(path, failure);
  const bool ours = !failure && (fs::is_directory(status) || fs::is_regular_file(status));
  return ours &&
         (status.permissions() & (fs::perms::group_all | fs::perms::others_all)) != fs::perms::none;
}

void close_one(const fs::path& path) {
  std::error_code failure;
  if (was_open(path))
    fs::permissions(path, fs::perms::group_all | fs::perms::others_all, fs::perm_options::remove,
                    failure);
}

}  // namespace

bool make_private_folder(const fs::path& folder) {
  std::error_code failure;
  const bool fresh = fs::create_directory(folder, failure);
  if (fresh) fs::permissions(folder, fs::perms::owner_all, failure);
  return fresh;
}

void close_to_others(const fs::path& state) {
  const auto file = state / "cupel.db";
  constexpr mode_t kOwnerOnly = 0600;
  const int made = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
  if (made >= 0) {
    ::close(made);
    make_private_folder(state / "evidence");
  }
  for (const auto* suffix : {"", "-wal", "-shm"}) close_one(file.string() + suffix);
  close_evidence(state);
}

void close_evidence(const fs::path& state) {
  const auto evidence = state / "evidence";
  if (!was_open(evidence)) return;
  each_entry(evidence, [](const auto& drawer) { close_one(drawer.path()); });
  close_one(evidence);
}

}  // namespace cupel::store
