#include "burnin/settings/settings.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "burnin/parameters.h"
#include "burnin/script.h"
#include "burnin/settings/settings_script.h"
#include "burnin/undo.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using settings_script::Wish;
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
constexpr std::size_t kMostLines = 5000;
constexpr std::string_view kNeedsRestart = "needs a restart", kInside = "is inside";

constexpr double kLeastWatts = 50, kMostWatts = 3000;
constexpr int kLeastMegahertz = 100, kMostMegahertz = 5000, kMostMemoryMegahertz = 30'000;

bool is_said(const Parameters& parameters, const std::string& name) {
  return parameters.contains(name);
}

Error out_of_range(std::string_view name, std::string_view wanted, std::string_view said) {
  return Error{Code::kInvalid, fmt::format("{} must be {}, not '{}'", name, wanted,
                                           shortened(printable(said), 40))};
}

/// One of `known`. Errors: kInvalid.
Result<void> add_word(const Parameters& parameters, const std::string& name,
                      std::span<const std::string_view> known, std::vector<Wish>& wishes) {
  if (!is_said(parameters, name)) return ok();
  const auto said = text_parameter(kParameters, parameters, name);
  if (std::ranges::find(known, said) == known.end()) {
    std::string all;
    for (const auto word : known) all += (all.empty() ? "" : ", ") + std::string{word};
    return out_of_range(name, (known.size() > 1 ? "one of " : "") + all, said);
  }
  const bool switches = name == "numa_balancing";
  wishes.push_back({name, switches ? (said == "on" ? "1" : "0") : std::string{said}});
  return ok();
}

Result<void> add_power(const Parameters& parameters, std::vector<Wish>& wishes) {
  if (!is_said(parameters, "power_limit")) return ok();
  const auto said = text_parameter(kParameters, parameters, "power_limit");
  auto text = trimmed(said);
  if (text.ends_with('W')) text = trimmed(text.substr(0, text.size() - 1));
  const auto watts = number<int>(text);
  if (!watts || *watts < kLeastWatts || *watts > kMostWatts)
    return out_of_range("power_limit", fmt::format("{} to {} W", kLeastWatts, kMostWatts), said);
  wishes.push_back({"power_limit", std::to_string(*watts)});
  return ok();
}

Result<void> add_clocks(const Parameters& parameters, std::vector<Wish>& wishes) {
  if (!is_said(parameters, "gpu_clocks")) return ok();
  const auto said = text_parameter(kParameters, parameters, "gpu_clocks");
  const auto parts = split(said, ',');
  const auto least = number<int>(trimmed(parts.front())), most = number<int>(trimmed(parts.back()));
  const bool fits = least && most && parts.size() <= 2 && *least >= kLeastMegahertz &&
                    *most <= kMostMegahertz && *least <= *most;
  if (!fits)
    return out_of_range("gpu_clocks",
                        fmt::format("one or two clocks of {} to {} MHz, the lower one first",
                                    kLeastMegahertz, kMostMegahertz),
                        said);
  wishes.push_back({"gpu_clocks", fmt::format("{},{}", *least, *most)});
  return ok();
}

Result<void> add_application_clocks(const Parameters& parameters, std::vector<Wish>& wishes) {
  if (!is_said(parameters, "app_clocks")) return ok();
  const auto said = text_parameter(kParameters, parameters, "app_clocks");
  const auto parts = split(said, ',');
  const auto memory = number<int>(trimmed(parts.front())), sm = number<int>(trimmed(parts.back()));
  const bool fits = parts.size() == 2 && memory && sm && *memory >= kLeastMegahertz &&
                    *memory <= kMostMemoryMegahertz && *sm >= kLeastMegahertz &&
                    *sm <= kMostMegahertz;
  if (!fits)
    return out_of_range(
        "app_clocks",
        fmt::format("the memory's clock and the SMs' in MHz, {0} to {1} and {0} to {2}",
                    kLeastMegahertz, kMostMemoryMegahertz, kMostMegahertz),
        said);
  wishes.push_back({"app_clocks", fmt::format("{},{}", *memory, *sm)});
  return ok();
}

Result<seconds> settings_at_most(const Parameters& parameters) {
  return duration_parameter(kParameters, parameters, "at_most");
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  std::vector<Wish> wishes;
  TRY(add_word(parameters, "persistence", kOnOff, wishes));
  TRY(add_power(parameters, wishes));
  TRY(add_clocks(parameters, wishes));
  TRY(add_application_clocks(parameters, wishes));
  TRY(add_word(parameters, "ecc", kOnOff, wishes));
  TRY(add_word(parameters, "mig", kOnOff, wishes));
  TRY(add_word(parameters, "governor", kGovernors, wishes));
  TRY(add_word(parameters, "numa_balancing", kOnOff, wishes));
  TRY(add_word(parameters, "irq_affinity", kLocal, wishes));
  TRY(const auto at_most, settings_at_most(parameters));
  if (wishes.empty())
    return Error{Code::kInvalid,
                 "with: says nothing that is to be set, as power_limit or governor"};
  return Job{settings_script::set(wishes, at_most.count()), seconds{20}, seconds{600}};
}

Result<Job> prepare_restore(const Profile&, const Parameters&) {
  return Job{settings_script::restore(), seconds{10}, seconds{600}};
}

/// Lines of ours: "cupel-setting|gpu.power|gpu3|700.00|600.00|600.00|".
std::vector<std::vector<std::string_view>> rows_of(std::string_view text, std::string_view mark,
                                                   std::size_t cells) {
  std::vector<std::vector<std::string_view>> rows;
  for (const auto line : lines(text)) {
    if (!line.starts_with(mark) || rows.size() >= kMostLines) continue;
    auto row = split(line, '|');
    if (row.size() == cells) rows.push_back(std::move(row));
  }
  return rows;
}

Result<Findings> parse(const Profile&, const Output& output) {
  TRY(script::check_gave_up(output));
  const auto rows = rows_of(output.text, "cupel-setting|", 7);
  if (rows.empty())
    return Error{Code::kNoMeasurement, "nothing was set: " + script::complaint(output)};
  if (output.exit_status != 0)
    return Error{Code::kNoMeasurement, fmt::format("it ended with exit status {} half done: {}",
                                                   output.exit_status, script::complaint(output))};
  Findings findings;
  double restarts = 0;
  std::map<std::string, double, std::less<>> failed;
  for (const auto& row : rows) {
    const auto part = script::clean(row[2]);
    const auto wanted = script::clean(row[4]), got = script::clean(row[5]);
    const bool met = wanted == got || row[6].starts_with(kInside);
    failed[part] += met ? 0 : 1;
    if (!met)
      findings.facts["settings." + part] =
          script::clean(fmt::format("{}: expected {}, is {}; {}", row[1], wanted, got, row[6]));
    restarts += row[6] == kNeedsRestart ? 1 : 0;
  }
  findings.measurements.push_back({"settings.set", "", static_cast<double>(rows.size()), "count"});
  for (const auto& [part, count] : failed)
    findings.measurements.push_back({"settings.failed", part, count, "count"});
  findings.measurements.push_back({"settings.restart", "", restarts, "count"});
  const auto guard = script::said(output, "cupel-guard: ");
  if (!guard)
    findings.unknown.push_back({"put back by the node itself", "systemd",
                                "absent: it is put back by the run alone, or the next one"});
  else if (!script::finite(*guard))
    findings.unknown.push_back({"put back by the node itself after a restart", "systemd",
                                "no timer could be laid on its disk"});
  return findings;
}

/// What was no longer as it was set when the run came to put it back: what was measured meanwhile
/// was measured under other settings. Its count.
double add_lost(const Output& output, std::string_view record, Findings& findings) {
  double lost = 0;
  for (const auto& row : rows_of(output.text, "cupel-held|", 5)) {
    if (row[3] == row[4]) continue;
    ++lost;
    findings.facts["settings.lost." + script::clean(row[2])] =
        script::clean(fmt::format("{}: was set to {}, and is {}", row[1], row[3], row[4]));
  }
  if (!record.starts_with("before") || record.ends_with("by the run")) return lost;
  findings.facts["settings.lost"] = script::clean(fmt::format("all of it was put back {}", record));
  return std::max(lost, 1.0);
}

Result<Findings> parse_restore(const Profile&, const Output& output) {
  const auto record = script::said(output, "cupel-record: ");
  if (!record)
    return Error{Code::kNoMeasurement,
                 "it is not known whether anything was put back: " + script::complaint(output)};
  Findings findings;
  double left = 0, restored = 0;
  for (const auto& row : rows_of(output.text, "cupel-restored|", 6)) {
    const bool is_back = row[3] == row[4] && row[5] != kNeedsRestart;
    (is_back ? restored : left) += 1;
    if (!is_back)
      findings.facts["settings." + script::clean(row[2])] =
          script::clean(fmt::format("{}: was {}, is {}; {}", row[1], row[3], row[4], row[5]));
  }
  // The node's own word goes before what we could read of it.
  const bool is_gone = *record == "none" || *record == "gone" || record->starts_with("before");
  if (!is_gone) left = std::max(left, 1.0);
  findings.facts["settings.record"] = script::clean(*record);
  findings.measurements.push_back({"settings.left", "", left, "count"});
  findings.measurements.push_back({"settings.restored", "", restored, "count"});
  findings.measurements.push_back(
      {"settings.lost", "", add_lost(output, *record, findings), "count"});
  return findings;
}

Findings nothing_was_set() {
  Findings findings;
  for (const auto* name : {"settings.left", "settings.lost"})
    findings.measurements.push_back({name, "", 0, "count"});
  return findings;
}

std::string settings_left_script() {
  return R"sh(record=${CUPEL_SETTINGS:-/var/lib/cupel/settings}/before
if [ -s "$record" ]; then grep -v '^cupel-settings|' "$record" | cut -d '|' -f 1 | sort -u; fi
)sh";
}

/// A node that knows nothing of what this run has set has lost its record, as one that boots from
/// an image does: what outlives a restart may still be set.
std::string why_in_doubt(const Findings& undone, const std::vector<Findings>& changed) {
  const auto told = undone.facts.find("settings.record");
  if (told == undone.facts.end() || told->second != "none") return {};
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

constexpr std::string_view kRestore = "settings-restore";
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
  return row;
}

Stage settings_restore() {
  return {kRestore,
          "put back what `settings` changed; planned by itself behind every `settings`",
          {},
          prepare_restore,
          parse_restore,
          kRestoreMeasures,
          {0, 0, "nothing is loaded"}};
}

}  // namespace cupel::burnin
