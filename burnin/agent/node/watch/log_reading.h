#pragma once
// The subcommand `kernel-log`: what the kernel has said since a position in its log, and where the
// log stands now. One document of less than 16 KiB, however much there is. Reads; waits for
// nothing; asks no driver, since one may hang.
#include <cstdint>
#include <optional>
#include <string>

#include "burnin/agent/node/subcommand.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {

/// The last record that somebody has read. Records are numbered from each boot on.
struct LogPosition {
  std::string boot{};  // /proc/sys/kernel/random/boot_id
  std::uint64_t sequence = 0;
};

/// How the log begins: at a position, with this boot, or not at all (only where it stands).
struct LogRange {
  std::optional<LogPosition> since{};
  bool whole_boot = false;
};

/// Without a range only where the log stands. "booted": when, in seconds since
/// 1970 by the node's clock. "lost": records that the kernel had overwritten
/// before they were read; "restarted": the log is another boot's than `since`, and was read from
/// its beginning; "from_boot": the whole boot was asked for, and what was lost of it came before
/// the kernel's oldest record. Messages of one kind, weight, code and part are one row, with their
/// count and what the first one said; errors come first. Source: Documentation/ABI/testing/dev-kmsg
/// of Linux.
std::string log_document(const Tree& tree, const LogRange& range);

/// `kernel-log [--boot ID --after SEQUENCE | --from-boot] [--root FOLDER]`.
int kernel_log(Arguments arguments);

}  // namespace cupel::agent
