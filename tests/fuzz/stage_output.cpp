// What a node says of a stage: the first byte chooses the stage, the second is its exit status, the
// rest is its output. Whatever it is, parse() gives finite numbers of names that the stage has, and
// words that a terminal bears; and nothing is read twice in two ways.
#include <algorithm>
#include <cmath>

#include "burnin/measures/measure.h"
#include "burnin/stage.h"
#include "burnin/tools/perftest.h"
#include "inventory/load_profile.h"

namespace {

using namespace cupel;

const inventory::Profile& profile() {
  static const auto loaded = [] {
    std::vector<inventory::Problem> problems;
    auto found = inventory::ProfileSource{"/nonexistent"}.load("dgx-h100", problems);
    if (!found) __builtin_trap();
    return *found;
  }();
  return loaded;
}

void must_be_readable(std::string_view text) {
  for (const char c : text)
    if (c < 0x20 || c == 0x7F) __builtin_trap();
}

/// "rdma.*" stands for all that begin so.
bool has_measure(const burnin::Stage& stage, std::string_view name) {
  return std::ranges::any_of(stage.measures, [&](std::string_view each) {
    return each.ends_with('*') ? name.starts_with(each.substr(0, each.size() - 1)) : each == name;
  });
}

void must_be_sound(const burnin::Stage& stage, const burnin::Findings& findings) {
  if (findings.measurements.empty() && findings.parts.empty() && findings.unknown.empty())
    __builtin_trap();
  for (const auto& each : findings.measurements) {
    if (!has_measure(stage, each.name) || !std::isfinite(each.value)) __builtin_trap();
    const auto* row = burnin::measure_row(each.name);
    if (row == nullptr || row->unit != each.unit) __builtin_trap();
    must_be_readable(each.part);
  }
  for (const auto& part : findings.parts)
    for (const auto* field : {&part.name, &part.model, &part.serial, &part.slot, &part.firmware})
      must_be_readable(*field);
  for (const auto& unknown : findings.unknown) {
    must_be_readable(unknown.fact);
    must_be_readable(unknown.why);
  }
  for (const auto& [name, value] : findings.facts) {
    must_be_readable(name);
    must_be_readable(value);
  }
}

void read_as_perftest(std::string_view text) {
  const auto rows = burnin::read_perftest(text);
  if (!rows) return;
  for (const auto& row : *rows)
    if (!(row.bytes > 0) || (row.average && !(*row.average >= 0))) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto all = burnin::stages();
  const auto& stage = all[data[0] % all.size()];
  const std::string text{reinterpret_cast<const char*>(data) + 2, size - 2};
  const burnin::Output output{text, "", data[1]};
  const auto found = stage.parse(profile(), output);
  if (found) {
    must_be_sound(stage, *found);
  } else {
    const auto& error = found.error();
    if (error.code != Code::kNoMeasurement && error.code != Code::kMalformed) __builtin_trap();
    must_be_readable(error.what);
  }
  read_as_perftest(text);
  return 0;
}
