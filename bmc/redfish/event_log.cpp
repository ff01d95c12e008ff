#include "bmc/redfish/event_log.h"

#include <array>

#include "base/text.h"
#include "bmc/redfish/spelling.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostManagers = 8;
constexpr std::size_t kMostServices = 32;
constexpr std::size_t kMostPages = 40;
constexpr std::size_t kMostEntries = 20'000;

struct Service {
  std::string uri;
  std::string entries;
  int rank = 0;  // the SEL first: what others repeat of it is left out
};

/// Logs that hold no events: files to fetch, and what runs on the BMC itself.
bool is_no_event_log(std::string_view uri) {
  constexpr std::array<std::string_view, 7> kOthers{
      "dump", "journal", "postcode", "hostlogger", "debugtoken", "fdr", "faultlog"};
  const auto name = lower_case(last_name(uri));
  return std::ranges::any_of(kOthers, [&](auto word) { return name.find(word) != name.npos; });
}

int rank_of(const Document& service) {
  const auto name = lower_case(last_name(service.uri));
  if (name == "sel" || told(service.body, "LogEntryType") == "SEL") return 0;
  return name.find("audit") != name.npos || name == "sl" ? 2 : 1;
}

/// Baseboards have a manager of their own (GB200: HGX_BMC_0).
Task<std::vector<Document>> other_managers(Survey& survey, const Machine& machine) {
  std::vector<std::string> uris;
  for (const auto& board : machine.baseboards) {
    for (auto& uri : links_at(board.body, "Links/ManagedBy")) {
      const auto same = [&](const std::string& other) { return normal(other) == normal(uri); };
      const bool known =
          std::ranges::any_of(uris, same) || (machine.manager && same(machine.manager->uri));
      if (!known && uris.size() < kMostManagers) uris.push_back(std::move(uri));
    }
  }
  co_return co_await survey.read_all(std::move(uris), "BMC");
}

/// Of the systems, the managers and the chassis; one that two of them link to counts once (Lenovo).
Task<std::vector<Service>> services_of(Survey& survey, Machine& machine) {
  std::vector<std::string> collections;
  const auto add = [&](const json::value& body) {
    auto uri = link_at(body, "LogServices");
    const auto same = [&](const std::string& other) { return normal(other) == normal(uri); };
    if (!uri.empty() && std::ranges::none_of(collections, same))
      collections.push_back(std::move(uri));
  };
  add(machine.system.body);
  for (const auto& board : machine.baseboards) add(board.body);
  if (machine.manager) add(machine.manager->body);
  const auto others = co_await other_managers(survey, machine);
  for (const auto& manager : others) add(manager.body);
  co_await read_chassis(survey, machine);
  for (const auto& chassis : *machine.chassis) add(chassis.body);
  std::vector<std::string> uris;
  for (const auto& collection : collections) {
    if (uris.size() >= kMostServices) break;
    const auto found = co_await survey.links(collection, "logs");
    for (const auto& uri : found)
      if (!is_no_event_log(uri)) uris.push_back(uri);
  }
  std::vector<Service> services;
  const auto documents = co_await survey.read_all(std::move(uris), "log");
  for (const auto& one : documents) {
    if (one.body.is_null()) continue;
    const auto entries = link_at(one.body, "Entries");
    if (entries.empty()) {
      survey.unknown("log " + std::string{last_name(one.uri)}, one.uri, "has no Entries");
      continue;
    }
    services.push_back({one.uri, entries, rank_of(one)});
  }
  std::ranges::stable_sort(services, {}, &Service::rank);
  co_return services;
}

/// The page with the newest, where pages come oldest first and the BMC lets us skip.
std::string jump(const json::value& page, const std::string& next, std::size_t most) {
  const auto count = number_at(page, "Members@odata.count");
  const auto at = next.find("$skip=");
  if (!count || at == std::string::npos || next.find('&') != std::string::npos) return next;
  const auto told = number<std::size_t>(next.substr(at + 6));
  const auto all = static_cast<std::size_t>(std::clamp(*count, 0.0, 1e6));
  if (!told || all < most || all - most <= *told) return next;
  return next.substr(0, at + 6) + std::to_string(all - most);
}

class Gathering {
 public:
  Gathering(Survey& survey, std::optional<Seconds> since, std::size_t most)
      : survey_{survey}, since_{since}, most_{most} {}

  Task<void> read(Service service) {
    std::set<std::string> pages;
    std::string page = std::move(service.entries);
    std::size_t mine = 0;
    while (!page.empty() && pages.insert(page).second && pages.size() <= kMostPages) {
      const auto document = co_await survey_.read(page, "log entries");
      if (!document) co_return;
      const auto found = co_await entries_of(*document);
      const bool newest_first = comes_newest_first(found);
      const auto before = entries.size();
      for (const auto& one : found) take(one);
      mine += found.size();
      const auto next = path_of(text_at(document->body, "Members@odata.nextLink").value_or(""));
      if (found.empty() || entries.size() == before || entries.size() >= kMostEntries) break;
      if (newest_first && (mine >= most_ || is_older(found.back()))) {
        cut = cut || !next.empty();
        break;
      }
      page = newest_first ? next : jump(document->body, next, most_);
      cut = cut || page != next;
    }
    if (pages.size() > kMostPages) {
      cut = true;
      survey_.unknown("log entries", service.uri, "too many pages");
    }
  }

  std::vector<LogEntry> entries;
  bool cut = false;

 private:
  /// Most list whole entries, some links alone; then the newest are at either end.
  Task<std::vector<LogEntry>> entries_of(const Document& page) {
    std::vector<LogEntry> found;
    std::vector<std::string> links;
    const auto* list = find(page.body, "Members");
    if (list == nullptr || !list->is_array()) {
      survey_.unknown("log entries", page.uri, "lists no Members");
      co_return found;
    }
    for (const auto& one : list->get_array()) {
      const auto uri = path_of(text_at(one, "@odata.id").value_or(""));
      if (!one.is_object()) continue;
      if (one.get_object().size() > 1)
        found.push_back(parse_log_entry(one, uri));
      else if (!uri.empty())
        links.push_back(uri);
    }
    if (links.size() > most_) {
      cut = true;
      links.erase(links.begin(), links.end() - static_cast<std::ptrdiff_t>(most_));
    }
    const auto documents = co_await survey_.read_all(std::move(links), "log entry");
    for (const auto& one : documents)
      if (!one.body.is_null()) found.push_back(parse_log_entry(one.body, one.uri));
    co_return found;
  }

  static bool comes_newest_first(const std::vector<LogEntry>& found) {
    const auto dated = [](const LogEntry& one) { return one.time.has_value(); };
    const auto first = std::ranges::find_if(found, dated);
    const auto last = std::find_if(found.rbegin(), found.rend(), dated);
    return first != found.end() && last != found.rend() && *first->time > *last->time;
  }
  bool is_older(const LogEntry& one) const { return since_ && one.time && *one.time < *since_; }

  void take(const LogEntry& one) {
    if (is_older(one)) return;
    if (one.source.empty() || known_.insert(normal(one.source)).second) entries.push_back(one);
  }

  Survey& survey_;
  std::optional<Seconds> since_;
  std::size_t most_;
  std::set<std::string> known_;
};

}  // namespace

LogEntry parse_log_entry(const json::value& body, std::string uri) {
  LogEntry entry{.id = told(body, "Id"),
                 .severity = canonical_severity(told(body, "Severity")),
                 .message_id = told(body, "MessageId"),
                 .source = std::move(uri)};
  // EventTimestamp is when it happened, Created when the entry was made; most tell only the latter.
  entry.time = moment_of(told(body, "EventTimestamp"));
  if (!entry.time) entry.time = moment_of(told(body, "Created"));
  entry.message = text_at(body, "Message").value_or("");
  entry.message = printable(shortened(entry.message, 1000));
  if (entry.message.empty()) entry.message = told(body, "Name");
  for (const auto* path : {"SensorType", "Links/OriginOfCondition/@odata.id"})
    if (entry.sensor.empty()) entry.sensor = told(body, path);
  const auto code = told(body, "EntryCode");
  if (code == "Assert" || code == "Deassert") entry.direction = code;
  return entry;
}

Task<Result<EventLog>> read_event_log(Fetch& fetch, std::optional<Seconds> since, std::size_t most,
                                      Deadline deadline) {
  Observed seen;
  Survey survey{fetch, deadline, seen};
  CO_TRY(Machine machine, co_await find_machine(survey, Without::goes_on));
  Gathering gathering{survey, since, std::max<std::size_t>(most, 1)};
  const auto services = co_await services_of(survey, machine);
  for (const auto& service : services) co_await gathering.read(service);
  if (survey.stopped()) co_return *survey.stopped();
  EventLog log{.entries = std::move(gathering.entries), .cut = gathering.cut};
  // What has no date is older than all that has one.
  std::ranges::stable_sort(log.entries, {},
                           [](const LogEntry& one) { return one.time.value_or(Seconds::min()); });
  if (log.entries.size() > most) {
    log.cut = true;
    log.entries.erase(log.entries.begin(), log.entries.end() - static_cast<std::ptrdiff_t>(most));
  }
  log.unknown = std::move(seen.unknown);
  co_return log;
}

}  // namespace cupel::bmc::redfish
