#include "rehearsal/ssh/key.h"

#include <libssh/libssh.h>
#include <sys/stat.h>

#include "base/ownership.h"

namespace cupel::rehearsal {

void KeyDeleter::operator()(ssh_key_struct* key) const { ssh_key_free(key); }

Result<Key> make_key() {
  ssh_key made = nullptr;
  if (ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &made) != SSH_OK)
    return Error{Code::kFailed, "libssh cannot make an ed25519 key"};
  return Key{made};
}

Result<Key> load_or_make_key(const std::filesystem::path& file) {
  TRY(check_ownership(file));
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    ssh_key read = nullptr;
    if (ssh_pki_import_privkey_file(file.c_str(), nullptr, nullptr, nullptr, &read) != SSH_OK)
      return Error{Code::kInvalid,
                   file.string() + " is no private key; remove it to get a new one"};
    return Key{read};
  }
  TRY(auto key, make_key());
  const auto mask = ::umask(077);
  const int written =
      ssh_pki_export_privkey_file(key.get(), nullptr, nullptr, nullptr, file.c_str());
  ::umask(mask);
  if (written != SSH_OK) return Error{Code::kStorage, "cannot write " + file.string()};
  std::filesystem::permissions(
      file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, ignored);
  auto open_file = file;
  open_file += ".pub";
  if (ssh_pki_export_pubkey_file(key.get(), open_file.c_str()) != SSH_OK)
    return Error{Code::kStorage, "cannot write " + open_file.string()};
  return key;
}

std::string public_text(const Key& key) {
  char* text = nullptr;
  if (ssh_pki_export_pubkey_base64(key.get(), &text) != SSH_OK) return {};
  auto copy = std::string{ssh_key_type_to_char(ssh_key_type(key.get()))} + " " + text;
  ssh_string_free_char(text);
  return copy;
}

std::string fingerprint(const Key& key) {
  unsigned char* hash = nullptr;
  std::size_t size = 0;
  if (ssh_get_publickey_hash(key.get(), SSH_PUBLICKEY_HASH_SHA256, &hash, &size) != 0) return {};
  char* text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size);
  std::string copy = text ? text : "";
  ssh_string_free_char(text);
  ssh_clean_pubkey_hash(&hash);
  return copy;
}

}  // namespace cupel::rehearsal
