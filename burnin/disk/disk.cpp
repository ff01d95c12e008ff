#include "burnin/disk/disk.h"

#include <fmt/format.h>

#include <cmath>

#include "base/bytes.h"
#include "base/json.h"
#include "burnin/agent_stage.h"
#include "burnin/disk/fio.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::array kParameters{
    ParameterRow{"directory", ParameterRow::Kind::folder, "where the scratch file lies",
                 "/var/tmp"},
    ParameterRow{
        "size", ParameterRow::Kind::size, "of the scratch file", "4GiB", {}, 16 * kMiB, 16 * kTiB},
    ParameterRow{"runtime",
                 ParameterRow::Kind::duration,
                 "of writing, and again of reading",
                 "60s",
                 {},
                 1,
                 kDay},
};
constexpr std::array<std::string_view, 5> kMeasures{"disk.errors", "disk.write.bandwidth",
                                                    "disk.read.bandwidth", "disk.write.latency.p99",
                                                    "disk.read.latency.p99"};

constexpr std::string_view kStage = "disk", kTool = "fio";
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};

constexpr double kBlock = 4 * kMiB;
constexpr double kUsual = 500e6;  // bytes a second; for the ETA
constexpr double kSick = 20e6;    // a drive slower than this counts as hung

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto folder, folder_parameter(kParameters, parameters, "directory"));
  TRY(auto size, size_parameter(kParameters, parameters, "size"));
  TRY(const auto runtime, duration_parameter(kParameters, parameters, "runtime"));
  size = std::floor(size / kBlock) * kBlock;
  const auto at = [&](double speed) { return seconds{static_cast<long>(2 * size / speed)}; };
  const auto limit = 2 * runtime + at(kSick) + seconds{120};
  return agent_job({.stage = kStage,
                    .order = {{"directory", folder},
                              {"bytes", static_cast<std::int64_t>(size)},
                              {"runtime", runtime.count()},
                              {"limit", limit.count()}},
                    .tools = {std::string{kTool}}},
                   2 * runtime + at(kUsual) + seconds{3}, limit);
}

struct Asked {
  double bytes = 0;
  double seconds = 0;
};

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

struct Way {
  std::string_view job;        // "write"
  std::string_view bandwidth;  // names of the measurements
  std::string_view latency;
};
constexpr std::array kWays{
    Way{"write", "disk.write.bandwidth", "disk.write.latency.p99"},
    Way{"read", "disk.read.bandwidth", "disk.read.latency.p99"},
};

void add_speed(const json::value& job, const Way& way, const Asked& asked, Findings& findings) {
  const auto speed = fio::speed_of(job, way.job, asked.seconds);
  if (!speed) {
    findings.unknown.push_back({std::string{way.bandwidth}, fmt::format("fio job {}", way.job),
                                "it ran shorter than requested"});
    return;
  }
  findings.measurements.push_back({std::string{way.bandwidth}, "", speed->gigabytes, "GB/s"});
  if (speed->p99_us)
    findings.measurements.push_back({std::string{way.latency}, "", *speed->p99_us, "us"});
}

Result<Findings> read_jobs(const json::value& root, const Asked& asked, bool direct) {
  Findings findings;
  TRY(auto errors, fio::verified(root, asked.bytes));
  for (const auto& way : kWays) {
    const auto* job = fio::job_named(root, way.job);
    if (job == nullptr) {
      findings.unknown.push_back({std::string{way.bandwidth}, "fio", "no such job in its output"});
      continue;
    }
    TRY(const auto failed, fio::errors_of(*job, way.job));
    errors += failed;
    if (direct) add_speed(*job, way, asked, findings);
  }
  findings.measurements.insert(findings.measurements.begin(),
                               {"disk.errors", "", errors, "errors"});
  return findings;
}

/// The one drive under the folder; empty where there are several, or none was reported.
std::string drive_of(const json::value& root) {
  const auto drives = fio::drives_under(root);
  return drives.size() == 1 ? drives.front().name : std::string{};
}

/// What fio printed, by cupel-node, or by the shell script of a job that an earlier version
/// started.
struct Run {
  Asked asked{};
  bool direct = false;
  Output fio{};
};

Result<Run> run_of_script(const Output& output) {
  const auto bytes = script::asked(output, "bytes"), time = script::asked(output, "seconds");
  const auto direct = script::after_mark(output, "cupel-direct: ");
  if (!bytes || !time || !direct)
    return nothing_proven("fio was not started: " + script::complaint(output));
  return Run{{*bytes, *time}, *direct == "1", output};
}

Result<Run> run_of(const Output& output) {
  TRY(const auto read, read_agent_output(kStage, output, {}));  // all numbers are fio's
  if (!read) return run_of_script(output);
  const auto* tool = read->tool(kTool);
  const auto bytes = read->amount("bytes"), time = read->amount("seconds");
  if (tool == nullptr || !bytes || !time) return nothing_proven("fio was not started");
  if (tool->cut) return nothing_proven("fio printed more than cupel-node keeps");
  return Run{{*bytes, *time}, read->amount("direct") == 1, {tool->out, tool->errors, tool->status}};
}

Result<Findings> parse(const Profile&, const Output& output) {
  TRY(const auto run, run_of(output));
  const auto text = fio::json_of(run.fio.text);
  if (text.empty()) return nothing_proven("fio reported nothing: " + script::complaint(run.fio));
  TRY(const auto root, within("fio", parse_json(text)));
  TRY(auto findings, read_jobs(root, run.asked, run.direct));
  const auto drive = drive_of(root);
  for (auto& each : findings.measurements) each.traced_to = drive;
  if (!run.direct)
    for (const auto& way : kWays)
      findings.unknown.push_back({std::string{way.bandwidth}, "O_DIRECT",
                                  "the file system refuses O_DIRECT: the page cache's speed is not "
                                  "the drive's"});
  return findings;
}

}  // namespace

Stage disk() {
  return {"disk",
          "write, verify and read a scratch file, and how fast (fio, crc32c)",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {0.05, 0.2, "one drive of many under load, and the CPU time of checksums"},
          kPrograms};
}

}  // namespace cupel::burnin
