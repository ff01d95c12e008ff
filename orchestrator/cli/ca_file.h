#pragma once
// A file of certificate authorities that an option names.
#include <string>

#include "base/result.h"

namespace cupel::cli {

/// A CA decides which machine receives a password: nobody else may change the file, and it has a
/// certificate. Empty: the system's, which is fine. Errors: kInvalid; kNotFound.
Result<void> check_ca_file(const std::string& file);

}  // namespace cupel::cli
