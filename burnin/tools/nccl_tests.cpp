#include "burnin/tools/nccl_tests.h"

#include <fmt/format.h>

#include <cmath>

#include "base/bytes.h"
#include "base/text.h"
#include "burnin/parameters.h"
#include "burnin/script.h"
#include "burnin/settings/pin.h"
#include "burnin/tools/nccl_report.h"
#include "burnin/tools/tool_run.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kStage = "nccl-tests";  // and its tool, whichever collective it is
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};

/// The part that bandwidths belong to: a profile's criterion for "nvlink*" judges those that a run
/// reported, whichever collective it ran.
constexpr const char* kPart = "nvlinks";

constexpr std::array<std::string_view, 7> kOperations{
    "all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce", "sendrecv"};
constexpr std::array<std::string_view, 2> kSwitches{"on", "off"};

constexpr std::array kParameters{
    ParameterRow{"operation", ParameterRow::Kind::word, "the collective", "all_reduce",
                 kOperations},
    ParameterRow{"largest",
                 ParameterRow::Kind::size,
                 "the size that is judged",
                 "8GiB",
                 {},
                 kMiB,
                 32 * kGiB},
    ParameterRow{"nvls", ParameterRow::Kind::word, "reductions in the NVSwitches", "on", kSwitches},
    ParameterRow{"directory", ParameterRow::Kind::folder, "where all_reduce_perf lies",
                 "/opt/nccl-tests/build"},
    kNumaParameter,
};

/// "collective.all_reduce.busbw", and as often as there are operations, ways and numbers.
std::string measure(std::string_view way, std::string_view operation, std::string_view what) {
  return fmt::format("collective.{}{}.{}", way, operation, what);
}

constexpr std::array<std::string_view, 2> kWays{"", "rings."};
constexpr std::array<std::string_view, 3> kNumbers{"busbw", "busbw.in_place", "latency"};

std::span<const std::string_view> measures() {
  static const auto names = [] {
    std::vector<std::string> all{"collective.errors", "collective.nvls"};
    for (const auto way : kWays)
      for (const auto operation : kOperations)
        for (const auto number : kNumbers) all.push_back(measure(way, operation, number));
    return all;
  }();
  static const std::vector<std::string_view> views{names.begin(), names.end()};
  return views;
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto operation, word_parameter(kParameters, parameters, "operation"));
  TRY(const auto largest, size_parameter(kParameters, parameters, "largest"));
  TRY(const auto nvls, word_parameter(kParameters, parameters, "nvls"));
  TRY(const auto directory, folder_parameter(kParameters, parameters, "directory"));
  constexpr seconds kLimit{minutes{20}};
  json::object order{{"operation", operation},
                     {"bytes", std::llround(largest)},
                     {"nvls", nvls},
                     {"directory", directory},
                     {"limit", kLimit.count()}};
  TRY(ask_numa(parameters, order));
  return agent_job({.stage = kStage,
                    .order = std::move(order),
                    .tools = {operation + "_perf", "nvidia-smi"},
                    .folder = directory},
                   minutes{2}, kLimit);
}

/// Operations whose results nccl-tests checks out of place only: in place its table has "N/A" in
/// every version. Source: NVIDIA/nccl-tests, src/alltoall.cu and src/sendrecv.cu.
bool is_checked_in_place(std::string_view operation) {
  return operation != "alltoall" && operation != "sendrecv";
}

/// How many came out wrong; nothing where one that the operation checks was not checked.
std::optional<double> wrong_of(const CollectiveReport& report, std::string_view operation) {
  double sum = 0;
  bool checked = !report.rows.empty();
  const auto is_checked = [&](const CollectiveTime& time) {
    return time.wrong || (time.off && report.out_of_bounds);
  };
  for (const auto& row : report.rows) {
    checked = checked && is_checked(row.out_of_place) &&
              (is_checked(row.in_place) || !is_checked_in_place(operation));
    sum += row.out_of_place.wrong.value_or(0) + row.in_place.wrong.value_or(0);
  }
  sum = std::max(sum, report.out_of_bounds.value_or(0));
  return checked || sum > 0 ? std::optional{sum} : std::nullopt;
}

Error nothing_proven(std::string why) {
  return {Code::kNoMeasurement, "nccl-tests: " + script::clean(why)};
}

/// The sizes double: the last one lies above half of what was asked for.
Result<void> check_worked(const CollectiveReport& report, const ToolRun& run) {
  const auto& output = run.output();
  const auto expected = run.asked("bytes");
  if (!expected) return nothing_proven("it was not started: " + script::complaint(output));
  if (report.rows.empty()) {
    // NCCL's own words stand among its log; a failure is reported in one of these two forms.
    for (const auto line : lines(output.text))
      if (line.contains("failure") || line.contains("Invalid number of GPUs"))
        return nothing_proven(std::string{line});
    return nothing_proven("no row of numbers; " + script::complaint(output));
  }
  if (report.damaged > 0)
    return nothing_proven(fmt::format("{} rows of its table are damaged", report.damaged));
  if (const auto size = report.gap())
    return nothing_proven(fmt::format("no row of the size after {}", size_text(*size)));
  if (report.largest()->bytes <= *expected / 2)
    return nothing_proven(fmt::format("it ended at {} of {}", size_text(report.largest()->bytes),
                                      size_text(*expected)));
  if (output.exit_status != 0)
    return nothing_proven(fmt::format("it ended with exit status {}", output.exit_status));
  if (!report.is_whole)
    return nothing_proven(
        "its output is cut off: the footer \"# Out of bounds values\" is missing");
  return ok();
}

void add(std::string name, const char* part, std::optional<double> value, std::string_view unit,
         Findings& findings) {
  if (value)
    findings.measurements.push_back({std::move(name), part, *value, std::string{unit}});
  else
    findings.unknown.push_back({std::move(name), "nccl-tests", "N/A"});
}

void add_times(const CollectiveReport& report, std::string_view operation, bool rings,
               Findings& findings) {
  const auto name = [&](std::string_view what) {
    return measure(kWays[rings ? 1 : 0], operation, what);
  };
  const auto& last = *report.largest();
  add(name("busbw"), kPart, last.out_of_place.bus, "GB/s", findings);
  add(name("busbw.in_place"), kPart, last.in_place.bus, "GB/s", findings);
  if (const auto* first = report.smallest(); first != nullptr && first != &last)
    add(name("latency"), kPart, first->out_of_place.micros, "us", findings);
}

Result<Findings> parse(const Profile& profile, const Output& output) {
  TRY(const auto run, ToolRun::read(kStage, kStage, profile, output));
  const auto report = read_nccl_tests(run.output().text);
  const auto operation = run.note("operation");
  const auto wrong = wrong_of(report, operation);
  // A wrong result is a finding whatever else went wrong.
  const bool found = wrong.value_or(0) > 0;
  if (!found) {
    TRY(check_worked(report, run));
  }
  Findings findings;
  add("collective.errors", "", wrong, "errors", findings);
  if (!report.nccl.empty()) findings.facts["nccl.version"] = report.nccl;
  if (report.nvls) add("collective.nvls", "", *report.nvls ? 1.0 : 0.0, "", findings);
  const bool known = std::ranges::find(kOperations, operation) != kOperations.end();
  const bool reported = known && !report.rows.empty() && report.damaged == 0 &&
                        report.largest()->out_of_place.bus.has_value();
  // Only what was reported is judged: without its bandwidth a run must not look like a good one.
  if (!reported && !found) return nothing_proven("no bus bandwidth of its largest size");
  if (reported) add_times(report, operation, run.note("nvls") == "off", findings);
  run.add_pin(findings);
  return findings;
}

}  // namespace

Stage nccl_tests() {
  return {"nccl-tests",
          "a collective over the node's GPUs, results checked (nccl-tests)",
          kParameters,
          prepare,
          parse,
          measures(),
          {0.5, 0, "NVLink, memory and some of the SMs work; the matrix units idle"},
          kPrograms};
}

}  // namespace cupel::burnin
