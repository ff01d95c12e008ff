#pragma once
// What the stage nvme runs on a node: which drives it tests and by what, what speaks against
// writing to a drive itself, and one fio for each. Why these guards:
// docs/build/decisions/drives.md.
#include <string>

namespace cupel::burnin {

/// POSIX sh. Expects $sys, $dev, $proc (where the kernel tells of itself), $drives (empty: all),
/// $named, $raw, $size, $runtime and $need, and scratch_functions(). It prints, by line or section:
///   cupel-drive: NAME PLACE            tested through a folder, or as the device itself
///   cupel-writes: NAME DEVICE serial S  for people: what was written, and whose it was
///   cupel-untested: NAME asked|aside: WHY
///   fio NUMBER PLACE DIRECT            fio's report of a test that writes
///   read NUMBER NAME                   fio's report of a drive that was only read
///   smart-before NAME, smart-after NAME
std::string nvme_script();

}  // namespace cupel::burnin
