#pragma once
// What Slurm's own programs write where they fail.
#include <string>

#include "base/process.h"
#include "base/text.h"

namespace cupel::handoff {

/// All of it on one line: they write one for each thing that they tried.
inline std::string words_of_slurm(const ProcessOutcome& outcome) {
  std::string words;
  for (const auto line : lines(outcome.error.empty() ? outcome.output : outcome.error))
    if (const auto shown = printable(trimmed(line)); !shown.empty())
      words += (words.empty() ? "" : "; ") + shown;
  return words;
}

/// Whether slurmctld did not answer; `words` in small letters. Source: slurm_errno.h (22.05),
/// SLURMCTLD_COMMUNICATIONS_*, "Unable to contact slurm controller".
inline bool is_without_slurmctld(std::string_view words) {
  return words.contains("unable to contact") || words.contains("connection refused") ||
         words.contains("communication");
}

}  // namespace cupel::handoff
