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

/// Without `since` only where the log stands. "lost": records that the kernel had overwritten
/// before they were read; "restarted": the log is another boot's than `since`, and was read from
/// its beginning. Messages of one kind, weight, code and part are one row, with their count and
/// what the first one said; errors come first. Source: Documentation/ABI/testing/dev-kmsg of Linux.
std::string log_document(const Tree& tree, const std::optional<LogPosition>& since);

/// `kernel-log [--boot ID --after SEQUENCE] [--root FOLDER]`.
int kernel_log(Arguments arguments);

}  // namespace cupel::agent
