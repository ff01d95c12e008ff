#pragma once
// What became of a run: for the last line of `--json`, for people, for the HTML page and for the
// exit code. Read from the journal; nothing is judged here again.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/fabric/link_history.h"
#include "burnin/time_series.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/report/clusters.h"
#include "orchestrator/report/provenance.h"
#include "orchestrator/report/requalified.h"

namespace cupel::report {

/// Where a node stands in its rack, as it was when the run began.
struct Position {
  std::string rack{};
  int unit = 0;    // lowest, from 1; 0: not reported
  int height = 1;  // units
};

/// What a node's serial console has said, as it was recorded. Beside the journal, not in it.
struct ConsoleFile {
  std::string file;
  std::uintmax_t bytes = 0;
};

/// What was sampled of a part that failed while a stage ran, and of the others of its kind.
struct PartTelemetry {
  struct Point {
    float seconds = 0;  // since the stage began
    float value = 0;
    friend bool operator==(const Point&, const Point&) = default;
  };
  struct Curve {
    std::string name{}, unit{};
    std::vector<Point> own{};
    std::vector<Point> least{}, most{};  // of the others
  };
  std::string part{};
  std::string stage{};
  std::vector<Curve> curves{};
  std::vector<burnin::SeriesFault> faults{};  // of this part
};

struct NodeSummary {
  record::NodeRecord record;
  burnin::Decision decision = burnin::Decision::inconclusive;
  std::vector<burnin::Cause> causes{};  // of the verdict, or of the steps where none was reached
  std::string profile{};
  Position position{};
  std::vector<ConsoleFile>
      console{};  // in the order of time; whoever knows where they lie adds them
  std::vector<PartTelemetry> telemetry{};  // part_telemetry.h adds it
};

struct RackSummary {
  std::string name;
  int units = 48;
};

struct RunSummary {
  store::Run run;
  std::string site{};
  bool rehearsal = false;  // of virtual machines
  std::vector<RackSummary> racks{};
  std::vector<std::string> steps{};
  std::vector<NodeSummary> nodes{};
  std::vector<burnin::LinkEvent> links{};  // html_links.h adds them
  Provenance provenance{};
  std::optional<Requalified> requalified{};  // where it renews a part of an earlier run's evidence
  std::chrono::milliseconds took{};          // whatever was done to the clock meanwhile

  std::size_t count(burnin::Decision decision) const;
};

/// Errors: kNotFound; kStorage.
Result<RunSummary> summarize(const store::Store& store, engine::RunId id);

/// Nodes that failed alike, and what they have in common: model, versions of BMC and BIOS, rack,
/// unit, profile.
std::vector<FailureGroup> failures_of(const RunSummary& summary);

/// The last object of `cupel run --json`.
boost::json::object to_json(const RunSummary& summary);

boost::json::array to_json(const std::vector<ConsoleFile>& files);

/// "2026-11-21T07:10:35Z" (RFC 3339, UTC).
std::string utc(engine::WallTime time);

/// "9 h 40 min", "41 s": what a person would say. Of a clock that was set back in between, "0 s".
std::string span_text(std::chrono::milliseconds span);

/// A few lines for the end of a run on a terminal: what many nodes have in common comes first, and
/// nodes of which the same is to be reported are one. `all`: however many lines that is.
std::string to_text(const RunSummary& summary, bool all = false);

}  // namespace cupel::report
