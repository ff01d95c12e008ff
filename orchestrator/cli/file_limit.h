#pragma once
// How many files this process may have open: as many as the system lets it.

namespace cupel::cli {

/// Raises the soft limit to the hard one. A shell's default of 1024 is enough for some 100 nodes
/// only: each has connections to its BMC and by SSH, a console and its record. Nothing here calls
/// select(2), which higher descriptors would break. Source: getrlimit(2), RLIMIT_NOFILE.
void raise_file_limit();

}  // namespace cupel::cli
