#include "burnin/board/event_log.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "base/digest.h"
#include "base/text.h"
#include "burnin/board/entry_weight.h"
#include "burnin/board/part_names.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::array kParameters{ParameterRow{"wait",
                                              ParameterRow::Kind::duration,
                                              "how long the log is given to say something",
                                              "0s",
                                              {},
                                              0,
                                              kWeek}};
constexpr std::array<std::string_view, 4> kMeasures{"sel.new.critical", "sel.new.warning",
                                                    "sel.new.other", "sel.new.harmless"};
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::size_t kMostEntries = 2000;
constexpr std::size_t kMostParts = 64;  // that are distinguished; the rest counts for the machine

LogEntryWords words_of(const json::value& reported, const PartNames& names) {
  const auto at = [&](const char* name) { return text_at(reported, name).value_or(""); };
  LogEntryWords words{at("message"),  at("message_id"), at("sensor"),
                      at("severity"), at("direction"),  {}};
  // Where the entry itself lies says nothing: that is the log's place, below the BMC.
  words.part = names.of(words.message + " " + words.sensor, words.sensor);
  return words;
}

std::string_view measure_of(EntryWeight weight) {
  switch (weight) {
    case EntryWeight::critical:
      return "sel.new.critical";
    case EntryWeight::warning:
      return "sel.new.warning";
    case EntryWeight::other:
      return "sel.new.other";
    case EntryWeight::harmless:
      return "sel.new.harmless";
  }
  return "sel.new.other";
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto wait, duration_parameter(kParameters, parameters, "wait"));
  return Job{script::head() + script::needs("cupel-node") +
                 fmt::format("sleep {}\necho 'cupel-waited: {}'\n", wait.count(), wait.count()),
             wait + seconds{2}, wait + seconds{600}};
}

/// Counts of one part, and the first entry of the worst kind, in words.
struct Counts {
  std::map<std::string, double, std::less<>> by_measure{};
  std::string worst{};
};

class NewEntries {
 public:
  explicit NewEntries(const json::value& document)
      : names_{PartNames::from_json(find(document, "parts"))} {
    const auto* before = find(document, "before");
    if (before == nullptr || !before->is_array()) return;
    for (const auto& mark : before->get_array())
      if (mark.is_string()) known_.emplace(mark.get_string());
  }

  void take(const json::value& reported) {
    if (!reported.is_object() || known_.contains(mark_of(reported))) return;
    const auto entry = words_of(reported, names_);
    const auto [weight, family] = weigh(entry);
    const auto measure = measure_of(weight);
    const bool notable = weight >= EntryWeight::warning;
    auto part = !notable ? std::string{} : entry.part.empty() ? family : entry.part;
    if (!parts_.contains(part) && parts_.size() >= kMostParts) part.clear();
    auto& counts = parts_[script::clean(part)];
    ++counts.by_measure[std::string{measure}];
    const auto word = weight == EntryWeight::critical ? "Critical: " : "Warning: ";
    const bool first = counts.worst.empty() ||
                       (weight == EntryWeight::critical && !counts.worst.starts_with("Critical"));
    if (notable && first) counts.worst = word + script::clean(shortened(entry.message, 120));
  }

  Findings findings() const {
    Findings found;
    for (const auto measure : kMeasures) {
      for (const auto& [part, counts] : parts_) {
        const auto count = counts.by_measure.find(measure);
        const bool any = count != counts.by_measure.end();
        // Of the machine as a whole none is a number too.
        if (any || part.empty())
          found.measurements.push_back(
              {std::string{measure}, part, any ? count->second : 0, "count"});
      }
      const bool silent = !parts_.contains("");
      if (silent) found.measurements.push_back({std::string{measure}, "", 0, "count"});
    }
    for (const auto& [part, counts] : parts_)
      if (!counts.worst.empty())
        found.facts["sel." + (part.empty() ? std::string{"machine"} : part)] = counts.worst;
    return found;
  }

 private:
  PartNames names_;
  std::set<std::string, std::less<>> known_{};
  std::map<std::string, Counts, std::less<>> parts_{};
};

Findings unknown_log(std::string why) {
  Findings found;
  found.unknown.push_back({"the BMC's log", "BMC", script::clean(why)});
  return found;
}

Result<Findings> parse(const Profile&, const Output& output) {
  if (output.beside.empty()) return unknown_log("it was not read");
  const auto parsed = parse_json(output.beside);
  if (!parsed) return Error{Code::kMalformed, "what was read of the BMC's log is no JSON"};
  const auto& document = *parsed;
  if (const auto why = text_at(document, "failed")) return unknown_log(*why);
  const auto* entries = find(document, "entries");
  const auto* before = find(document, "before");
  if (entries == nullptr || !entries->is_array())
    return Error{Code::kMalformed, "what was read of the BMC's log holds no entries"};
  if (before == nullptr || !before->is_array())
    return unknown_log("what it said before is not known: nothing can be called new");
  NewEntries fresh{document};
  std::size_t count = 0;
  for (const auto& entry : entries->get_array())
    if (count++ < kMostEntries) fresh.take(entry);
  auto found = fresh.findings();
  const bool lost =
      flag_at(document, "cut") == true && !before->get_array().empty() &&
      std::ranges::none_of(entries->get_array(), [&](const json::value& entry) {
        const json::value mark(mark_of(entry));
        return std::ranges::find(before->get_array(), mark) != before->get_array().end();
      });
  if (lost)
    found.unknown.push_back({"older new entries of the BMC's log", "BMC",
                             "it said more than was read, or was rotated"});
  return found;
}

}  // namespace

std::string mark_of(const json::value& entry) {
  std::string text;
  for (const auto* name : {"id", "time", "severity", "message", "message_id", "source"})
    text += text_at(entry, name).value_or("") + '\n';
  return sha256_hex(text).substr(0, 8);
}

json::array marks_of(const json::value& document) {
  json::array marks;
  const auto* entries = find(document, "entries");
  if (entries == nullptr || !entries->is_array()) return marks;
  for (const auto& entry : entries->get_array())
    if (marks.size() < kMostEntries) marks.emplace_back(mark_of(entry));
  return marks;
}

Stage event_log() {
  Stage row{"sel",
            "what the BMC's log says that it had not said before; done after every stage anyway",
            kParameters,
            prepare,
            parse,
            kMeasures,
            {0, 0, "nothing is done"},
            kPrograms};
  row.is_bmc_log = true;
  return row;
}

}  // namespace cupel::burnin
