#include "orchestrator/ssh/key_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "base/file.h"
#include "base/ownership.h"

namespace cupel::ssh {
namespace {

constexpr std::size_t kKeyLimit = 64 * 1024;

struct Kept {
  std::filesystem::file_time_type written{};
  std::shared_ptr<ssh_key_struct> key;
};

/// libssh calls this only for a key under a passphrase.
int note_passphrase(const char*, char*, size_t, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

/// A key that others may read is no secret any more; one that they may change is theirs. Root gives
/// a service's group its key to read, as all secrets: inventory/check_files.h.
Result<void> check_mode(const std::filesystem::path& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0) return ok();  // reading it says why
  const unsigned open = found.st_mode & 0777u;
  const bool by_group = found.st_uid == 0 && (open & 037u) == 0;
  if ((open & 077u) != 0 && !by_group)
    return Error{Code::kRefused, fmt::format("private key {} is open to others (mode {:04o}); run: "
                                             "chmod 600 {}",
                                             file.string(), open, file.string())};
  auto owned = check_ownership(file);
  if (owned) return ok();
  auto why = std::move(owned).error();
  why.code = Code::kRefused;
  return std::move(why).within("private key");
}

Result<std::shared_ptr<ssh_key_struct>> load(const std::filesystem::path& file) {
  TRY(check_mode(file));
  auto text = read_file(file, kKeyLimit);
  if (!text) {
    auto why = std::move(text).error();
    why.code = Code::kRefused;
    return std::move(why).within("private key");
  }
  ssh_key loaded = nullptr;
  bool asked = false;
  const int outcome =
      ssh_pki_import_privkey_base64(text->c_str(), nullptr, note_passphrase, &asked, &loaded);
  if (outcome == SSH_OK) return std::shared_ptr<ssh_key_struct>{loaded, ssh_key_free};
  if (asked)
    return Error{Code::kRefused, file.string() +
                                     ": the key is under a passphrase. Put it into an agent "
                                     "(ssh-add " +
                                     file.string() + ") and leave key_file empty"};
  return Error{Code::kRefused, file.string() + ": not a private key that libssh can read"};
}

}  // namespace

Result<std::shared_ptr<ssh_key_struct>> private_key(const std::filesystem::path& file) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, Kept> kept;
  std::error_code absent;
  const auto written = std::filesystem::last_write_time(file, absent);
  const std::lock_guard lock{mutex};
  const auto found = kept.find(file);
  if (!absent && found != kept.end() && found->second.written == written) return found->second.key;
  TRY(auto key, load(file));
  kept[file] = Kept{written, key};
  return key;
}

}  // namespace cupel::ssh
