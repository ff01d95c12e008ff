#include "burnin/disk/sanitize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/disk/drive_names.h"
#include "burnin/disk/erase_technique.h"
#include "burnin/disk/media.h"
#include "burnin/disk/sanitize_log.h"
#include "burnin/parameters.h"
#include "burnin/script.h"
#include "inventory/identity.h"
#include "inventory/profile.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::string_view kStage = "sanitize";
constexpr std::string_view kSanitized = "nvme.sanitized", kFailed = "nvme.sanitize.failed";
/// The part of what has no name of its own among the criteria: another disk, a drive that is gone.
const std::string kOthers = "nvme";
constexpr std::string_view kNoDrive = "the node has no NVMe drive";
constexpr std::size_t kMostReason = 200;  // bytes, as cupel-node takes it
constexpr std::size_t kMostMedia = 512;   // as many as cupel-node reports

constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::array<std::string_view, 2> kEraseWords{"no", "yes"}, kMethodWords{"purge", "any"};
constexpr std::array<std::string_view, 2> kMeasures{kSanitized, kFailed};
constexpr std::array kParameters{
    ParameterRow{"drives", ParameterRow::Kind::text, "all, or names with commas between", "all"},
    ParameterRow{"erase", ParameterRow::Kind::word,
                 "yes: the drives lose all that they hold; no: only look how they would", "no",
                 kEraseWords},
    ParameterRow{"method", ParameterRow::Kind::word,
                 "purge: a drive that can only be cleared is left as it is", "purge", kMethodWords},
    ParameterRow{"skip", ParameterRow::Kind::text,
                 "why no drive is erased, such as a repair's number; it stands in the record",
                 "no"},
    ParameterRow{"limit",
                 ParameterRow::Kind::duration,
                 "how long all drives together are waited for",
                 "4h",
                 {},
                 kMinute,
                 kWeek}};

/// Empty: nothing is skipped.
Result<std::string> reason_of(const Parameters& parameters, bool erase) {
  const std::string reason{trimmed(text_parameter(kParameters, parameters, "skip"))};
  if (reason == "no") return std::string{};
  if (reason.empty() || reason.size() > kMostReason || printable(reason) != reason)
    return Error{Code::kInvalid,
                 fmt::format("skip must be no, or a reason of 1 to {} bytes on one line, not '{}'",
                             kMostReason, shortened(printable(reason), 80))};
  if (erase) return Error{Code::kInvalid, "say erase: yes or a reason to skip it, not both"};
  return reason;
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto drives, drive_names(text_parameter(kParameters, parameters, "drives")));
  TRY(const auto erase, word_parameter(kParameters, parameters, "erase"));
  TRY(const auto method, word_parameter(kParameters, parameters, "method"));
  TRY(const auto skip, reason_of(parameters, erase == "yes"));
  TRY(const auto limit, duration_parameter(kParameters, parameters, "limit"));
  constexpr seconds kUsual{180}, kAround{900};
  return agent_job({.stage = kStage,
                    .order = {{"drives", drives},
                              {"erase", erase == "yes"},
                              {"purge", method == "purge"},
                              {"skip", skip},
                              {"limit", limit.count()}},
                    .tools = {"nvme", "lsblk", "blkid", "wipefs", "blockdev"},
                    .helpful = {"zpool"}},
                   std::min(kUsual, limit), 2 * limit + kAround);
}

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

std::optional<SanitizeLog> log_in(const AgentOutput& output, std::string_view name,
                                  const std::string& drive) {
  const auto* tool = output.tool(name, drive);
  if (tool == nullptr || tool->cut || tool->status != 0) return std::nullopt;
  return read_sanitize_log(tool->out);
}

/// Whether it may tell of an erase before: data was written since some erase, and nothing shows
/// that the drive was at work meanwhile.
bool may_be_older(const AgentOutput& output, const std::string& drive, const SanitizeLog& log) {
  if (log.is_untouched()) return false;
  const auto running = log_in(output, "sanitize-log-running", drive);
  if (running && running->state() == SanitizeLog::kRunning) return false;
  const auto before = log_in(output, "sanitize-log-before", drive);
  return !before || before->reads_as(log);
}

/// Why the drive's own log, or its tools, do not bear what cupel-node reports; empty where they do.
std::string contradiction(const AgentOutput& output, const std::string& drive,
                          const EraseTechnique& technique) {
  if (technique.action == 0) {
    bool any = false;
    for (const auto& tool : output.tools) {
      if (tool.name != "format" || tool.part != drive) continue;
      any = true;
      if (tool.status != 0) return "nvme format failed: " + complaint_of(tool);
    }
    return any ? "" : "no nvme format of it was run";
  }
  const auto log = log_in(output, "sanitize-log", drive);
  if (!log) return "its sanitize log was not read";
  if (!log->is_done() || log->action() != technique.action)
    return "its sanitize log does not report that erase as completed";
  return {};
}

/// Nothing is known against a drive whose log may be late.
bool is_in_doubt(const AgentOutput& output, const std::string& drive,
                 const EraseTechnique& technique) {
  const auto log = technique.action == 0 ? std::nullopt : log_in(output, "sanitize-log", drive);
  return log && may_be_older(output, drive, *log);
}

void not_erased(ErasedMedium& medium, std::string result, std::string why) {
  medium.result = std::move(result);
  medium.why = std::move(why);
  medium.verification.clear();
}

void take_erased(const AgentOutput& output, const std::string& technique, ErasedMedium& medium) {
  const auto* known = erase_technique(technique);
  if (known == nullptr) return not_erased(medium, "failed", "it was erased in an unknown way");
  if (auto why = contradiction(output, medium.drive, *known); !why.empty())
    return not_erased(medium, "failed", std::move(why));
  if (is_in_doubt(output, medium.drive, *known))
    return not_erased(medium, "not erased", "its sanitize log may be that of an earlier erase");
  medium.result = "erased";
  medium.method = known->method;
  medium.technique = known->name;
  medium.tool = known->tool;
}

ErasedMedium medium_of(const AgentOutput& output, const ToolOutput& tool, bool erases) {
  ErasedMedium medium{.drive = tool.part};
  const auto value = parse_json(tool.out);
  const auto word = [&](std::string_view key) {
    return value ? script::clean(text_at(*value, key).value_or("")) : std::string{};
  };
  medium.serial = inventory::reported_serial(word("serial"));
  medium.model = word("model");
  medium.verification = word("verification");
  const auto result = word("result"), technique = word("technique");
  auto why = word("why");
  if (result == "erased" && medium.serial.empty() && why.empty())
    why = "it reports no serial number, by which the record would name it";
  if (result == "erased" && !medium.serial.empty()) {
    take_erased(output, technique, medium);
  } else if (result == "failed" || result == "skipped") {
    not_erased(medium, result, std::move(why));
  } else {
    if (why.empty() && !erases)
      why = fmt::format("only looked: it would be erased by {} (erase: yes)", technique);
    not_erased(medium, "not erased", why.empty() ? "no erase of it was seen to end" : why);
  }
  if (medium.serial.empty()) medium.serial = "not reported by " + medium.drive;
  return medium;
}

bool is_drive(const ErasedMedium& medium) { return medium.drive.starts_with("nvme"); }

void add(const ErasedMedium& medium, Findings& findings) {
  const bool erased = medium.result == "erased", failed = medium.result == "failed";
  auto why = medium.result == "skipped" ? "skipped: " + medium.why : medium.why;
  const bool is_nvme = is_drive(medium);
  if (!is_nvme) why = medium.drive + ": " + why;
  findings.measurements.push_back({std::string{kSanitized}, is_nvme ? medium.drive : kOthers,
                                   erased ? 1.0 : 0.0, "", std::move(why)});
  if (erased || failed)
    findings.measurements.push_back(
        {std::string{kFailed}, medium.drive, failed ? 1.0 : 0.0, "", medium.why});
  auto [name, text] = fact_of(medium);
  if (findings.facts.contains(name)) name += " " + medium.drive;  // two of one serial number
  findings.facts.emplace(std::move(name), std::move(text));
}

/// A drive that is dead or gone was not erased, whatever became of the others.
void add_missing(const Profile& profile, std::size_t seen, Findings& findings) {
  const auto expected = static_cast<std::size_t>(expected_drives(profile));
  if (seen >= expected) return;
  findings.measurements.push_back(
      {std::string{kSanitized}, kOthers, 0, "",
       fmt::format(
           "the node has {} of the {} drives that its profile expects: what is gone or dead "
           "was not erased",
           seen, expected)});
}

Result<Findings> parse(const Profile& profile, const Output& output) {
  auto read = read_agent_output(kStage, output, {});
  if (!read && read.error().what == kNoDrive && expected_drives(profile) == 0) {
    Findings none;
    none.unknown.push_back(
        {"NVMe drives", "/sys/class/nvme", "the node has none, and its profile expects none"});
    return none;
  }
  if (!read) return read.error();
  if (!*read) return nothing_proven("cupel-node did not begin: " + script::complaint(output));
  const auto& agent_lines = **read;
  Findings findings;
  std::size_t drives = 0, media = 0;
  for (const auto& tool : agent_lines.tools) {
    if (tool.name != "medium" || ++media > kMostMedia) continue;
    const auto medium = medium_of(agent_lines, tool, agent_lines.amount("erase") == 1);
    drives += is_drive(medium) ? 1 : 0;
    add(medium, findings);
  }
  if (agent_lines.amount("all") != 0) add_missing(profile, drives, findings);
  if (findings.measurements.empty()) return nothing_proven("cupel-node reported no drive");
  return findings;
}

}  // namespace

Stage sanitize() {
  return {"sanitize",
          "every NVMe drive erases itself, and its log is read until that is done (nvme-cli)",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {0.02, 0.05, "drives that erase themselves draw less than they do under load"},
          kPrograms};
}

}  // namespace cupel::burnin
