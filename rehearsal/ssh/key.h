#pragma once
// Keys of the rack: made once, kept in its folder. libssh stays in this folder's .cpp files.
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"

struct ssh_key_struct;

namespace cupel::rehearsal {

struct KeyDeleter {
  void operator()(ssh_key_struct* key) const;
};
using Key = std::unique_ptr<ssh_key_struct, KeyDeleter>;

/// The ed25519 key in that file; made and written (mode 0600) if there is none yet.
/// Errors: kStorage, kInvalid.
Result<Key> load_or_make_key(const std::filesystem::path& file);

/// A key that is kept nowhere.
Result<Key> make_key();

/// As known_hosts has it: "ssh-ed25519 AAAA...". Empty where libssh cannot say.
std::string public_text(const Key& key);

/// "SHA256:...", as OpenSSH writes it.
std::string fingerprint(const Key& key);

}  // namespace cupel::rehearsal
