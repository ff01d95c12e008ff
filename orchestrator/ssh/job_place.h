#pragma once
// The beginning of every script about a job: where its folder is on the node, and that nobody else
// can change what lies there. Pure text.
#include <string>
#include <string_view>

namespace cupel::ssh::job_place {

/// For start: makes what is missing, closed to everybody else.
std::string made(std::string_view folder);

/// For everything else: makes nothing.
std::string found(std::string_view folder);

// Both define safe_path_functions() and leave the folder's path, without links, in $d. They refuse
// (kUnsafePath, with what was found and what to do on standard error) where the folder or the one
// above it is a link, is not ours or is not closed to everybody else (0700), or where somebody
// else may write to a folder further up. Of a folder that is not there found() leaves in $d what
// cannot be there.

}  // namespace cupel::ssh::job_place
