#pragma once
// Whether a file or folder that we are about to obey can be changed by another user. The rule is
// that of sshd's StrictModes for keys, for every folder on the way as well. Not about who may read.
#include <sys/types.h>

#include <filesystem>
#include <string>

#include "base/result.h"

namespace cupel {

/// The file or folder, each folder above it and each symbolic link on the way belong to root or to
/// the user whom this process acts for, and neither others nor a group that has other members may
/// write to them. A folder with the sticky bit (/tmp) may be open to all: nobody can replace there
/// what is another's. What does not exist is no fault: of a path that is still to be made, what
/// exists is checked. Errors: kInvalid, with the owner, the mode and the command that helps.
/// Source: sshd_config(5), StrictModes; OpenSSH's safe_path().
Result<void> check_ownership(const std::filesystem::path& path);

/// The name, where the name service knows it; else "user 1234".
std::string name_of_user(uid_t user);

/// The bytes of a file that decides something, once its owner and mode were found to be as above.
/// What may be read by others as well. Errors: as check_ownership() and read_file().
Result<std::string> read_trusted_file(const std::filesystem::path& file, std::size_t limit);

}  // namespace cupel
