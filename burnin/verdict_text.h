#pragma once
// The words of a verdict's numbers: made here, for people, and never read again. For reports, the
// command line and what Slurm shows of a node; programs take the numbers (burnin/verdict.h).
#include <span>
#include <string>

#include "burnin/verdict.h"

namespace cupel::burnin {

/// "79.6475 GiB"; "nothing" where no number came. With all its figures where six would make it look
/// like the limit that it misses.
std::string measured_text(const Quantity& quantity);
/// "52 to 54 C" of several.
std::string measured_text(std::span<const Quantity> quantities);
/// "at least 79 GiB", "between 2 and 4 GB/s", "exactly 8 GPUs", "a number".
std::string expectation_text(const Quantity& quantity);

/// "0 (python3, process 4217)".
std::string measured_text(const Checked& checked);
std::string expectation_text(const Checked& checked);

/// Empty where nothing is to be reported.
std::string measured_text(const Cause& cause);
std::string expectation_text(const Cause& cause);

/// "gpu3: gpu.ecc.uncorrected 2 errors, expected at most 0 errors".
std::string to_string(const Cause& cause);

}  // namespace cupel::burnin
