#pragma once
// Whole files, bounded. Blocking: for start-up and for small files only.
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel {

/// The file's bytes. A pipe ("/dev/stdin", a shell's "<(...)") is read to its end; one that no
/// program writes to has none. Errors: kNotFound; kInvalid for a folder, a file over `limit` bytes,
/// one that may not be read, or a pipe that brings nothing for 10 s.
Result<std::string> read_file(const std::filesystem::path& file, std::size_t limit);

/// The mode of a file that holds nothing which other users may not know.
constexpr unsigned kReadableByAll = 0644;

/// Writes the file whole or not at all: a new file beside it, fsync, rename. Without `mode` it is
/// for its owner alone: records name machines, addresses and serials. A link to a file is replaced;
/// what is no file (a folder, a pipe, /dev/null), and a link to it, is left as it is.
/// Errors: kStorage, with the path and the system's reason.
Result<void> write_file(const std::filesystem::path& file, std::string_view bytes,
                        unsigned mode = 0600);

/// Makes the names in the folder durable: a rename is not, until this.
/// Errors: kStorage. Source: fsync(2), "Calling fsync() does not necessarily ensure that the entry
/// in the directory containing the file has also reached disk."
Result<void> sync_folder(const std::filesystem::path& folder);

}  // namespace cupel
