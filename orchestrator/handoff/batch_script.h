#pragma once
// A batch script for slurmrestd, which reads no #SBATCH lines, as sbatch does: they are read here.
// Pure.
#include <map>
#include <string>

#include "base/result.h"

namespace cupel::handoff {

inline constexpr std::size_t kMostOfScript = 1u << 20;  // bytes; Slurm's own limit is 4 MiB

struct BatchScript {
  std::string text{};
  /// Of its #SBATCH lines, by the long name of sbatch: {"ntasks-per-node", "8"}; of an option
  /// without a value the value is empty. The last one counts, as for sbatch. Without those that the
  /// step says itself: nodes, partition, time, output and the like.
  std::map<std::string, std::string> options{};
};

/// `file`: for error texts. Errors: kInvalid: it is empty, longer than kMostOfScript, or not UTF-8;
/// or, naming each line as FILE:LINE, it has options that slurmrestd cannot be given.
/// Source: man sbatch (22.05); in its first lines alone, before any command.
Result<BatchScript> parse_batch_script(std::string text, const std::string& file);

}  // namespace cupel::handoff
