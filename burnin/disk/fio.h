#pragma once
// What fio 3 reports as JSON: how each job ended, how fast it was, and which drives lay under it.
// Pure. Source: fio(1), "JSON Output Format".
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cupel::burnin::fio {

/// The JSON among warnings: from the first line that opens it to the last that closes it, or to the
/// end where it was cut off. Empty: there is none.
std::string_view json_of(std::string_view text);

const json::value* job_named(const json::value& root, std::string_view name);

/// Not below zero, finite.
std::optional<double> amount(const json::value& root, std::string_view path);

/// Errors of one job that speak against the drive or its data; 0 where it ended well. Errors:
/// kNoMeasurement where it ended for a reason that says nothing of the drive (no space, no
/// permission), or does not say how.
Result<double> errors_of(const json::value& job, std::string_view name);

/// Of the job "verify": its errors, where all of so many bytes were written and read back, or where
/// that is what failed. Errors: kNoMeasurement.
Result<double> verified(const json::value& root, double bytes);

struct Speed {
  double gigabytes = 0;   // a second; of 1e9
  double operations = 0;  // a second
  std::optional<double> p99_us{};
};

/// Of one way ("read", "write") of a job; nothing where it ran shorter than requested.
std::optional<Speed> speed_of(const json::value& job, std::string_view way, double seconds);

struct Drive {
  std::string name;  // as the kernel calls it, an NVMe drive without its name space: "nvme0", "sda"
  double operations = 0;
};

/// The drives under the files, each once; devices that stand on others are left aside. "disk_util";
/// aggr_* where a device has slaves.
std::vector<Drive> drives_under(const json::value& root);

}  // namespace cupel::burnin::fio
