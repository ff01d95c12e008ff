#include "burnin/disk/storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/disk/fio.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::array kParameters{
    ParameterRow{"directory", ParameterRow::Kind::folder, "a folder of the shared file system", ""},
    ParameterRow{"type", ParameterRow::Kind::text,
                 "what it must be: lustre, nfs, beegfs, gpfs, weka, ceph, or as in /proc/mounts",
                 ""},
    ParameterRow{"size",
                 ParameterRow::Kind::size,
                 "of this node's scratch file",
                 "4GiB",
                 {},
                 16 * kMiB,
                 16 * kTiB},
    ParameterRow{"runtime",
                 ParameterRow::Kind::duration,
                 "of writing, and again of reading",
                 "60s",
                 {},
                 1,
                 kDay},
};
constexpr std::array<std::string_view, 5> kMeasures{"storage.mounted", "storage.errors",
                                                    "storage.write.bandwidth",
                                                    "storage.read.bandwidth", "storage.nodes"};

constexpr std::string_view kStage = "storage", kTool = "fio";
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};

constexpr double kBlock = 4 * kMiB;
constexpr double kUsual = 500e6, kSick = 10e6;  // bytes a second: for the ETA; counts as hung

struct Alias {
  std::string_view alias, types;
};
constexpr std::array kAliases{
    Alias{"nfs", "nfs nfs4"},
    Alias{"weka", "wekafs"},
    Alias{"ceph", "ceph fuse.ceph"},
    Alias{"beegfs", "beegfs fuse.beegfs"},
};

bool is_type(std::string_view word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !word.empty() && word.size() <= 32 && std::ranges::all_of(word, plain);
}

/// All types of /proc/mounts that are meant.
Result<json::array> types_of(const Parameters& parameters) {
  const auto written = text_parameter(kParameters, parameters, "type");
  if (!is_type(written))
    return Error{Code::kInvalid,
                 fmt::format("type must be the file system's, as lustre or nfs, not '{}'",
                             shortened(printable(written), 80))};
  const auto* alias = std::ranges::find(kAliases, written, &Alias::alias);
  json::array types;
  for (const auto type : words(alias == kAliases.end() ? written : alias->types))
    types.emplace_back(type);
  return types;
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto folder, folder_parameter(kParameters, parameters, "directory"));
  TRY(const auto types, types_of(parameters));
  TRY(auto size, size_parameter(kParameters, parameters, "size"));
  TRY(const auto runtime, duration_parameter(kParameters, parameters, "runtime"));
  size = std::floor(size / kBlock) * kBlock;
  const auto at = [&](double speed) { return seconds{static_cast<long>(2 * size / speed)}; };
  const auto limit = 2 * runtime + at(kSick) + seconds{180};
  return agent_job({.stage = kStage,
                    .order = {{"directory", folder},
                              {"types", types},
                              {"bytes", static_cast<std::int64_t>(size)},
                              {"runtime", runtime.count()},
                              {"limit", limit.count()}},
                    .tools = {std::string{kTool}}},
                   2 * runtime + at(kUsual) + seconds{5}, limit);
}

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

struct Asked {
  double bytes = 0, seconds = 0;
};

void add_unknown(Findings& findings, std::string_view measure, std::string_view why) {
  findings.unknown.push_back({std::string{measure}, "fio", std::string{why}});
}

Result<void> read_report(const json::value& root, const Asked& asked, bool direct,
                         Findings& findings) {
  TRY(auto errors, fio::verified(root, asked.bytes));
  for (const std::string way : {"write", "read"}) {
    const auto measure = "storage." + way + ".bandwidth";
    const auto* job = fio::job_named(root, way);
    if (job == nullptr) return nothing_proven("fio tells nothing of job " + way);
    TRY(const auto failed, fio::errors_of(*job, way));
    errors += failed;
    const auto speed = fio::speed_of(*job, way, asked.seconds);
    if (!direct)
      add_unknown(findings, measure, "the file system refuses O_DIRECT: this would be memory's");
    else if (speed)
      findings.measurements.push_back({measure, "", speed->gigabytes, "GB/s"});
    else
      add_unknown(findings, measure, "the job ran shorter than requested");
  }
  findings.measurements.push_back({"storage.errors", "", errors, "errors"});
  return ok();
}

// What cupel-node prints.

Result<json::value> report_of(const AgentOutput& output) {
  const auto* tool = output.tool(kTool);
  if (tool == nullptr) return nothing_proven("fio did not come to its end");
  const auto text = fio::json_of(tool->out);
  if (text.empty() || tool->cut)
    return nothing_proven("fio reported nothing: " + complaint_of(*tool));
  return within("fio", parse_json(text));
}

Result<Findings> findings_of(const AgentOutput& output) {
  Findings findings;
  findings.measurements = output.measured;
  findings.unknown = output.unmeasured;
  const auto mounted = std::ranges::find(output.measured, "storage.mounted", &Measurement::name);
  const auto mount = output.notes.find("mount");
  if (mounted == output.measured.end() || mount == output.notes.end())
    return nothing_proven("the mount is not reported");
  findings.facts["storage.mount"] = mount->second;
  if (mounted->value != 1) return findings;
  const auto bytes = output.amount("bytes"), time = output.amount("seconds");
  if (!bytes || !time) return nothing_proven("fio was not started");
  TRY(const auto root, report_of(output));
  TRY(read_report(root, {*bytes, *time}, output.amount("direct") == 1, findings));
  return findings;
}

// What the script of an earlier version prints.

/// "lustre at /scratch". Nothing else is measured where it is not what was given.
Result<bool> read_mount(const Output& output, Findings& findings) {
  const auto reported = script::after_mark(output, "cupel-mounted: ");
  const auto types = script::after_mark(output, "cupel-types: ");
  if (!reported || !types) return nothing_proven("the mount is not reported");
  const auto kind = reported->substr(0, reported->find(" at "));
  const auto expected = words(*types);
  const bool right = std::ranges::find(expected, kind) != expected.end();
  findings.measurements.push_back({"storage.mounted", "", right ? 1.0 : 0.0, ""});
  findings.facts["storage.mount"] = script::clean(*reported);
  return right;
}

Result<Findings> findings_of_script(const Output& output) {
  const auto bytes = script::asked(output, "bytes"), time = script::asked(output, "seconds");
  if (!bytes || !time)
    return nothing_proven("the stage was not started: " + script::complaint(output));
  Findings findings;
  TRY(const bool right, read_mount(output, findings));
  if (!script::after_mark(output, "cupel-all-told"))
    return nothing_proven("fio did not come to its end: " + script::complaint(output));
  if (!right) {
    findings.unknown.push_back({"storage.errors", "/proc/mounts",
                                "nothing was written: the folder lies on another file system"});
    return findings;
  }
  const auto direct = script::after_mark(output, "cupel-direct: ");
  const auto text = fio::json_of(output.text);
  if (!direct || text.empty())
    return nothing_proven("fio reported nothing: " + script::complaint(output));
  TRY(const auto root, within("fio", parse_json(text)));
  TRY(read_report(root, {*bytes, *time}, *direct == "1", findings));
  const auto nodes = script::after_mark(output, "cupel-nodes: ");
  const auto count = nodes ? script::finite(*nodes) : std::nullopt;
  if (count && *count >= 1)
    findings.measurements.push_back({"storage.nodes", "", *count, "count"});
  else
    findings.unknown.push_back({"storage.nodes", "ls", "no folder of a node was seen"});
  return findings;
}

Result<Findings> parse(const Profile&, const Output& output) {
  constexpr std::array<std::string_view, 2> kOfTheNode{"storage.mounted", "storage.nodes"};
  TRY(const auto read, read_agent_output(kStage, output, kOfTheNode));
  return read ? findings_of(*read) : findings_of_script(output);
}

}  // namespace

Stage storage() {
  return {"storage",
          "the shared file system: mounted as it should be, written and verified by all at once",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {0.05, 0.2, "the network, and the CPU time of checksums"},
          kPrograms};
}

}  // namespace cupel::burnin
