#pragma once
// Shell functions by which a script on a node proves, before it uses a path, that no other user of
// the node can change what lies there. POSIX sh and coreutils' stat. Pure text.
#include <string_view>

namespace cupel {

/// What refused() on the node exits with.
inline constexpr int kUnsafePath = 77;

/// Defines, for the rest of the script:
///   cupel_me            the numeric user id that the script runs as
///   cupel_refuse WHY    says "cupel-refused: WHY" on standard error and exits with kUnsafePath
///   cupel_unsafe PATH   prints what is wrong with PATH (absolute, no "..", no link itself) or with
///                       a folder above it; nothing where each of them belongs to root or to us and
///                       nobody else may write to it. A sticky folder of root's (/tmp) may be
///                       above: others cannot rename what is not theirs there. So may be a link of
///                       root's or our own (some systems keep /opt elsewhere): then the path
///                       without links is looked at as well.
///   cupel_private PATH  prints what is wrong with a folder; nothing where it is no link, ours, and
///                       closed to everybody else (0700)
std::string_view safe_path_functions();

}  // namespace cupel
