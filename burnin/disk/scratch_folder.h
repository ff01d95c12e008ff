#pragma once
// Shell functions for a folder of scratch files on a file system that other users may write to.
// Where a folder is writable for all and not sticky, they can rename what root makes there, and lay
// a link in its place: root would write through it. So a script enters its folder, proves that it
// is the one that it made, and names the files in it without a path. Pure text.
#include <string_view>

namespace cupel::burnin {

/// enter_scratch FOLDER   goes into a folder that was just made with mode 0700 (its path without
///                        links); gives up in words and fails where it is not that folder any more
/// remove_scratch FOLDER  removes ./file and ./report of it, and the folder, if it is still ours
std::string_view scratch_functions();

}  // namespace cupel::burnin
