#include "orchestrator/ssh/public_key.h"

#include "base/text.h"
#include "orchestrator/ssh/key_file.h"
#include "orchestrator/ssh/libssh.h"

namespace cupel::ssh {
namespace {

constexpr std::size_t kLongestKey = 16'384;

Error no_key() { return {Code::kMalformed, "what was reported as a host key is none"}; }

}  // namespace

Result<std::string> public_key_of(const std::filesystem::path& file) {
  TRY(const auto key, private_key(file));
  char* text = nullptr;
  const bool exported = ssh_pki_export_pubkey_base64(key.get(), &text) == SSH_OK;
  const std::unique_ptr<char, ReleasedBy<ssh_string_free_char>> owned{text};
  if (!exported)
    return Error{Code::kRefused, file.string() + ": its public key could not be derived"};
  return std::string{ssh_key_type_to_char(ssh_key_type(key.get()))} + " " + text;
}

Result<std::string> fingerprint_of(std::string_view line) {
  const auto parts = words(line);
  if (line.size() > kLongestKey || parts.size() < 2) return no_key();
  const auto type = ssh_key_type_from_name(std::string{parts[0]}.c_str());
  ssh_key read = nullptr;
  if (type == SSH_KEYTYPE_UNKNOWN ||
      ssh_pki_import_pubkey_base64(std::string{parts[1]}.c_str(), type, &read) != SSH_OK)
    return no_key();
  const Key key{read};
  unsigned char* hash = nullptr;
  std::size_t length = 0;
  if (ssh_get_publickey_hash(key.get(), SSH_PUBLICKEY_HASH_SHA256, &hash, &length) != SSH_OK)
    return no_key();
  char* printed = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
  ssh_clean_pubkey_hash(&hash);
  const std::unique_ptr<char, ReleasedBy<ssh_string_free_char>> owned{printed};
  if (printed == nullptr) return no_key();
  return std::string{printed};
}

}  // namespace cupel::ssh
