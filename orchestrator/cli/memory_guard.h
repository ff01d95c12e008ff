#pragma once
// What keeps the passwords in this process's memory from other programs and from the disk.

namespace cupel::cli {

/// No core dumps of this process and its children; no other process of the same user may read its
/// memory or attach to it. A debugger that starts the program keeps it. Does nothing in builds with
/// a sanitizer, whose leak checker attaches to its own process.
void guard_memory();

}  // namespace cupel::cli
