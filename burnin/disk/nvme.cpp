#include "burnin/disk/nvme.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/bytes.h"
#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/disk/drive_names.h"
#include "burnin/disk/fio.h"
#include "burnin/node/drive_health.h"
#include "burnin/parameters.h"
#include "burnin/script.h"
#include "inventory/criterion.h"
#include "inventory/profile.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

/// 1: written, read back and compared; 0: it should have been, and was not.
constexpr std::string_view kBurned = "nvme.burned";

constexpr std::string_view kStage = "nvme";
constexpr std::string_view kNoDrive = "the node has no NVMe drive";

constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::array<std::string_view, 3> kRawWords{"no", "yes", "force"};
constexpr std::array kParameters{
    ParameterRow{"drives", ParameterRow::Kind::text, "all, or names with commas between", "all"},
    ParameterRow{"size",
                 ParameterRow::Kind::size,
                 "what is written and verified on each",
                 "4GiB",
                 {},
                 16 * kMiB,
                 16 * kTiB},
    ParameterRow{"runtime",
                 ParameterRow::Kind::duration,
                 "of each of four measurements",
                 "30s",
                 {},
                 1,
                 kDay},
    ParameterRow{.name = "raw",
                 .kind = ParameterRow::Kind::word,
                 .summary = "whether drives that hold nothing are written themselves",
                 .fallback = "no",
                 .words = kRawWords},
};
constexpr std::array<std::string_view, 13> kMeasures{kBurned,
                                                     "nvme.errors",
                                                     "nvme.write.bandwidth",
                                                     "nvme.read.bandwidth",
                                                     "nvme.write.iops",
                                                     "nvme.read.iops",
                                                     "nvme.write.latency.p99",
                                                     "nvme.read.latency.p99",
                                                     "nvme.media_errors.new",
                                                     "nvme.used",
                                                     "nvme.spare",
                                                     "nvme.warnings",
                                                     "nvme.temperature"};

constexpr double kBlock = kMiB;
constexpr double kUsual = 2e9,
                 kSick = 20e6;  // bytes a second: for the ETA, and what counts as hung
constexpr std::size_t kMostDrives = 256;

Result<std::string> raw_of(const Parameters& parameters, bool all) {
  const std::string raw{text_parameter(kParameters, parameters, "raw")};
  if (std::ranges::find(kRawWords, std::string_view{raw}) == kRawWords.end())
    return Error{Code::kInvalid, fmt::format("raw must be no, yes or force, not '{}'",
                                             shortened(printable(raw), 80))};
  if (raw == "force" && all)
    return Error{Code::kInvalid,
                 "raw: force overwrites what drives hold: name them in drives, not 'all'"};
  return raw;
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto drives, drive_names(text_parameter(kParameters, parameters, "drives")));
  TRY(const auto raw, raw_of(parameters, drives.empty()));
  TRY(auto size, size_parameter(kParameters, parameters, "size"));
  TRY(const auto runtime, duration_parameter(kParameters, parameters, "runtime"));
  size = std::floor(size / kBlock) * kBlock;
  const auto at = [&](double speed) { return seconds{static_cast<long>(2 * size / speed)}; };
  const auto limit = 4 * runtime + at(kSick) + seconds{300};
  std::vector<std::string> tools{"fio", "lsblk"};
  if (raw != "no") tools.insert(tools.end(), {"blkid", "wipefs"});
  return agent_job({.stage = kStage,
                    .order = {{"drives", drives},
                              {"raw", raw},
                              {"bytes", static_cast<std::int64_t>(size)},
                              {"runtime", runtime.count()},
                              {"limit", limit.count()}},
                    .tools = std::move(tools),
                    .helpful = {"zpool", "smartctl"}},
                   4 * runtime + at(kUsual) + seconds{10}, limit);
}

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

struct Asked {
  double bytes = 0, seconds = 0;
  bool many_in_flight = false;  // an engine that keeps several requests in flight
};

struct Way {
  std::string_view job, way, measure;
};
constexpr std::array kSequential{Way{"write", "write", "nvme.write.bandwidth"},
                                 Way{"read", "read", "nvme.read.bandwidth"}};
constexpr std::array kRandom{Way{"randwrite", "write", "nvme.write"},
                             Way{"randread", "read", "nvme.read"}};

void add_unknown(Findings& findings, std::string_view measure, const std::string& part,
                 std::string_view why) {
  findings.unknown.push_back({fmt::format("{} of {}", measure, part), "fio", std::string{why}});
}

void add_random(const Way& way, const fio::Speed& speed, const std::string& part,
                Findings& findings) {
  const std::string name{way.measure};
  findings.measurements.push_back({name + ".iops", part, speed.operations, "IOPS"});
  if (speed.p99_us)
    findings.measurements.push_back({name + ".latency.p99", part, *speed.p99_us, "us"});
}

/// What one job tells of its way; its errors. Errors: kNoMeasurement.
template <class Add>
Result<double> read_job(const json::value& root, const Way& way, const Asked& asked,
                        const std::string& part, bool speeds, Findings& findings, Add add) {
  const auto* job = fio::job_named(root, way.job);
  if (job == nullptr) return nothing_proven(fmt::format("fio tells nothing of job {}", way.job));
  TRY(const auto failed, fio::errors_of(*job, way.job));
  if (!speeds) return failed;
  const auto speed = fio::speed_of(*job, way.way, asked.seconds);
  if (speed)
    add(*speed);
  else
    add_unknown(findings, way.measure, part, "it ran shorter than requested");
  return failed;
}

Result<double> read_sequential(const json::value& root, const Way& way, const Asked& asked,
                               const std::string& part, bool direct, Findings& findings) {
  return read_job(root, way, asked, part, direct, findings, [&](const fio::Speed& speed) {
    findings.measurements.push_back({std::string{way.measure}, part, speed.gigabytes, "GB/s"});
  });
}

Result<double> read_random(const json::value& root, const Way& way, const Asked& asked,
                           const std::string& part, bool direct, Findings& findings) {
  return read_job(root, way, asked, part, direct && asked.many_in_flight, findings,
                  [&](const fio::Speed& speed) { add_random(way, speed, part, findings); });
}

/// Errors of all jobs, and the speeds where they are the drive's and not the page cache's.
Result<double> read_jobs(const json::value& root, const Asked& asked, const std::string& part,
                         bool direct, Findings& findings) {
  TRY(auto errors, fio::verified(root, asked.bytes));
  for (const auto& way : kSequential) {
    TRY(const auto failed, read_sequential(root, way, asked, part, direct, findings));
    errors += failed;
  }
  for (const auto& way : kRandom) {
    TRY(const auto failed, read_random(root, way, asked, part, direct, findings));
    errors += failed;
  }
  if (!direct)
    add_unknown(findings, "speeds", part,
                "the file system refuses O_DIRECT: the page cache's speed is not the drive's");
  else if (!asked.many_in_flight)
    add_unknown(findings, "nvme.iops", part, "this fio has no libaio: one request at a time");
  return errors;
}

/// The drives on which a file system lies, as lsblk reported: one, or several of an array.
std::vector<std::string> drives_on(const std::map<std::string, std::string>& places,
                                   std::string_view place) {
  std::vector<std::string> drives;
  for (const auto& [drive, where] : places)
    if (where == place || drive == place) drives.push_back(drive);
  return drives;
}

/// One fio: of one drive, or of an array. Where nothing was wrong, that is proven for each drive
/// that fio saw work.
Result<void> read_target(std::string_view text, const std::vector<std::string>& drives,
                         const Asked& asked, bool direct, Findings& findings) {
  const auto part = fmt::format("{}", fmt::join(drives, "+"));
  if (const auto why = script::after_mark_in(text, "cupel-short: "))
    return nothing_proven(script::clean(*why));
  const auto report = fio::json_of(text);
  if (report.empty())
    return nothing_proven(fmt::format("{}: fio reported nothing: {}", part,
                                      script::complaint({std::string{text}, "", 0})));
  TRY(const auto root, within("fio", parse_json(report)));
  TRY(const auto errors, within(part, read_jobs(root, asked, part, direct, findings)));
  if (drives.size() == 1 || errors > 0) {
    findings.measurements.push_back({"nvme.errors", part, errors, "errors"});
    return ok();
  }
  const auto used = fio::drives_under(root);
  for (const auto& drive : drives) {
    const auto seen = std::ranges::find(used, drive, &fio::Drive::name);
    if (seen == used.end() || seen->operations <= 0)
      return nothing_proven(fmt::format("fio did not see {} of {} work", drive, part));
    findings.measurements.push_back({"nvme.errors", drive, 0, "errors"});
  }
  return ok();
}

/// A drive that holds something: how fast it reads. That nothing failed proves no block right.
void read_only_target(std::string_view text, const std::string& drive, const Asked& asked,
                      Findings& findings) {
  const auto errors = [&]() -> Result<double> {
    const auto report = fio::json_of(text);
    if (report.empty()) return nothing_proven("fio reported nothing");
    TRY(const auto root, within("fio", parse_json(report)));
    TRY(const auto sequential,
        read_sequential(root, kSequential.back(), asked, drive, true, findings));
    TRY(const auto random, read_random(root, kRandom.back(), asked, drive, true, findings));
    return sequential + random;
  }();
  if (!errors)
    add_unknown(findings, "speeds", drive, errors.error().what);
  else if (*errors > 0)
    findings.measurements.push_back({"nvme.errors", drive, *errors, "errors"});
}

/// "cupel-drive: nvme0 /raid": where each drive was tested.
std::map<std::string, std::string> read_places(std::string_view text) {
  constexpr std::string_view kMark = "cupel-drive: ";
  std::map<std::string, std::string> places;
  for (const auto line : lines(text)) {
    if (!line.starts_with(kMark) || places.size() == kMostDrives) continue;
    const auto cells = words(line.substr(kMark.size()));
    if (cells.size() == 2) places.emplace(script::clean(cells[0]), script::clean(cells[1]));
  }
  return places;
}

/// The value of KEY="value" among blkid's pairs.
std::string_view pair_of(std::string_view pairs, std::string_view key) {
  const auto mark = fmt::format(" {}=\"", key);
  const auto at = pairs.find(mark);
  if (at == pairs.npos) return {};
  const auto value = pairs.substr(at + mark.size());
  return value.substr(0, value.find('"'));
}

/// Why a drive was not written, as people say it.
std::string reason_of(std::string_view why) {
  constexpr std::string_view kFound = "blkid finds on it:";
  if (!why.starts_with(kFound)) return script::clean(why);
  const auto pairs = why.substr(kFound.size());
  const auto type = script::clean(pair_of(pairs, "TYPE"));
  const auto usage = pair_of(pairs, "USAGE"), table = pair_of(pairs, "PTTYPE");
  if (type.empty() && !table.empty())
    return fmt::format("it holds a partition table ({})", script::clean(table));
  if (type.empty()) return script::clean(why);
  if (usage == "filesystem") return fmt::format("it holds a file system ({})", type);
  if (usage == "raid") return fmt::format("it is a member of an array or a pool ({})", type);
  return fmt::format("it holds data ({})", type);
}

/// Drives that should have been written and verified and were not, and why.
using Undone = std::vector<std::pair<std::string, std::string>>;

/// A drive that was not written. `asked`: it should have been.
struct Untested {
  std::string drive{};
  bool asked = false;
  std::string_view why{};
};

/// "cupel-untested: nvme3 asked: WHY".
std::vector<Untested> read_untested(std::string_view text) {
  constexpr std::string_view kMark = "cupel-untested: ";
  std::vector<Untested> all;
  for (const auto line : lines(text)) {
    if (!line.starts_with(kMark) || all.size() > 4 * kMostDrives) continue;
    const auto rest = line.substr(kMark.size());
    const auto space = rest.find(' '), colon = rest.find(": ");
    if (space == rest.npos || colon == rest.npos || space > colon) continue;
    all.push_back({script::clean(rest.substr(0, space)),
                   rest.substr(space + 1, colon - space - 1) == "asked", rest.substr(colon + 2)});
  }
  return all;
}

Undone add_untested(const std::vector<Untested>& all, Findings& findings) {
  Undone undone;
  for (const auto& each : all) {
    const auto why = reason_of(each.why);
    findings.unknown.push_back({"whether " + each.drive + " works", "fio", why});
    if (each.asked) undone.emplace_back(each.drive, why);
  }
  return undone;
}

std::optional<double> value_of(const Findings& findings, std::string_view name) {
  for (const auto& each : findings.measurements)
    if (each.name == name) return each.value;
  return std::nullopt;
}

/// The state after, and what is new since before.
void add_smart(const std::vector<script::Section>& sections, Findings& findings) {
  std::map<std::string, Findings, std::less<>> before;
  bool any = false;
  for (const auto& section : sections) {
    const auto space = section.name.find(' ');
    const auto what = section.name.substr(0, space);
    if (!section.whole || space == std::string::npos || !what.starts_with("smart-")) continue;
    const auto drive = section.name.substr(space + 1);
    Findings reported;
    add_drive_health(drive, section.text, reported);
    if (what == "smart-before") {
      before[drive] = std::move(reported);
      continue;
    }
    any = true;
    const auto errors = value_of(reported, "nvme.media_errors");
    const auto earlier = value_of(before[drive], "nvme.media_errors");
    for (auto& each : reported.measurements)
      if (each.name != "nvme.media_errors") findings.measurements.push_back(std::move(each));
    std::ranges::move(reported.unknown, std::back_inserter(findings.unknown));
    if (errors && earlier && *errors >= *earlier)
      findings.measurements.push_back(
          {"nvme.media_errors.new", drive, *errors - *earlier, "errors"});
  }
  if (!any)
    findings.unknown.push_back(
        {"health of the drives", "smartctl -j -A", "smartctl is not installed on the node"});
}

/// The reports of all fios: how many tests wrote, and the drives that one of them did not prove.
std::size_t read_reports(const std::vector<script::Section>& sections,
                         const std::map<std::string, std::string>& places, const Asked& asked,
                         Findings& findings, Undone& undone) {
  std::size_t targets = 0;
  for (const auto& section : sections) {
    const auto cells = words(section.name);
    if (!section.whole || cells.size() < 3) continue;
    if (cells[0] == "read") read_only_target(section.text, std::string{cells[2]}, asked, findings);
    if (cells[0] != "fio" || cells.size() != 4) continue;
    const auto drives = drives_on(places, cells[2]);
    if (drives.empty()) continue;
    ++targets;
    const auto target = read_target(section.text, drives, asked, cells[3] == "1", findings);
    for (const auto& drive : drives)
      if (target)
        findings.measurements.push_back({std::string{kBurned}, drive, 1, ""});
      else
        undone.emplace_back(drive, target.error().what);
  }
  return targets;
}

/// Whether the profile says what follows for a node of a drive that could not be written.
bool judges_burned(const Profile& profile) {
  return std::ranges::any_of(profile.criteria, [](const inventory::Criterion& each) {
    return each.stage == "nvme" && each.measure == kBurned;
  });
}

/// A drive that should have been written and was not is never silent: it is a number that the
/// profile judges, or the stage's own end.
Result<void> add_undone(const Profile& profile, const Undone& undone, Findings& findings) {
  if (judges_burned(profile)) {
    for (const auto& [drive, why] : undone)
      findings.measurements.push_back({std::string{kBurned}, drive, 0, "", script::clean(why)});
  } else if (!undone.empty()) {
    const auto& [drive, why] = undone.front();
    return nothing_proven(fmt::format("{} was not tested: {}", drive, why));
  }
  return ok();
}

bool has_wrong_blocks(const Findings& findings) {
  return std::ranges::any_of(findings.measurements, [](const Measurement& each) {
    return each.name == "nvme.errors" && each.value > 0;
  });
}

/// All that was printed, by cupel-node, or by the shell script of a job that an earlier version
/// started. Views of the output, or of `agent`.
struct Answer {
  AgentOutput agent{};
  Asked asked{};
  std::vector<Untested> untested{};
  std::map<std::string, std::string> places{};
  std::vector<script::Section> sections{};
  bool whole = false;  // it came to its end
};

Result<Answer> answer_of_script(const Output& output) {
  TRY(script::check_gave_up(output));
  const auto bytes = script::asked(output, "bytes"), time = script::asked(output, "seconds");
  const auto engine = script::after_mark(output, "cupel-engine: ");
  if (!bytes || !time || !engine)
    return nothing_proven("fio was not started: " + script::complaint(output));
  return Answer{.asked = {*bytes, *time, *engine == "libaio"},
                .untested = read_untested(output.text),
                .places = read_places(output.text),
                .sections = script::sections(output.text),
                .whole = script::after_mark(output, "cupel-all-told").has_value()};
}

/// The name of the script's section for what a tool printed; empty for what is no tool's.
std::string section_of(const ToolOutput& tool) {
  if (tool.name == "fio") return fmt::format("fio 1 {} 1", tool.part);
  if (tool.name == "fio-cached") return fmt::format("fio 1 {} 0", tool.part);
  if (tool.name == "read") return fmt::format("read 1 {}", tool.part);
  const bool health = tool.name == "smart-before" || tool.name == "smart-after";
  return health ? fmt::format("{} {}", tool.name, tool.part) : std::string{};
}

Result<Answer> answer_of(AgentOutput output) {
  constexpr std::string_view kPlace = "place ";
  const auto bytes = output.amount("bytes"), time = output.amount("seconds"),
             many = output.amount("many-in-flight");
  if (!bytes || !time || !many) return nothing_proven("fio was not started");
  Answer answer{.asked = {*bytes, *time, *many == 1}, .whole = true};
  for (const auto& [name, place] : output.notes)
    if (name.starts_with(kPlace) && answer.places.size() < kMostDrives)
      answer.places.emplace(name.substr(kPlace.size()), place);
  answer.agent = std::move(output);
  for (auto& tool : answer.agent.tools) {
    if (tool.name == "untested" || tool.name == "aside")
      answer.untested.push_back({tool.part, tool.name == "untested", tool.out});
    if (tool.name == "fio" || tool.name == "fio-cached" || tool.name == "read")
      tool.out = printed_by(tool).text;
    auto name = section_of(tool);
    if (name.empty()) continue;
    answer.whole = answer.whole && !tool.cut;
    answer.sections.push_back({std::move(name), tool.out, !tool.cut});
  }
  return answer;
}

/// Drives on whose file systems nothing could be written.
void add_short(const Answer& answer, Undone& undone) {
  for (const auto& tool : answer.agent.tools)
    if (tool.name == "short")
      for (const auto& drive : drives_on(answer.places, tool.part))
        undone.emplace_back(drive, script::clean(tool.out));
}

Result<Findings> judged(const Profile& profile, const Answer& answer) {
  Findings findings;
  auto undone = add_untested(answer.untested, findings);
  add_short(answer, undone);
  const auto targets = read_reports(answer.sections, answer.places, answer.asked, findings, undone);
  // A wrong block is a finding whatever else was left undone.
  const bool failed = has_wrong_blocks(findings);
  if (!failed && !answer.whole) return nothing_proven("the node's answer is cut short");
  if (const auto reported = add_undone(profile, undone, findings); !reported && !failed)
    return reported.error();
  if (targets == 0 && undone.empty())
    return nothing_proven(
        "no file system of an NVMe drive is mounted: raw: yes tests those that hold nothing");
  add_smart(answer.sections, findings);
  return findings;
}

/// A server may have other drives alone. Those that an order names are the audit's to miss.
Findings no_drives() {
  Findings findings;
  findings.unknown.push_back(
      {"NVMe drives", "/sys/class/nvme", "the node has none, and its profile expects none"});
  return findings;
}

Result<Findings> parse(const Profile& profile, const Output& output) {
  const auto answer = [&]() -> Result<Answer> {
    TRY(auto read, read_agent_output(kStage, output, {}));
    return read ? answer_of(*std::move(read)) : answer_of_script(output);
  }();
  if (!answer && answer.error().what == kNoDrive && expected_drives(profile) == 0)
    return no_drives();
  if (!answer) return answer.error();
  return judged(profile, *answer);
}

}  // namespace

Stage nvme() {
  return {"nvme",
          "every NVMe drive at once: verified, sequential and random, SMART before and after (fio)",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {0.05, 0.3, "all drives under load, and the CPU time of checksums"},
          kPrograms};
}

}  // namespace cupel::burnin
