#include "burnin/board/psu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <set>

#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/board/feeds.h"
#include "burnin/parameters.h"
#include "burnin/script.h"
#include "inventory/profile.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::array<std::string_view, 3> kLoads{"auto", "gpu", "cpu"};
constexpr std::string_view kStage = "psu";
constexpr std::array<std::string_view, 2> kPrograms{"cupel-node", "cupel-burn"};
constexpr std::array<std::string_view, 2> kFeeds{"no", "yes"};
constexpr std::array kParameters{
    ParameterRow{"phase",
                 ParameterRow::Kind::duration,
                 "how long each of the four phases lasts: idle, full, idle again, square wave",
                 "2m",
                 {},
                 20,
                 kHour},
    ParameterRow{"patience",
                 ParameterRow::Kind::duration,
                 "how much longer all four may last until the BMC was read twice in each",
                 "30m",
                 {},
                 0,
                 kWeek},
    ParameterRow{"load", ParameterRow::Kind::word, "what makes the load", "auto", kLoads},
    ParameterRow{"feeds", ParameterRow::Kind::word,
                 "whether the rack's PDUs take away one feed after the other under full load", "no",
                 kFeeds},
};
constexpr std::array<std::string_view, 13> kMeasures{
    "psu.redundant", "psu.share.spread", "psu.voltage.lowest", "psu.power.step", "psu.lost",
    "psu.readings",  "sensor.leak",      "psu.feed.tested",    "psu.feed.lost",  "psu.feed.carried",
    "psu.feed.back", "psu.hot",          "psu.inlet.rise"};
constexpr std::array<std::string_view, 4> kPhases{"idle", "full", "rest", "wave"};
/// Two feeds, each off for minutes at most, between readings of a slow BMC.
constexpr seconds kFeedPatience{1800};
constexpr seconds kSettling{5};  // the supplies' own averages follow a step so late

/// So that lines of hours do not fill the spool; a step is seen early enough all the same.
seconds pause_of(seconds phase) { return std::clamp(phase / 60, seconds{1}, seconds{5}); }

Result<Job> prepare(const Profile& profile, const Parameters& parameters) {
  TRY(const auto phase, duration_parameter(kParameters, parameters, "phase"));
  TRY(const auto patience, duration_parameter(kParameters, parameters, "patience"));
  TRY(auto load, word_parameter(kParameters, parameters, "load"));
  TRY(const auto feeds, word_parameter(kParameters, parameters, "feeds"));
  if (load == "gpu" && !profile.has_gpus())
    return Error{Code::kInvalid,
                 "load: 'gpu' on machines of profile '" + profile.name + "', which has no GPUs"};
  if (load == "auto" && !profile.has_gpus()) load = "cpu";
  const bool takes_feeds = feeds == "yes";
  const auto for_feeds = takes_feeds ? kFeedPatience : seconds{0};
  const auto whole = (takes_feeds ? 5 : 4) * phase + (takes_feeds ? 3 : 2) * kSettling;
  const auto limit = 2 * whole + patience + for_feeds + seconds{600};
  return agent_job({.stage = kStage,
                    .order = {{"load", load},
                              {"phase", phase.count()},
                              {"patience", patience.count()},
                              {"feeds", for_feeds.count()},
                              {"pause", pause_of(phase).count()},
                              {"settling", kSettling.count()},
                              {"limit", limit.count()}},
                    .tools = {load == "gpu" ? "cupel-burn" : "stress-ng"}},
                   whole + seconds{10}, limit);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Of each supply what it gave in a phase, in the middle of its readings.
std::map<std::string, double, std::less<>> watts_in(const SupplyTranscript& reported,
                                                    std::string_view phase) {
  std::map<std::string, std::vector<double>, std::less<>> all;
  for (const auto& reading : reported.readings)
    if (reading.phase == phase)
      for (const auto& [part, supply] : reading.supplies)
        if (const auto watts = supply.watts()) all[part].push_back(*watts);
  std::map<std::string, double, std::less<>> middle;
  for (auto& [part, values] : all) middle[part] = median(std::move(values));
  return middle;
}

double sum_of(const std::map<std::string, double, std::less<>>& watts) {
  double sum = 0;
  for (const auto& [part, each] : watts) sum += each;
  return sum;
}

int readings_in(const SupplyTranscript& reported, std::string_view phase) {
  return static_cast<int>(std::ranges::count(reported.readings, phase, &SupplyReading::phase));
}

/// Errors: kNoMeasurement: what was read does not show one phase against another.
Result<void> check_read(const SupplyTranscript& reported) {
  if (reported.readings.empty())
    return Error{Code::kNoMeasurement,
                 "the BMC reported no supplies meanwhile: " +
                     (reported.why.empty() ? std::string{"it was not read"} : reported.why)};
  double longest = 0;
  for (const auto& reading : reported.readings) longest = std::max(longest, reading.seconds);
  for (const auto phase : {"idle", "full"}) {
    const int count = readings_in(reported, phase);
    if (count >= kEnoughReadings) continue;
    return Error{Code::kNoMeasurement,
                 fmt::format("{} of {} readings of the BMC lie within the phase '{}', and {} are "
                             "needed: one takes up to {:.0f} s, so have more patience "
                             "(patience: {:.0f}m)",
                             count, reported.readings.size(), phase, kEnoughReadings, longest,
                             std::ceil(std::max(16 * longest, 3600.0) / 60))};
  }
  return ok();
}

/// Of each supply how many readings have gone by, one after the other, that lack it. Redfish and
/// IPMI do not list the same ones: a reading lacks what an earlier one by the same protocol had.
class Absences {
 public:
  void read(const SupplyReading& reading) {
    auto& of_protocol = absent_[reading.by_ipmi];
    for (auto& [part, count] : of_protocol) ++count;
    for (const auto& [part, supply] : reading.supplies) of_protocol[part] = 0;
  }
  /// One answer of a BMC may lack a supply that it lists in the next.
  bool has_left(const std::string& part) const {
    constexpr int kEnough = 2;
    return std::ranges::any_of(absent_, [&](const auto& of_protocol) {
      const auto found = of_protocol.find(part);
      return found != of_protocol.end() && found->second >= kEnough;
    });
  }

 private:
  std::array<std::map<std::string, int, std::less<>>, 2> absent_{};
};

/// Whether it left OK, or the machine, at any time: read in whatever phase.
void add_lost(const SupplyTranscript& reported, Findings& findings) {
  std::map<std::string, bool, std::less<>> lost;
  std::set<std::string, std::less<>> unreported;
  Absences absences;
  for (const auto& reading : reported.readings) {
    if (reading.beside_feed) continue;
    for (const auto& [part, supply] : reading.supplies) {
      if (supply.health.empty())
        unreported.insert(part);
      else
        lost[part] = lost[part] || supply.health != "OK";
    }
    absences.read(reading);
    for (auto& [part, is_lost] : lost) is_lost = is_lost || absences.has_left(part);
  }
  for (const auto& [part, is_lost] : lost)
    findings.measurements.push_back({"psu.lost", part, is_lost ? 1.0 : 0.0, "count"});
  for (const auto& part : unreported)
    if (!lost.contains(part))
      findings.unknown.push_back({"health of " + part, "BMC", "not reported"});
}

void add_redundancy(const SupplyTranscript& reported, Findings& findings) {
  bool any = false, whole = true;
  for (const auto& reading : reported.readings)
    for (const auto& health : reading.redundancy) {
      if (health.empty() || reading.beside_feed) continue;
      any = true;
      whole = whole && health == "OK";
    }
  if (any)
    findings.measurements.push_back({"psu.redundant", "", whole ? 1.0 : 0.0, ""});
  else
    findings.unknown.push_back({"redundancy of the supplies", "BMC", "not reported"});
}

void add_voltages(const SupplyTranscript& reported, Findings& findings) {
  std::map<std::string, double, std::less<>> lowest;
  for (const auto& reading : reported.readings)
    for (const auto& [part, supply] : reading.supplies)
      if (supply.volts && !reading.beside_feed) {
        const auto [at, fresh] = lowest.emplace(part, *supply.volts);
        at->second = std::min(at->second, *supply.volts);
      }
  for (const auto& [part, volts] : lowest)
    findings.measurements.push_back({"psu.voltage.lowest", part, volts, "V"});
  if (lowest.empty())
    findings.unknown.push_back({"input voltage of the supplies", "BMC", "not reported"});
}

void add_power(const SupplyTranscript& reported, Findings& findings) {
  const auto idle = watts_in(reported, "idle"), full = watts_in(reported, "full");
  if (idle.empty() || full.empty()) {
    findings.unknown.push_back({"power of each supply", "BMC", "not reported"});
    return;
  }
  findings.measurements.push_back({"psu.power.step", "", sum_of(full) - sum_of(idle), "W"});
  const double mean = sum_of(full) / static_cast<double>(full.size());
  if (full.size() < 2 || mean <= 0) return;
  const auto [least, most] = std::ranges::minmax(full | std::views::values);
  findings.measurements.push_back({"psu.share.spread", "", 100 * (most - least) / mean, "%"});
}

/// In every reading, those beside a feed that is away included: then the others carry the most.
void add_heat(const SupplyTranscript& reported, Findings& findings) {
  std::map<std::string, bool, std::less<>> hot;
  std::vector<double> idle;
  std::optional<double> highest;
  for (const auto& reading : reported.readings) {
    for (const auto& [part, is_hot] : reading.hot) hot[part] = hot[part] || is_hot;
    if (!reading.inlet) continue;
    highest = std::max(highest.value_or(*reading.inlet), *reading.inlet);
    if (reading.phase == "idle") idle.push_back(*reading.inlet);
  }
  for (const auto& [part, is_hot] : hot)
    findings.measurements.push_back({"psu.hot", part, is_hot ? 1.0 : 0.0, "count"});
  if (highest && !idle.empty())
    findings.measurements.push_back(
        {"psu.inlet.rise", "inlet air", *highest - median(std::move(idle)), "C"});
  else
    findings.unknown.push_back({"temperature of the inlet", "BMC", "not reported"});
}

void add_leaks(const SupplyTranscript& reported, Findings& findings) {
  std::optional<int> wettest;
  for (const auto& reading : reported.readings)
    if (reading.wet) wettest = std::max(wettest.value_or(0), *reading.wet);
  if (wettest)
    findings.measurements.push_back(
        {"sensor.leak", "leak detector", static_cast<double>(*wettest), "count"});
}

/// Errors: kNoMeasurement, with what the stage said last.
Result<void> check_ended(const Output& output) {
  TRY(const auto agent, read_agent_output(kStage, output, kMeasures));
  if (agent || script::after_mark(output, "cupel-phase: over")) return ok();
  return Error{Code::kNoMeasurement,
               "the phases did not come to their end: " + script::complaint(output)};
}

Result<Findings> parse(const Profile&, const Output& output) {
  const auto reported = read_transcript(output.beside);
  Findings findings;
  add_feeds(reported, findings);
  // A node that went down ends no phase any more.
  const bool fell = std::ranges::any_of(reported.cuts, &FeedCut::fell);
  if (!fell) {
    TRY(check_ended(output));
  }
  const auto read = check_read(reported);
  if (!read && fell) return findings;
  TRY(read);
  add_lost(reported, findings);
  add_redundancy(reported, findings);
  add_voltages(reported, findings);
  add_power(reported, findings);
  add_heat(reported, findings);
  add_leaks(reported, findings);
  int counted = 0;
  for (const auto phase : kPhases) counted += readings_in(reported, phase);
  findings.measurements.push_back({"psu.readings", "", static_cast<double>(counted), "count"});
  if (reported.failed > 0)
    findings.unknown.push_back(
        {fmt::format("{} readings of the supplies", reported.failed), "BMC", reported.why});
  return findings;
}

bool wants_feeds_taken(const Parameters& with) {
  const auto given = with.find("feeds");
  return given != with.end() && given->second == "yes";
}

}  // namespace

Stage psu() {
  Stage row{"psu",
            "step the load up and down while the BMC's supplies are read",
            kParameters,
            prepare,
            parse,
            kMeasures,
            {1, 1, "all GPUs at their power limit for half of the time, or all cores"},
            kPrograms};
  row.beside = {.bmc_sensors = true, .pdu_feeds = wants_feeds_taken};
  return row;
}

}  // namespace cupel::burnin
