#pragma once
// The certificate that a server of the site shows, as its file has it now.
#include <chrono>
#include <string>

#include "base/result.h"

namespace cupel::controller {

/// PEM. Errors: kNotFound; kUntrusted (others can change it); kInvalid (no certificate, or one that
/// is not valid at `now`).
Result<std::string> valid_certificate(const std::string& file, std::chrono::sys_seconds now);

/// PEM of the key of a certificate. Errors: as inventory::check_secret_file, and of the read.
Result<std::string> certificate_key(const std::string& file);

}  // namespace cupel::controller
