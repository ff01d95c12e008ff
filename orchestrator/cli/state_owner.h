#pragma once
// Root works on the records of a service that is another user's as that user: root's files would be
// no use to the service, and another user's files are not for root to obey.
#include <filesystem>

#include "base/result.h"

namespace cupel::cli {

/// Where this process is root's and the folder another user's, it becomes that user, with the
/// user's groups, for good. Else nothing. Errors: kInvalid: that user is not known here, or the
/// kernel does not let us.
Result<void> act_as_owner_of(const std::filesystem::path& state);

}  // namespace cupel::cli
