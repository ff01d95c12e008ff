#pragma once
// The node's side of settings.h: POSIX shell. Not what its lines mean.
#include <string>
#include <vector>

namespace cupel::burnin::settings_script {

/// One thing that is to be set: the name of a shell function of ours, and its word.
struct Wish {
  std::string what;   // "persistence", "power_limit", "gpu_clocks", "app_clocks", "ecc", "mig",
                      // "governor", "numa_balancing", "irq_affinity"
  std::string value;  // bounded: letters, digits and commas
};

/// Looks at what is there, refuses what cannot be, writes what was before, sets, reads back. Prints
/// `cupel-setting|KEY|PART|BEFORE|WANTED|GOT|NOTE`. `at_most_seconds`: after so long the node puts
/// it back by itself, where it has systemd, and says `cupel-guard: SECONDS`.
std::string set(const std::vector<Wish>& wishes, long at_most_seconds);

/// Puts back whatever the node's record holds, and removes the record once all of it is back.
/// Prints `cupel-held|KEY|PART|WANTED|IS` of what it found,
/// `cupel-restored|KEY|PART|BEFORE|GOT|NOTE` of what it did, and `cupel-record: none`, `gone`,
/// `kept`, or `before, by the WHO` where it was put back already.
std::string restore();

}  // namespace cupel::burnin::settings_script
