#pragma once
// What people read of many parts at once: eight GPUs that say the same are one line. Pure, for
// text and pages; what programs read (JSON, the journal) keeps each part by itself.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/consequences.h"
#include "burnin/measurement.h"
#include "burnin/verdict.h"

namespace cupel::report {

/// Causes that differ in nothing but their part, as one: its part is "gpu[0-4,6-7]". In the order
/// in which each was met first.
std::vector<burnin::Cause> fold_equal(std::span<const burnin::Cause> causes);

/// The same, each with what it explains of all of its parts.
std::vector<burnin::Explained> fold_equal(std::span<const burnin::Explained> causes);

/// A row of the numbers against their criteria.
struct CheckedRow {
  std::string stage{}, parts{}, measure{};
  std::string measured{};  // "52 to 54 C"
  std::string expected{};  // "at most 85 C"
  bool met = false;
  std::string source{};
};

/// Numbers that met the same criterion, as one: "gpu[0-7]", "52 to 54 C". One that did not meet it
/// stays by itself unless others measured just the same.
std::vector<CheckedRow> fold_equal(std::span<const burnin::Checked> checked);

/// Parts of which no number came at all: a GPU that is not there. Pairs with them are theirs.
struct SilentParts {
  std::string parts{};                            // "gpu5", "gpu[0-7]"
  std::vector<std::string> stages{}, measures{};  // each once, in order of appearance
  std::size_t criteria = 0;                       // of each of the parts
};

struct Heard {
  std::vector<SilentParts> silent{};
  std::vector<burnin::Checked> others{};  // in their order
};

/// Apart from the others those numbers that only say that a part is not there: of one GPU they can
/// be eighty. A part with up to three numbers stays among the others.
Heard without_silent(std::span<const burnin::Checked> checked);

/// A number of several parts: what was measured lies between two ends.
struct Reading {
  std::string name{}, parts{};
  std::string value{};  // "52 to 54 C"
};
std::vector<Reading> fold_equal(std::span<const burnin::Measurement> measurements);

/// "gpu.count, p2p.pairs of gpu[0-4,6-7] and 2 more": what a cause explains, in a few words; empty
/// for none.
std::string consequences_text(std::span<const burnin::Cause> consequences);

/// "gemm, hbm, pcie and 3 more"; empty for none.
std::string stages_text(std::span<const std::string> stages);

}  // namespace cupel::report
