#pragma once
// What perftest printed: ib_write_bw, ib_read_bw, ib_send_bw and their latency sisters, text or
// JSON. Pure; for tests between nodes. A run against the node itself proves the adapter and its
// PCIe link, not the cable or the switch (docs/know/traps.md, 15).
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::burnin {

struct PerftestRow {
  double bytes = 0, iterations = 0;
  std::optional<double> peak{};      // Gb/s of 1e9 bits; nothing with -D, which prints 0.00
  std::optional<double> average{};   // Gb/s
  std::optional<double> messages{};  // a second
  std::optional<double> typical{}, p99{}, p999{};  // microseconds, of a latency test
  std::optional<double> mean{};                    // microseconds
  friend bool operator==(const PerftestRow&, const PerftestRow&) = default;
};

/// One row for each size, the last one reported of it: a loop's client and server print theirs into
/// one another. Units are the header's; "MB/sec" of versions before 4.5 is 2^20 bytes as "MiB/sec"
/// is (so says its message rate). In JSON the unit is not written: `json_gigabits` says whether
/// --report_gbits was given.
/// Errors: kNoMeasurement where there is no row; kMalformed where rows have no header.
/// Source: linux-rdma/perftest src/perftest_parameters.h (RESULT_FMT, REPORT_FMT) and
/// perftest_parameters.c (write_bw_report_to_file: it writes text that is not always JSON).
Result<std::vector<PerftestRow>> read_perftest(std::string_view text, bool json_gigabits = true);

}  // namespace cupel::burnin
