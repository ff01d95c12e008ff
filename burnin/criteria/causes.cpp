#include "burnin/criteria/causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "base/text.h"
#include "burnin/criteria/compared_causes.h"
#include "burnin/measures/measure.h"
#include "inventory/shipped.h"
#include "inventory/yaml.h"

namespace cupel::burnin {
namespace {

using inventory::Problem;
using inventory::YamlFields;

constexpr std::string_view kCausesFile = "burnin/criteria/causes.yaml";
constexpr std::string_view kPart = "PART";
constexpr double kAsLikely = 0.1;  // shares that differ by no more are reported as equal
constexpr double kWhole = 0.001;

/// '*' stands for any text, once.
bool fits_pattern(std::string_view pattern, std::string_view text) {
  const auto star = pattern.find('*');
  if (star == pattern.npos) return pattern == text;
  const auto tail = pattern.substr(star + 1);
  return text.size() >= star + tail.size() && text.starts_with(pattern.substr(0, star)) &&
         text.ends_with(tail);
}

bool fits_any(const std::vector<std::string>& patterns, std::string_view text) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& each) {
           return fits_pattern(each, text);
         });
}

/// The text with the finding's part in the place of PART.
std::string filled(std::string text, const std::string& part) {
  const auto name = part.empty() ? std::string{"the machine"} : part;
  for (auto at = text.find(kPart); at != text.npos; at = text.find(kPart, at + name.size()))
    text.replace(at, kPart.size(), name);
  return text;
}

bool is_xid(std::string_view criterion) {
  return criterion == "gpu.xid" || criterion == "kernel.xid";
}

/// A number that is unlike others' is the number that it is: "hbm.copy" of "fleet: hbm.copy".
std::string_view measure_in(const Cause& cause) {
  const auto compared = compared_measure(cause.criterion);
  return compared.empty() ? std::string_view{cause.criterion} : compared;
}

/// In the worse of two large groups: nothing says that any part is at fault.
bool is_of_a_group(const Cause& cause) {
  return cause.decision == Decision::inconclusive && !compared_measure(cause.criterion).empty();
}

/// By what the times of events name it: "kernel.xid.79" of either reading of the kernel's log.
std::string event_of(const Cause& cause) {
  const bool is_sxid = cause.criterion == "nvswitch.sxid" || cause.criterion == "kernel.sxid";
  if (!is_sxid && !is_xid(cause.criterion)) return cause.criterion;
  return fmt::format("kernel.{}.{:.0f}", is_sxid ? "sxid" : "xid",
                     cause.quantity.value.value_or(0));
}

/// The event behind "first.kernel.xid.79"; empty: the number is no such time.
std::string_view event_in(const Measurement& number) {
  constexpr std::string_view kFirst = "first.";
  const std::string_view name{number.name};
  return name.starts_with(kFirst) ? name.substr(kFirst.size()) : std::string_view{};
}

/// Whether one of the events was seen at a time that `is_so` accepts.
template <class Accepts>
bool was_seen(const Findings& findings, const std::vector<std::string>& events,
              std::string_view part, Accepts is_so) {
  return std::ranges::any_of(findings.measurements, [&](const Measurement& each) {
    const auto event = event_in(each);
    return !event.empty() && fits_any(events, event) && fits_pattern(part, each.part) &&
           is_so(each.value);
  });
}

/// In one stage, whose times are of one clock.
bool fits_order_in(const CauseEntry& entry, const Cause& cause, const Findings& findings) {
  const auto own = event_of(cause);
  const auto found = std::ranges::find_if(findings.measurements, [&](const Measurement& each) {
    return event_in(each) == own && each.part == cause.part;
  });
  if (found == findings.measurements.end()) return false;
  const double at = found->value;
  const auto& part = entry.of.empty() ? cause.part : entry.of;
  const bool after = entry.after.empty() || was_seen(findings, entry.after, part,
                                                     [&](double other) { return other < at; });
  const bool before = entry.before.empty() || was_seen(findings, entry.before, part,
                                                       [&](double other) { return other > at; });
  return after && before;
}

bool fits_order(const CauseEntry& entry, const Cause& cause, const FindingsByStage& findings) {
  if (entry.after.empty() && entry.before.empty()) return true;
  return std::ranges::any_of(
      findings, [&](const auto& stage) { return fits_order_in(entry, cause, stage.second); });
}

bool fits(const CauseEntry& entry, const Cause& cause, std::span<const Cause> all) {
  if (!fits_any(entry.criteria, measure_in(cause)) || !fits_pattern(entry.part, cause.part))
    return false;
  const auto& value = cause.quantity.value;
  if (!entry.values.empty() &&
      (!value || std::ranges::find(entry.values, *value) == entry.values.end()))
    return false;
  if (entry.with.empty()) return true;
  return std::ranges::any_of(all, [&](const Cause& other) {
    return other.decision == Decision::fail && fits_any(entry.with, measure_in(other));
  });
}

/// Whether some measure is called so: a misspelled one would never fit.
bool names_a_measure(std::string_view pattern) {
  constexpr std::string_view kWords[] = {"audit: ", "stage ", "same ", "serial number of its own",
                                         "BMC of its own"};
  for (const auto word : kWords)
    if (pattern.starts_with(word)) return true;
  for (const auto& group : measure_rows())
    for (const auto& row : group)
      if (fits_pattern(pattern, row.name) || fits_pattern(row.name, pattern)) return true;
  return false;
}

void check_criteria_words(YamlFields& fields, std::string_view key,
                          const std::vector<std::string>& patterns) {
  for (const auto& each : patterns)
    if (!names_a_measure(each))
      fields.report(fields.place(key), fmt::format("no measure is called '{}'", printable(each)));
}

/// The measure that counts the event: "kernel.xid" of "kernel.xid.79".
std::string_view measure_of_event(std::string_view event) {
  for (const std::string_view kind : {"kernel.xid", "kernel.sxid"}) {
    const bool has_code = event.size() > kind.size() + 1 && event[kind.size()] == '.';
    if (!event.starts_with(kind) || !has_code) continue;
    const auto code = event.substr(kind.size() + 1);
    if (code == "*" || cupel::number<int>(code)) return kind;
  }
  return event;
}

/// Whether its time is measured: one that is not would never come before another.
bool is_timed(std::string_view event) {
  const bool timed = event.starts_with("kernel.") || event == "gpu.throttle.thermal" ||
                     event == "gpu.throttle.power_brake";
  // Each code has a time of its own.
  constexpr std::string_view kUntimed[] = {"kernel.xid", "kernel.sxid", "kernel.xid.count",
                                           "kernel.sxid.count"};
  if (std::ranges::find(kUntimed, event) != std::end(kUntimed)) return false;
  return timed && names_a_measure(measure_of_event(event));
}

std::vector<std::string> read_events(YamlFields& fields, std::string_view key) {
  auto events = fields.texts(key);
  for (const auto& each : events)
    if (!is_timed(each))
      fields.report(fields.place(key),
                    fmt::format("no event with a time is called '{}': messages of the kernel "
                                "(kernel.aer.corrected, kernel.xid.79), gpu.throttle.thermal and "
                                "gpu.throttle.power_brake have one",
                                printable(each)));
  if (fields.has(key) && events.empty())
    fields.report(fields.place(key), fmt::format("'{}' names no event", key));
  return events;
}

std::vector<Suspect> read_likely(YamlFields& fields, const std::string& file,
                                 std::vector<Problem>& problems) {
  std::vector<Suspect> all;
  double sum = 0;
  for (const auto& each : fields.list("likely")) {
    YamlFields suspect{each, "likely", file, problems};
    all.push_back({suspect.required("part"), suspect.number("share").value_or(0)});
    if (all.back().share <= 0)
      suspect.report(suspect.place("share"), "a share is more than 0 and at most 1");
    sum += all.back().share;
    suspect.finish();
  }
  if (std::abs(sum - 1) > kWhole)
    fields.report(fields.place("likely"),
                  fmt::format("the shares add up to {}, not to 1", plain(sum)));
  std::ranges::stable_sort(all, std::greater{}, &Suspect::share);
  return all;
}

CauseEntry read_entry(const inventory::YamlValue& value, const std::string& file,
                      std::vector<Problem>& problems) {
  YamlFields fields{value, "cause", file, problems};
  CauseEntry entry{.name = fields.required("name"),
                   .criteria = fields.texts("criteria"),
                   .with = fields.texts("with"),
                   .part = fields.text("part").value_or("*"),
                   .after = read_events(fields, "after"),
                   .before = read_events(fields, "before"),
                   .of = fields.text("of").value_or("")};
  if (!entry.of.empty() && entry.after.empty() && entry.before.empty())
    fields.report(fields.place("of"),
                  "'of' is the part of an event: name it by 'after' or 'before'");
  check_criteria_words(fields, "criteria", entry.criteria);
  check_criteria_words(fields, "with", entry.with);
  for (const auto& each : fields.texts("values"))
    if (const auto number = cupel::number<double>(each))
      entry.values.push_back(*number);
    else
      fields.report(fields.place("values"), fmt::format("no number: '{}'", printable(each)));
  entry.likely = read_likely(fields, file, problems);
  entry.apart = fields.required("apart");
  entry.remedy = fields.required("remedy");
  entry.vendor = fields.texts("vendor");
  if (entry.vendor.empty()) fields.report(fields.place("vendor"), "what does the vendor want?");
  fields.finish();
  return entry;
}

}  // namespace

/// Reads the file, part by part.
class CausesReader {
 public:
  CausesReader(const std::string& file, std::vector<Problem>& problems)
      : file_{file}, problems_{problems} {}

  Causes read(const inventory::YamlValue& root) {
    YamlFields fields{root, "file", file_, problems_};
    Causes causes;
    if (const auto* actions = fields.value("actions"))
      for (const auto& each : actions->items) causes.actions_.emplace_back(each.key, each.text);
    std::set<int> codes;
    for (const auto& each : fields.list("xids")) read_xid(each, causes, codes);
    std::set<std::string> names;
    for (const auto& each : fields.list("causes")) {
      causes.entries_.push_back(read_entry(each, file_, problems_));
      if (!names.insert(causes.entries_.back().name).second)
        problems_.push_back({{file_, each.line, each.column},
                             fmt::format("'{}' twice", printable(causes.entries_.back().name))});
    }
    fields.finish();
    return causes;
  }

 private:
  void read_xid(const inventory::YamlValue& value, Causes& causes, std::set<int>& codes) {
    YamlFields fields{value, "xid", file_, problems_};
    XidAdvice xid{.code = static_cast<int>(fields.integer("code", 1, 100'000).value_or(0)),
                  .now = fields.text("now").value_or(""),
                  .then = fields.text("then").value_or("")};
    for (const auto& [key, word] : {std::pair{"now", xid.now}, std::pair{"then", xid.then}})
      if (!word.empty() && causes.action(word) == nullptr)
        fields.report(fields.place(key), fmt::format("there is no action '{}'", printable(word)));
    if (!codes.insert(xid.code).second)
      fields.report(fields.place("code"), fmt::format("Xid {} twice", xid.code));
    fields.finish();
    causes.xids_.push_back(std::move(xid));
  }

  const std::string& file_;
  std::vector<Problem>& problems_;
};

bool Diagnosis::is_open() const {
  return suspects.size() > 1 && suspects[0].share - suspects[1].share <= kAsLikely + kWhole;
}

const std::string* Causes::action(std::string_view word) const {
  const auto found = std::ranges::find(
      actions_, word, [](const auto& each) { return std::string_view{each.first}; });
  return found == actions_.end() ? nullptr : &found->second;
}

std::optional<Causes> Causes::parse(std::string_view text, const std::string& file,
                                    std::vector<Problem>& problems) {
  const auto before = problems.size();
  const auto document = inventory::parse_yaml(text, file, problems);
  if (!document) return std::nullopt;
  CausesReader reader{file, problems};
  auto causes = reader.read(document->root);
  return problems.size() == before ? std::optional{std::move(causes)} : std::nullopt;
}

std::optional<Diagnosis> Causes::diagnose(const Cause& cause, std::span<const Cause> all,
                                          const FindingsByStage& findings) const {
  if (is_of_a_group(cause)) return std::nullopt;
  const auto entry = std::ranges::find_if(entries_, [&](const CauseEntry& each) {
    return fits(each, cause, all) && fits_order(each, cause, findings);
  });
  if (entry == entries_.end()) return std::nullopt;
  Diagnosis diagnosis{.name = entry->name,
                      .apart = filled(entry->apart, cause.part),
                      .remedy = filled(entry->remedy, cause.part)};
  for (const auto& each : entry->likely)
    diagnosis.suspects.push_back({filled(each.part, cause.part), each.share});
  for (const auto& each : entry->vendor) diagnosis.vendor.push_back(filled(each, cause.part));
  if (is_xid(cause.criterion) && cause.quantity.value)
    diagnosis.xid_action = advice_for_xid(static_cast<int>(*cause.quantity.value));
  return diagnosis;
}

bool Causes::asks_for_order(std::span<const Cause> causes) const {
  return std::ranges::any_of(causes, [&](const Cause& cause) {
    return std::ranges::any_of(entries_, [&](const CauseEntry& each) {
      const bool ordered = !each.after.empty() || !each.before.empty();
      return ordered && fits(each, cause, causes);
    });
  });
}

std::string Causes::advice_for_xid(int code) const {
  const auto xid = std::ranges::find(xids_, code, &XidAdvice::code);
  if (xid == xids_.end()) return {};
  const auto words = [&](const std::string& word) {
    const auto* text = action(word);
    return text == nullptr ? word : fmt::format("{}: {}", word, *text);
  };
  if (xid->now.empty()) return xid->then.empty() ? std::string{} : words(xid->then);
  if (xid->then.empty() || xid->then == xid->now) return words(xid->now);
  return fmt::format("{}; then {}", words(xid->now), words(xid->then));
}

const Causes& causes() {
  static const auto kCauses = [] {
    std::vector<Problem> problems;
    const auto* file = inventory::shipped_file(kCausesFile);
    auto read = Causes::parse(file == nullptr ? std::string_view{} : file->text,
                              std::string{kCausesFile}, problems);
    if (!read) throw std::logic_error{to_string(problems)};  // a shipped file, held by a test
    return *std::move(read);
  }();
  return kCauses;
}

std::string suspects_text(const Diagnosis& diagnosis) {
  std::vector<std::string> all, equal;
  for (const auto& each : diagnosis.suspects) {
    const bool top = diagnosis.suspects.front().share - each.share <= kAsLikely + kWhole;
    if (diagnosis.is_open() && top)
      equal.push_back(each.part);
    else
      all.push_back(fmt::format("{} ({:.0f} %)", each.part, each.share * 100));
  }
  auto text = fmt::format("{}", fmt::join(equal, ", or "));
  if (!equal.empty()) text += " (equally likely)";
  for (const auto& each : all) text += (text.empty() ? "" : ", ") + each;
  return text;
}

}  // namespace cupel::burnin
