#include "burnin/settings/settings.h"

#include <fmt/format.h>

#include <array>

#include "base/json.h"
#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/parameters.h"
#include "burnin/script.h"
#include "burnin/undo.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;
using Kind = ParameterRow::Kind;

constexpr std::array<std::string_view, 2> kOnOff{"on", "off"};
constexpr std::array<std::string_view, 1> kLocal{"local"};
/// Source: Linux, Documentation/admin-guide/pm/cpufreq.rst, "Generic Scaling Governors".
constexpr std::array<std::string_view, 5> kGovernors{"performance", "powersave", "schedutil",
                                                     "ondemand", "conservative"};
constexpr std::array kParameters{
    ParameterRow{"persistence", Kind::word, "GPUs' persistence mode", "as it is", kOnOff},
    ParameterRow{"power_limit", Kind::text, "of each GPU, in W: 600", "as it is"},
    ParameterRow{"gpu_clocks", Kind::text, "locked clocks of the GPUs, in MHz: 1410, or 210,1980",
                 "as they are"},
    ParameterRow{
        "app_clocks", Kind::text,
        "GPUs' application clocks, memory and SM, in MHz: 2619,1980; drivers since 580 know "
        "only gpu_clocks",
        "as they are"},
    ParameterRow{"ecc", Kind::word, "GPUs' ECC; takes effect when the node was restarted",
                 "as it is", kOnOff},
    ParameterRow{"mig", Kind::word, "GPUs' MIG mode", "as it is", kOnOff},
    ParameterRow{"governor", Kind::word, "of the CPUs' clocks", "as it is", kGovernors},
    ParameterRow{"numa_balancing", Kind::word, "the kernel's automatic NUMA balancing", "as it is",
                 kOnOff},
    ParameterRow{"irq_affinity", Kind::word,
                 "local: HCAs' interrupts on their own NUMA node's CPUs, irqbalance stopped",
                 "as it is", kLocal},
    ParameterRow{"at_most",
                 Kind::duration,
                 "after this time the node restores its settings by itself",
                 "24h",
                 {},
                 kMinute,
                 400 * kHour},
};
constexpr std::array<std::string_view, 3> kMeasures{"settings.set", "settings.failed",
                                                    "settings.restart"};
constexpr std::array<std::string_view, 3> kRestoreMeasures{"settings.left", "settings.restored",
                                                           "settings.lost"};
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::size_t kMostLines = 5000;  // of a script's
constexpr std::string_view kRestore = "settings-restore";
constexpr std::string_view kNeedsRestart = "needs a restart", kInside = "is inside";

constexpr double kLeastWatts = 50, kMostWatts = 3000;
constexpr int kLeastMegahertz = 100, kMostMegahertz = 5000, kMostMemoryMegahertz = 30'000;

/// As cupel-node knows it, which looks again at each (agent/node/stages/settings_plan.h).
struct SettingRequest {
  std::string name;
  std::string value;  // bounded: letters, digits and commas
};

bool is_parameter_given(const Parameters& parameters, const std::string& name) {
  return parameters.contains(name);
}

Error out_of_range(std::string_view name, std::string_view expected, std::string_view given) {
  return Error{Code::kInvalid, fmt::format("{} must be {}, not '{}'", name, expected,
                                           shortened(printable(given), 40))};
}

/// One of `known`. Errors: kInvalid.
Result<void> add_word(const Parameters& parameters, const std::string& name,
                      std::span<const std::string_view> known,
                      std::vector<SettingRequest>& requests) {
  if (!is_parameter_given(parameters, name)) return ok();
  const auto given = text_parameter(kParameters, parameters, name);
  if (std::ranges::find(known, given) == known.end()) {
    std::string all;
    for (const auto word : known) all += (all.empty() ? "" : ", ") + std::string{word};
    return out_of_range(name, (known.size() > 1 ? "one of " : "") + all, given);
  }
  const bool switches = name == "numa_balancing";
  requests.push_back({name, switches ? (given == "on" ? "1" : "0") : std::string{given}});
  return ok();
}

Result<void> add_power(const Parameters& parameters, std::vector<SettingRequest>& requests) {
  if (!is_parameter_given(parameters, "power_limit")) return ok();
  const auto given = text_parameter(kParameters, parameters, "power_limit");
  auto text = trimmed(given);
  if (text.ends_with('W')) text = trimmed(text.substr(0, text.size() - 1));
  const auto watts = number<int>(text);
  if (!watts || *watts < kLeastWatts || *watts > kMostWatts)
    return out_of_range("power_limit", fmt::format("{} to {} W", kLeastWatts, kMostWatts), given);
  requests.push_back({"power_limit", std::to_string(*watts)});
  return ok();
}

Result<void> add_clocks(const Parameters& parameters, std::vector<SettingRequest>& requests) {
  if (!is_parameter_given(parameters, "gpu_clocks")) return ok();
  const auto given = text_parameter(kParameters, parameters, "gpu_clocks");
  const auto parts = split(given, ',');
  const auto least = number<int>(trimmed(parts.front())), most = number<int>(trimmed(parts.back()));
  const bool fits = least && most && parts.size() <= 2 && *least >= kLeastMegahertz &&
                    *most <= kMostMegahertz && *least <= *most;
  if (!fits)
    return out_of_range("gpu_clocks",
                        fmt::format("one or two clocks of {} to {} MHz, the lower one first",
                                    kLeastMegahertz, kMostMegahertz),
                        given);
  requests.push_back({"gpu_clocks", fmt::format("{},{}", *least, *most)});
  return ok();
}

Result<void> add_application_clocks(const Parameters& parameters,
                                    std::vector<SettingRequest>& requests) {
  if (!is_parameter_given(parameters, "app_clocks")) return ok();
  const auto given = text_parameter(kParameters, parameters, "app_clocks");
  const auto parts = split(given, ',');
  const auto memory = number<int>(trimmed(parts.front())), sm = number<int>(trimmed(parts.back()));
  const bool fits = parts.size() == 2 && memory && sm && *memory >= kLeastMegahertz &&
                    *memory <= kMostMemoryMegahertz && *sm >= kLeastMegahertz &&
                    *sm <= kMostMegahertz;
  if (!fits)
    return out_of_range(
        "app_clocks",
        fmt::format("the memory's clock and the SMs' in MHz, {0} to {1} and {0} to {2}",
                    kLeastMegahertz, kMostMemoryMegahertz, kMostMegahertz),
        given);
  requests.push_back({"app_clocks", fmt::format("{},{}", *memory, *sm)});
  return ok();
}

Result<seconds> settings_at_most(const Parameters& parameters) {
  return duration_parameter(kParameters, parameters, "at_most");
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  std::vector<SettingRequest> requests;
  TRY(add_word(parameters, "persistence", kOnOff, requests));
  TRY(add_power(parameters, requests));
  TRY(add_clocks(parameters, requests));
  TRY(add_application_clocks(parameters, requests));
  TRY(add_word(parameters, "ecc", kOnOff, requests));
  TRY(add_word(parameters, "mig", kOnOff, requests));
  TRY(add_word(parameters, "governor", kGovernors, requests));
  TRY(add_word(parameters, "numa_balancing", kOnOff, requests));
  TRY(add_word(parameters, "irq_affinity", kLocal, requests));
  TRY(const auto at_most, settings_at_most(parameters));
  if (requests.empty())
    return Error{Code::kInvalid,
                 "with: says nothing that is to be set, as power_limit or governor"};
  json::array settings;
  for (const auto& request : requests)
    settings.push_back({{"name", request.name}, {"value", request.value}});
  return agent_job({.stage = "settings",
                    .order = {{"settings", std::move(settings)}, {"at_most", at_most.count()}},
                    .helpful = {"nvidia-smi", "systemctl", "systemd-run"}},
                   seconds{20}, seconds{600});
}

Result<Job> prepare_restore(const Profile&, const Parameters&) {
  return agent_job({.stage = kRestore}, seconds{10}, seconds{600});
}

/// What the node reported, by cupel-node or by the script of an earlier version.
struct Reported {
  std::vector<SettingLine> lines{};
  std::optional<std::string> guard{}, guard_why{}, record{};
};

/// One kind of line of the script: "cupel-setting|gpu.power|gpu3|700.00|600.00|600.00|".
struct ScriptRow {
  std::string_view mark;
  std::string_view did;
  std::size_t before, expected, is, why;  // its cells; 0: it has none
};
constexpr std::array kScriptRows{ScriptRow{"cupel-setting", "set", 3, 4, 5, 6},
                                 ScriptRow{"cupel-held", "held", 0, 3, 4, 0},
                                 ScriptRow{"cupel-restored", "restored", 3, 0, 4, 5}};

std::optional<SettingLine> script_line(std::string_view line) {
  const auto cells = split(line, '|');
  const auto* row = std::ranges::find(kScriptRows, cells.front(), &ScriptRow::mark);
  const bool is_ours = row != kScriptRows.end() && cells.size() == std::max(row->is, row->why) + 1;
  if (!is_ours) return std::nullopt;
  const auto cell = [&](std::size_t at) { return at == 0 ? "" : script::clean(cells[at]); };
  return SettingLine{std::string{row->did}, script::clean(cells[1]), script::clean(cells[2]),
                     cell(row->before),     cell(row->expected),     cell(row->is),
                     cell(row->why)};
}

std::optional<std::string> script_word(const Output& output, std::string_view mark) {
  const auto word = script::after_mark(output, mark);
  return word ? std::optional{script::clean(*word)} : std::nullopt;
}

std::optional<std::string> note_of(const AgentOutput& output, std::string_view name) {
  const auto found = output.notes.find(name);
  return found == output.notes.end() ? std::nullopt : std::optional{found->second};
}

Result<Reported> reported_by(std::string_view stage, const Output& output,
                             std::span<const std::string_view> measures) {
  TRY(auto agent, read_agent_output(stage, output, measures));
  if (agent)
    return Reported{std::move(agent->settings), note_of(*agent, "guard"),
                    note_of(*agent, "guard-why"), note_of(*agent, "record")};
  Reported reported{.guard = script_word(output, "cupel-guard: "),
                    .record = script_word(output, "cupel-record: ")};
  for (const auto line : lines(output.text)) {
    if (reported.lines.size() >= kMostLines) break;
    if (auto one = script_line(line)) reported.lines.push_back(*std::move(one));
  }
  return reported;
}

/// What the node cannot undo by itself is no fault of it.
void add_guard(const Reported& reported, Findings& findings) {
  const auto why =
      reported.guard_why && !reported.guard_why->empty() ? " (" + *reported.guard_why + ")" : "";
  if (!reported.guard)
    findings.unknown.push_back({"put back by the node itself", "systemd",
                                "absent: it is put back by the run alone, or the next one" + why});
  else if (!script::finite(*reported.guard))
    findings.unknown.push_back({"put back by the node itself after a restart", "systemd",
                                "no timer could be laid on its disk" + why});
}

Result<Findings> parse(const Profile&, const Output& output) {
  TRY(const auto reported, reported_by("settings", output, kMeasures));
  if (std::ranges::find(reported.lines, "set", &SettingLine::did) == reported.lines.end())
    return Error{Code::kNoMeasurement, "nothing was set: " + script::complaint(output)};
  if (output.exit_status != 0)
    return Error{Code::kNoMeasurement, fmt::format("it ended with exit status {} half done: {}",
                                                   output.exit_status, script::complaint(output))};
  Findings findings;
  double restarts = 0, all = 0;
  std::map<std::string, double, std::less<>> failed;
  for (const auto& line : reported.lines) {
    if (line.did != "set") continue;
    const bool met = line.expected == line.is || line.why.starts_with(kInside);
    failed[line.part] += met ? 0 : 1;
    if (!met)
      findings.facts["settings." + line.part] = script::clean(
          fmt::format("{}: expected {}, is {}; {}", line.key, line.expected, line.is, line.why));
    restarts += line.why == kNeedsRestart ? 1 : 0;
    ++all;
  }
  findings.measurements.push_back({"settings.set", "", all, "count"});
  for (const auto& [part, count] : failed)
    findings.measurements.push_back({"settings.failed", part, count, "count"});
  findings.measurements.push_back({"settings.restart", "", restarts, "count"});
  add_guard(reported, findings);
  return findings;
}

/// What was no longer as it was set when the run came to put it back: what was measured meanwhile
/// was measured under other settings. Its count.
double add_lost(const Reported& reported, Findings& findings) {
  double lost = 0;
  for (const auto& line : reported.lines) {
    if (line.did != "held" || line.expected == line.is) continue;
    ++lost;
    findings.facts["settings.lost." + line.part] = script::clean(
        fmt::format("{}: was set to {}, and is {}", line.key, line.expected, line.is));
  }
  if (!reported.record->starts_with("before") || reported.record->ends_with("by the run"))
    return lost;
  findings.facts["settings.lost"] =
      script::clean(fmt::format("all of it was put back {}", *reported.record));
  return std::max(lost, 1.0);
}

Result<Findings> parse_restore(const Profile&, const Output& output) {
  TRY(const auto reported, reported_by(kRestore, output, kRestoreMeasures));
  if (!reported.record)
    return Error{Code::kNoMeasurement,
                 "it is not known whether anything was put back: " + script::complaint(output)};
  Findings findings;
  double left = 0, restored = 0;
  for (const auto& line : reported.lines) {
    if (line.did != "restored") continue;
    const bool is_back = line.before == line.is && line.why != kNeedsRestart;
    (is_back ? restored : left) += 1;
    if (!is_back)
      findings.facts["settings." + line.part] = script::clean(
          fmt::format("{}: was {}, is {}; {}", line.key, line.before, line.is, line.why));
  }
  // The node's own word goes before what we could read of it.
  const auto& record = *reported.record;
  const bool is_gone = record == "none" || record == "gone" || record.starts_with("before");
  if (!is_gone) left = std::max(left, 1.0);
  findings.facts["settings.record"] = record;
  findings.measurements.push_back({"settings.left", "", left, "count"});
  findings.measurements.push_back({"settings.restored", "", restored, "count"});
  findings.measurements.push_back({"settings.lost", "", add_lost(reported, findings), "count"});
  return findings;
}

Findings nothing_was_set() {
  Findings findings;
  for (const auto* name : {"settings.left", "settings.lost"})
    findings.measurements.push_back({name, "", 0, "count"});
  return findings;
}

/// A record that cannot be read is an error, and not "nothing is left".
std::string settings_left_script() {
  return R"sh(record=${CUPEL_SETTINGS:-/var/lib/cupel/settings}/before
if [ -s "$record" ]; then
  kept=$(grep -v '^cupel-settings|' "$record") || [ $? -eq 1 ] || exit 1
  printf '%s\n' "$kept" | cut -d '|' -f 1 | sort -u
fi
)sh";
}

/// A node that knows nothing of what this run has set has lost its record, as one that boots from
/// an image does: what outlives a restart may still be set.
std::string why_in_doubt(const Findings& undone, const std::vector<Findings>& changed) {
  const auto reported = undone.facts.find("settings.record");
  if (reported == undone.facts.end() || reported->second != "none") return {};
  double set = 0;
  for (const auto& findings : changed)
    for (const auto& each : findings.measurements)
      if (each.name == "settings.set") set = std::max(set, each.value);
  if (set == 0) return {};
  return fmt::format(
      "{:.0f} settings were made, and the node's record of what was before is gone: was it "
      "restarted from an image? Look at ECC and MIG, which outlive that",
      set);
}

constexpr Undo kUndo{kRestore,        "at_most",   settings_at_most, settings_left_script,
                     nothing_was_set, why_in_doubt};

}  // namespace

Stage settings() {
  Stage row{"settings",
            "set what the playbook wants of GPUs, CPUs and kernel; put back before the verdict",
            kParameters,
            prepare,
            parse,
            kMeasures,
            {0, 0, "nothing is loaded"}};
  row.undo = &kUndo;
  row.programs = kPrograms;
  return row;
}

Stage settings_restore() {
  Stage row{kRestore,
            "put back what `settings` changed; planned by itself behind every `settings`",
            {},
            prepare_restore,
            parse_restore,
            kRestoreMeasures,
            {0, 0, "nothing is loaded"}};
  row.programs = kPrograms;
  return row;
}

}  // namespace cupel::burnin
