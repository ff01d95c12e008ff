#pragma once
// What cupel-burn says on its standard output: one JSON object a line, each with a "kind". Pure and
// bounded; checks everything. Not what follows for a part: that is burn_findings.h.
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::burnin {

/// A GPU as cupel-burn numbers it: "gpu3" of its lines is the one of index 3.
struct BurnGpu {
  int index = 0;
  std::string pci{}, uuid{}, name{};
};

/// The last one of the same name, part and labels counts.
struct BurnResult {
  std::string name{}, part{}, unit{};
  std::map<std::string, std::string> labels{};  // {"type": "bf16"}
  std::optional<double> value{};                // nothing: it was no number
};

struct BurnFault {
  std::string what{}, part{};
  std::string detail{};  // "SM 17, round 3, 71 C: ..."; for people
};

struct BurnHang {
  std::string part{}, doing{};
  double seconds = 0;
  std::vector<std::string>
      late{};  // all that may hang, where it is not the one alone that is named
};

struct BurnError {
  std::string code{}, message{};
};

struct BurnSelfTest {
  std::string planted{}, detail{};
  bool found = false;
};

struct BurnEnd {
  double faults = 0;
  bool complete = false, stopped = false;
};

/// Everything that was reported in one run. Texts are clean (script::clean()).
struct BurnReport {
  bool started = false;
  std::string command{}, version{}, cuda{}, driver{}, nccl{};
  std::vector<BurnGpu> gpus{};
  std::vector<BurnResult> results{};
  std::vector<BurnFault> faults{};  // the first ones; all are counted
  std::map<std::string, double> faults_by_part{};
  std::vector<BurnHang> hangs{};
  std::vector<BurnError> errors{};
  std::vector<BurnSelfTest> self_tests{};
  std::optional<BurnEnd> end{};
  std::size_t damaged = 0;  // lines that began as an object and were none
  bool too_much = false;    // more was reported than is kept: what is missing is not known

  double fault_lines() const;
};

/// Lines of an unknown kind, keys that are not known and lines of other programs are passed over.
BurnReport read_burn(std::string_view text);

/// Exit statuses of cupel-burn.
enum class BurnExit { well = 0, fault = 1, unknown = 2, hang = 3, stopped = 4, usage = 64 };

/// Why such a run has proven nothing, whatever it measured: it did not begin or end, was stopped,
/// could not find out, lost lines, or its exit status says something else than its lines. Faults
/// and hangs that it reported stay reported.
/// Errors: kNoMeasurement, in the program's own words where it has any.
Result<void> check_whole(const BurnReport& report, int exit_status, std::string_view complaint);

}  // namespace cupel::burnin
