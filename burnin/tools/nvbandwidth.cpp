#include "burnin/tools/nvbandwidth.h"

#include <fmt/format.h>

#include <cmath>

#include "base/bytes.h"
#include "base/text.h"
#include "burnin/gpu/burn_findings.h"
#include "burnin/parameters.h"
#include "burnin/script.h"
#include "burnin/settings/pin.h"
#include "burnin/tools/json_in_text.h"
#include "burnin/tools/tool_run.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kSource = "nvbandwidth";  // the stage and its tool
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::size_t kMostGpus = 32;
constexpr std::size_t kMostTests = 64;
constexpr std::size_t kMostUnknown = 128;

constexpr std::array kParameters{
    ParameterRow{"buffer",
                 ParameterRow::Kind::size,
                 "how much one copy moves",
                 "512MiB",
                 {},
                 16 * kMiB,
                 16 * kGiB},
    ParameterRow{"samples", ParameterRow::Kind::text, "how often each copy is measured: 1 to 1000",
                 "3"},
    kNumaParameter,
};

struct Test {
  std::string_view name, measure;
  bool of_pairs;
};
constexpr std::array kTests{
    Test{"host_to_device_memcpy_ce", "pcie.h2d", false},
    Test{"device_to_host_memcpy_ce", "pcie.d2h", false},
    Test{"device_to_device_memcpy_write_ce", "p2p.bandwidth", true},
    Test{"device_to_device_memcpy_read_ce", "p2p.read", true},
};
constexpr std::array<std::string_view, 6> kMeasures{kTests[0].measure, kTests[1].measure,
                                                    kTests[2].measure, kTests[3].measure,
                                                    "p2p.refused",     "nvbandwidth.corrupted"};

/// What it prints of data that did not arrive as it was sent; it ends at the first.
/// Source: NVIDIA/nvbandwidth, kernels.cu, memsetPattern and memcmpPattern; issue 34 has both
/// lines.
constexpr std::array<std::string_view, 2> kCorruption{"Invalid value when checking the pattern",
                                                      "h_errorFlag == 0"};

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto buffer, size_parameter(kParameters, parameters, "buffer"));
  const auto written = text_parameter(kParameters, parameters, "samples");
  const auto samples = number<int>(written);
  if (!samples || *samples < 1 || *samples > 1000)
    return Error{Code::kInvalid, fmt::format("samples must be 1 to 1000, not '{}'",
                                             shortened(printable(written), 80))};
  const auto limit = minutes{10} + seconds{10 * *samples};
  json::object order{{"buffer", std::llround(buffer / kMiB)},
                     {"samples", *samples},
                     {"limit", seconds{limit}.count()}};
  TRY(ask_numa(parameters, order));
  return agent_job(
      {.stage = kSource, .order = std::move(order), .tools = {std::string{kSource}, "nvidia-smi"}},
      minutes{2} + seconds{*samples}, limit);
}

using Row = std::vector<std::string>;

/// One test as JSON or text reported it.
struct Sourced {
  std::string name{}, status{};
  std::vector<Row> rows{};
};

struct Report {
  std::vector<Sourced> tests{};
  std::string error{};
};

std::string cell_of(const json::value& cell) {
  if (cell.is_string()) return script::clean(cell.get_string());
  if (cell.is_number()) return fmt::format("{}", cell.to_number<double>());
  return "N/A";
}

Report read_json(const json::value& root) {
  Report report;
  report.error = text_at(root, "error").value_or("");
  const auto* tests = find(root, "testcases");
  if (tests == nullptr || !tests->is_array()) return report;
  for (const auto& test : tests->get_array()) {
    if (report.tests.size() == kMostTests) break;
    auto& reported = report.tests.emplace_back(
        Sourced{text_at(test, "name").value_or(""), text_at(test, "status").value_or("no status")});
    const auto* matrix = find(test, "bandwidth_matrix");
    if (matrix == nullptr || !matrix->is_array()) continue;
    for (const auto& line : matrix->get_array()) {
      auto& row = reported.rows.emplace_back();
      if (line.is_array())
        for (const auto& cell : line.get_array()) row.push_back(cell_of(cell));
      if (reported.rows.size() > kMostGpus) break;
    }
  }
  return report;
}

/// "Running NAME.", a description, a line of columns, lines of a number and as many cells; "Waived"
/// in one form or another where it did not fit the machine.
Report read_text(std::string_view text) {
  Report report;
  std::size_t columns = 0;
  text = text.substr(0, text.rfind('\n') + 1);  // a line without an end is cut short
  for (const auto line : lines(text)) {
    const auto cells = words(line);
    if (line.starts_with("ERROR: ") && report.error.empty()) report.error = script::clean(line);
    const bool runs = line.starts_with("Running ") && cells.size() == 2;
    const bool waives = line.starts_with("Waiving ") && cells.size() == 2;
    if (runs || waives) {
      auto name = cells[1];
      if (name.ends_with('.')) name.remove_suffix(1);
      if (report.tests.size() == kMostTests) break;
      report.tests.push_back({script::clean(name), waives ? "Waived" : "Passed"});
      columns = 0;
      continue;
    }
    if (report.tests.empty() || cells.empty()) continue;
    auto& test = report.tests.back();
    if (cells[0].starts_with("Waived") || cells.back() == "waived.") test.status = "Waived";
    const bool counts =
        std::ranges::all_of(cells, [](auto cell) { return number<int>(cell).has_value(); });
    if (columns == 0 && counts) {
      columns = cells.size();
    } else if (columns > 0 && cells.size() == columns + 1 &&
               number<std::size_t>(cells[0]) == test.rows.size()) {
      test.rows.emplace_back(cells.begin() + 1, cells.end());
    } else {
      columns = test.rows.empty() ? columns : kMostGpus + 1;  // the table is over
    }
  }
  return report;
}

void add_unknown(std::string fact, std::string why, Findings& findings) {
  if (findings.unknown.size() < kMostUnknown)
    findings.unknown.push_back({std::move(fact), std::string{kSource}, script::clean(why)});
}

/// A table that is not as wide as its GPUs, or not square where it is of pairs, is no table.
bool is_whole(const Test& test, const Sourced& reported) {
  const auto width = reported.rows.empty() ? 0 : reported.rows.front().size();
  const auto height = test.of_pairs ? width : 1;
  return width > 0 && width <= kMostGpus && reported.rows.size() == height &&
         std::ranges::all_of(reported.rows, [&](const Row& row) { return row.size() == width; });
}

void add_cells(const Test& test, const Sourced& reported, const ToolGpus& gpus,
               Findings& findings) {
  for (int row = 0; row < static_cast<int>(reported.rows.size()); ++row)
    for (int column = 0; column < static_cast<int>(reported.rows[row].size()); ++column) {
      // Old versions write 0.00 for what a GPU does not copy to itself.
      if (test.of_pairs && row == column) continue;
      const auto part =
          test.of_pairs ? gpus.name(row) + "-" + gpus.name(column) : gpus.name(column);
      const auto& cell = reported.rows[row][column];
      const auto value = script::finite(cell);
      if (value && *value >= 0)
        findings.measurements.push_back({std::string{test.measure}, part, *value, "GB/s"});
      else
        add_unknown(fmt::format("{} of {}", test.measure, part), cell, findings);
    }
}

void add_test(const Sourced& reported, const ToolGpus& gpus, Findings& findings) {
  const auto* test = std::ranges::find(kTests, std::string_view{reported.name}, &Test::name);
  if (test == kTests.end()) return;
  const bool twice = std::ranges::any_of(
      findings.measurements, [&](const Measurement& each) { return each.name == test->measure; });
  if (twice) return add_unknown(reported.name, "it is reported twice", findings);
  if (reported.status != "Passed") return add_unknown(reported.name, reported.status, findings);
  if (!is_whole(*test, reported))
    return add_unknown(reported.name, "its table is not whole", findings);
  add_cells(*test, reported, gpus, findings);
}

/// Of pairs only those that were reported are judged: this says that none is missing, and whose
/// fault it is where one is. Nothing where not both ways were tried.
void add_refused(const ToolGpus& gpus, const std::vector<Sourced>& tests, Findings& findings) {
  Pairs refused;
  for (const auto& asked : kTests) {
    if (!asked.of_pairs) continue;
    const auto test = std::ranges::find(tests, asked.name, &Sourced::name);
    if (test == tests.end() || test->status != "Passed" || !is_whole(asked, *test)) return;
    const auto count = static_cast<int>(test->rows.size());
    for (int row = 0; row < count; ++row)
      for (int column = 0; column < count; ++column) {
        if (row == column) continue;
        const auto value = script::finite(test->rows[row][column]);
        auto& known = refused[{gpus.name(row), gpus.name(column)}];
        known = std::max(known, value && *value >= 0 ? 0.0 : 1.0);
      }
  }
  add_charged(refused, {}, "p2p.refused", "count", findings);
}

/// 1 where a copy arrived damaged, with the test that was under way and its words. Nothing where
/// no test ended.
void add_corruption(std::string_view text, const std::vector<Sourced>& tests, Findings& findings) {
  for (const auto line : lines(text)) {
    const bool found =
        std::ranges::any_of(kCorruption, [&](auto words) { return line.contains(words); });
    if (!found) continue;
    const auto test = tests.empty() ? std::string{kSource} : tests.back().name;
    findings.facts.emplace("nvbandwidth: " + script::clean(test), script::clean(line));
    findings.measurements.push_back({"nvbandwidth.corrupted", "", 1, "count"});
    return;
  }
  if (!findings.measurements.empty())
    findings.measurements.push_back({"nvbandwidth.corrupted", "", 0, "count"});
}

Error nothing_proven(std::string why) {
  return {Code::kNoMeasurement, "nvbandwidth: " + script::clean(why)};
}

Result<Findings> parse(const Profile& profile, const Output& output) {
  TRY(const auto run, ToolRun::read(kSource, kSource, profile, output));
  const auto& printed = run.output();
  Report report;
  if (printed.text.contains("\"nvbandwidth\"")) {
    TRY(const auto document, json_in(printed.text, "nvbandwidth"));
    report = read_json(document.get_object().at("nvbandwidth"));
  } else {
    report = read_text(printed.text);
  }
  const auto& gpus = run.gpus();
  Findings findings;
  for (const auto& test : report.tests) add_test(test, gpus, findings);
  for (const auto& test : kTests)
    if (std::ranges::find(report.tests, test.name, &Sourced::name) == report.tests.end())
      add_unknown(std::string{test.name}, "it was not run", findings);
  add_corruption(printed.text + printed.errors, report.tests, findings);
  const bool corrupted = !findings.facts.empty();
  if (!report.error.empty() && !corrupted) return nothing_proven(report.error);
  if (findings.measurements.empty())
    return nothing_proven(report.tests.empty() ? script::complaint(printed)
                                               : findings.unknown.front().why);
  add_refused(gpus, report.tests, findings);
  run.add_pin(findings);
  return findings;
}

}  // namespace

Stage nvbandwidth() {
  return {"nvbandwidth",
          "copies between host and GPUs, and between every two GPUs (nvbandwidth)",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {0.3, 0, "copy engines and memory work; the matrix units idle"},
          kPrograms};
}

}  // namespace cupel::burnin
