#include "orchestrator/steps/bmc_watch.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/board/event_log.h"
#include "burnin/stage.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/record/codec.h"

namespace cupel::steps {
namespace {

using engine::StepEnd;
using engine::StepRequest;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMostEntries = 256;  // of one reading: the newest
constexpr seconds kLogPatience{90};        // a slow BMC's log has thousands of entries
constexpr seconds kSensorPatience{90};
constexpr milliseconds kShortestPause{200};
constexpr milliseconds kLongestPause{30'000};
constexpr std::size_t kMostReported = 24u << 20;
constexpr std::size_t kMostSensors = 600;
constexpr std::size_t kMostHeard = 2000;  // phases of one piece
/// Of a system that stopped by itself; lower case.
constexpr std::array<std::string_view, 3> kSystemStops{"critical stop", "kernel panic", "ospanic"};

json::object json_of(const bmc::LogEntry& entry) {
  json::object reported{{"id", entry.id},
                        {"severity", entry.severity},
                        {"message", valid_utf8(entry.message)},
                        {"message_id", entry.message_id},
                        {"sensor", valid_utf8(entry.sensor)},
                        {"source", entry.source}};
  if (!entry.direction.empty()) reported["direction"] = entry.direction;
  if (entry.time) reported["time"] = fmt::format("{:%FT%TZ}", *entry.time);
  return reported;
}

json::object json_of(const bmc::Sensor& sensor) {
  json::object reported{{"kind", to_string(sensor.kind)},
                        {"name", valid_utf8(sensor.name)},
                        {"source", sensor.source}};
  if (sensor.value) reported["value"] = *sensor.value;
  if (!sensor.state.empty()) reported["state"] = valid_utf8(sensor.state);
  if (!sensor.health.empty()) reported["health"] = sensor.health;
  return reported;
}

/// What the BMC called its parts when it reported them in this run.
json::array names_of(const std::vector<inventory::Part>& parts) {
  json::array names;
  for (const auto& part : parts) {
    // Whatever a log says, it says of one of these.
    const bool whole =
        part.kind == inventory::PartKind::system || part.kind == inventory::PartKind::bmc;
    if (whole) continue;
    json::array labels;
    const auto slash = part.source.rfind('/');
    const auto id = slash == std::string::npos ? std::string{} : part.source.substr(slash + 1);
    for (const auto& label : {part.source, id, part.slot})
      if (!label.empty()) labels.emplace_back(valid_utf8(label));
    names.push_back({{"name", part.name}, {"as", std::move(labels)}});
  }
  return names;
}

/// The log as a document: `entries`, or `failed`.
Task<json::object> read_log(bmc::Bmc& bmc, Deadline deadline) {
  const auto log = co_await bmc.log.read(std::nullopt, kMostEntries, deadline);
  json::object document;
  if (!log) {
    document["failed"] = valid_utf8(log.error().what);
    co_return document;
  }
  // What is new is among the newest: without those the log says nothing of this stage.
  if (log->newest_missing) {
    std::string why;
    for (const auto& one : log->unknown)
      why += (why.empty() ? "" : "; ") + one.fact + ": " + one.why + " (" + one.source + ")";
    document["failed"] = valid_utf8(shortened(why, 600));
    co_return document;
  }
  json::array entries;
  for (const auto& entry : log->entries) entries.push_back(json_of(entry));
  document["entries"] = std::move(entries);
  document["cut"] = log->cut;
  co_return document;
}

/// From the journal what is not on the board.
BmcBoard::Log& known_of(const StepEnvironment& environment, const StepRequest& request) {
  auto& log = environment.board->logs[request.node.name];
  if (log.mark && log.parts) return log;
  auto reported = record::node_record(environment.store, request.run, request.node.name);
  const auto record = reported ? *std::move(reported) : record::NodeRecord{};
  const auto found = record.evidence.find(kLogMark);
  if (!log.mark) log.mark = found == record.evidence.end() ? std::string{} : found->second;
  if (!log.parts) log.parts = names_of(record.bmc_parts);
  return log;
}

/// Of the log as it was at that mark; null where nobody knows.
json::value known_at(const StepEnvironment& environment, const std::string& mark) {
  if (mark.empty()) return nullptr;
  const auto kept = environment.store.evidence(mark);
  if (!kept) return nullptr;
  const auto parsed = parse_json(*kept);
  if (!parsed) return nullptr;
  return burnin::marks_of(*parsed);
}

std::string kept(StepEnvironment& environment, const json::object& document) {
  auto hash = environment.store.keep_evidence(json::serialize(document));
  return hash ? *std::move(hash) : std::string{};
}

/// What people read beside the stage's own end.
std::string in_words(const burnin::Findings& found) {
  std::string text;
  for (const auto& [part, what] : found.facts) {
    if (text.size() > 300) break;
    text += (text.empty() ? "" : "; ") + what;
  }
  return text;
}

}  // namespace

bool is_log_watched(const StepEnvironment& environment, const inventory::Node& node) {
  const auto profile = environment.inventory.profiles.find(node.profile);
  if (profile == environment.inventory.profiles.end()) return false;
  const auto stage = burnin::bmc_log_stage().name;
  return std::ranges::any_of(profile->second.criteria,
                             [&](const auto& criterion) { return criterion.stage == stage; });
}

Task<std::optional<std::string>> log_mark(StepEnvironment& environment, bmc::Bmc& bmc,
                                          const StepRequest& request) {
  if (!is_log_watched(environment, request.node)) co_return std::nullopt;
  request.waiting("the BMC's log");
  const auto document = co_await read_log(bmc, request.deadline.sooner(kLogPatience));
  if (document.contains("failed")) co_return std::nullopt;
  auto hash = kept(environment, document);
  if (hash.empty()) co_return std::nullopt;
  co_return hash;
}

namespace {

/// The log's entries since its mark; nothing where no mark is known, or the log was not read.
Task<std::optional<std::vector<json::value>>> entries_since_mark(StepEnvironment& environment,
                                                                 bmc::Bmc& bmc,
                                                                 const StepRequest& request) {
  const auto mark = *known_of(environment, request).mark;
  const auto before = known_at(environment, mark);
  if (!before.is_array()) co_return std::nullopt;
  const auto document = co_await read_log(bmc, request.deadline.sooner(kLogPatience));
  const auto* entries = document.if_contains("entries");
  if (entries == nullptr) co_return std::nullopt;
  std::vector<json::value> fresh;
  const auto& known = before.get_array();
  for (const auto& entry : entries->as_array()) {
    const json::value its_mark(burnin::mark_of(entry));
    if (std::ranges::find(known, its_mark) == known.end()) fresh.push_back(entry);
  }
  co_return fresh;
}

}  // namespace

Task<std::string> system_stop_in_log(StepEnvironment& environment, bmc::Bmc& bmc,
                                     const StepRequest& request) {
  const auto fresh = co_await entries_since_mark(environment, bmc, request);
  std::string newest;
  if (!fresh) co_return newest;
  for (const auto& entry : *fresh) {
    const auto message = text_at(entry, "message").value_or("");
    const auto words = lower_case(message + " " + text_at(entry, "message_id").value_or(""));
    const bool stops =
        std::ranges::any_of(kSystemStops, [&](auto each) { return words.contains(each); });
    if (stops) newest = printable(shortened(message, 120));
  }
  co_return newest;
}

Task<std::optional<std::string>> new_in_log(StepEnvironment& environment, bmc::Bmc& bmc,
                                            const StepRequest& request) {
  constexpr std::size_t kShown = 3;
  const auto fresh = co_await entries_since_mark(environment, bmc, request);
  if (!fresh) co_return std::nullopt;
  const auto first = fresh->size() > kShown ? fresh->size() - kShown : 0;
  std::string reported;
  for (std::size_t i = first; i < fresh->size(); ++i) {
    const auto& entry = (*fresh)[i];
    const auto time = text_at(entry, "time").value_or("");
    reported += (reported.empty() ? "" : ", ") + (time.empty() ? "" : time + " ") +
                printable(shortened(text_at(entry, "message").value_or(""), 120));
  }
  co_return reported;
}

Task<void> LogWatch::before() {
  if (request_.handle || !is_log_watched(environment_, request_.node)) co_return;
  if (!known_of(environment_, request_).mark->empty()) co_return;
  const auto bmc = environment_.bmc(request_.node);
  mark_ = co_await log_mark(environment_, *bmc, request_);
  co_await bmc->log_out();
}

Task<void> LogWatch::after(StepEnd& end) {
  if (!is_log_watched(environment_, request_.node)) co_return;
  request_.waiting("the BMC's log");
  const auto bmc = environment_.bmc(request_.node);
  auto document = co_await read_log(*bmc, request_.deadline.sooner(kLogPatience));
  co_await bmc->log_out();
  auto& known = known_of(environment_, request_);
  document["before"] =
      known_at(environment_, known.mark->empty() ? mark_.value_or("") : *known.mark);
  document["parts"] = *known.parts;
  const auto hash = kept(environment_, document);
  burnin::Output output;
  output.beside = json::serialize(document);
  const auto found =
      burnin::bmc_log_stage().parse(environment_.inventory.profile_of(request_.node), output);
  if (!found) co_return;
  auto log = record::to_json(*found);
  log["evidence"] = hash;
  end.found["log"] = std::move(log);
  if (!document.contains("failed") && !hash.empty()) {
    end.found[kLogMark] = hash;
    // Until the journal has it, nobody may build on it; nor on the one before it once it has.
    known.mark.reset();
    new_mark_ = hash;
  }
  if (const auto words = in_words(*found); !words.empty())
    end.detail += "; new in the BMC's log: " + words;
}

std::function<void()> LogWatch::when_written() const {
  return [board = environment_.board, node = request_.node.name, mark = new_mark_] {
    if (mark) board->logs[node].mark = *mark;
  };
}

void SensorWatch::say(json::object line) {
  if (reported_.size() < kMostReported) reported_ += json::serialize(line) + "\n";
}

void SensorWatch::heard(std::string_view piece) {
  half_ += piece;
  json::array phases;
  const auto end = half_.rfind('\n');
  if (end == std::string::npos) {
    if (half_.size() > 65536) half_.clear();
    return;
  }
  for (const auto line : lines(std::string_view{half_}.substr(0, end))) {
    const auto phase =
        phases.size() < kMostHeard ? burnin::phase_in(line) : std::optional<std::string>{};
    if (phase) phases.emplace_back(shortened(*phase, 40));
  }
  half_.erase(0, end + 1);
  if (phases.empty()) return;
  const auto is_last = [this](const json::value& phase) { return phase == json::value(last_); };
  // Nothing new, and nothing was read meanwhile: every second for hours.
  const bool same = std::ranges::all_of(phases, is_last), old = !fresh_ && same;
  if (!same) failed_ = 0;
  phases_.hear(phases);
  last_ = std::string{phases.back().get_string()};
  fresh_ = false;
  if (!old) say({{"heard", std::move(phases)}});
  if (!same) news();
}

std::string SensorWatch::read_enough() const {
  constexpr int kSilent = 3;
  const auto& phase = phases_.now();
  if (!alone_.empty() && phase == alone_) return {};
  const bool enough = phases_.count(phase) >= burnin::kEnoughReadings || failed_ >= kSilent;
  return enough ? phase : std::string{};
}

bool SensorWatch::take(const json::array& sensors) {
  const auto supplies = burnin::read_supplies(sensors, *known_of(environment_, request_).parts);
  read_ = count_;
  well_.reset();
  const bool is_whole = listing_.is_whole(sensors.size(), supplies);
  if (supplies.empty()) return is_whole;
  well_ = std::ranges::all_of(supplies, [](const auto& each) { return each.second.well(); });
  return true;
}

void SensorWatch::say_parts() { say({{"parts", *known_of(environment_, request_).parts}}); }

Task<void> SensorWatch::read() {
  say_parts();
  const auto bmc = environment_.bmc(request_.node);
  auto failing = kShortestPause;
  for (;;) {
    ++count_;
    fresh_ = true;
    say({{"began", count_}});
    phases_.begin();
    const auto began = Deadline::Clock::now();
    const auto reported = co_await bmc->sensors.read(request_.deadline.sooner(kSensorPatience));
    const std::chrono::duration<double> took = Deadline::Clock::now() - began;
    const bool over = co_await cancelled();
    if (over) break;
    fresh_ = true;
    // A BMC is left alone for as long as it was busy with us.
    auto pause = std::clamp(std::chrono::ceil<milliseconds>(took), kShortestPause, kLongestPause);
    if (reported) {
      json::array sensors;
      for (const auto& sensor : reported->sensors)
        if (sensors.size() < kMostSensors && sensor.kind != bmc::SensorKind::temperature &&
            sensor.kind != bmc::SensorKind::fan)
          sensors.push_back(json_of(sensor));
      const bool is_whole = take(sensors);
      say({{"reading", count_}, {"seconds", took.count()}, {"sensors", std::move(sensors)}});
      // One that restarts answers before it lists anything: nothing was read of this phase.
      if (is_whole) {
        phases_.end();
      } else {
        phases_.drop();
        ++failed_;
      }
      failing = kShortestPause;
    } else {
      phases_.drop();
      ++failed_;
      say({{"reading", count_}, {"failed", valid_utf8(reported.error().what)}});
      failing = std::min(failing * 2, kLongestPause);
      pause = std::max(pause, failing);
    }
    news();
    const auto rested = co_await pause_for(pause);
    if (!rested) break;
  }
  co_await bmc->log_out();
}

}  // namespace cupel::steps
