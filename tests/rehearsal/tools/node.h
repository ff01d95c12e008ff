#pragma once
// What tests of a node's tools share: shapes of texts, and the product's own parsers on them.
#include <regex>

#include "base/text.h"
#include "burnin/stage.h"
#include "tests/rehearsal/bench.h"
#include "tests/support/samples.h"

namespace cupel::rehearsal {

using Texts = std::vector<std::string>;

inline Texts lines_of(std::string_view text) {
  Texts all;
  for (const auto line : lines(text)) all.emplace_back(line);
  return all;
}

/// The node's own answer to a stage, as the product reads it.
inline Result<burnin::Findings> found_by(Bench& bench, std::string_view stage,
                                         const burnin::Parameters& with = {}) {
  const auto* asked = burnin::stage(stage);
  const auto job = asked->prepare(dgx(), with);
  if (!job) return job.error();
  const auto ran = bench.sh(job->script);
  return asked->parse(dgx(), {ran.out, ran.err, ran.status});
}

inline std::optional<double> value_of(const burnin::Findings& findings, std::string_view name,
                                      std::string_view part = "") {
  for (const auto& each : findings.measurements)
    if (each.name == name && each.part == part) return each.value;
  return std::nullopt;
}

/// "4.50 W" is "# W": what is left when numbers and addresses are taken out.
inline std::string shape_of(const std::string& text) {
  static const std::regex number{R"(0x[0-9a-fA-F]+|[0-9]+(\.[0-9]+)*)"};
  static const std::regex space{R"([ \t]+)"};
  return std::regex_replace(std::regex_replace(text, number, "#"), space, " ");
}

}  // namespace cupel::rehearsal
