#pragma once
// The certificate that a BMC made for itself when it was new. OpenSSL stays in this folder.
#include <filesystem>
#include <string>

#include "base/result.h"

namespace cupel::rehearsal {

struct Certificate {
  std::string key_pem;
  std::string certificate_pem;
  std::string fingerprint;  // "SHA256:" and the digest of its DER form, in hexadecimal
};

/// A self-signed one for an IP address, good for ten years; kept nowhere. Errors: kFailed.
Result<Certificate> make_certificate(const std::string& name, const std::string& address);

/// The one in that file, key and certificate together; made and written (mode 0600) if there is
/// none yet. Errors: kStorage, kInvalid, kFailed.
Result<Certificate> load_or_make_certificate(const std::filesystem::path& file,
                                             const std::string& name, const std::string& address);

}  // namespace cupel::rehearsal
