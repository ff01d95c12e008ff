#include "bmc/redfish/event_log.h"

#include <array>
#include <deque>

#include "base/text.h"
#include "bmc/redfish/spelling.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostManagers = 8;
constexpr std::size_t kMostServices = 32;
/// Of one log. The largest seen: 5,000 entries, 50 a page.
constexpr std::size_t kMostPages = 400;
constexpr std::size_t kMostRead = 100'000;

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
  if (name == "sel" || reported(service.body, "LogEntryType") == "SEL") return 0;
  return name.find("audit") != name.npos || name == "sl" ? 2 : 1;
}

/// Baseboards have a manager of their own (GB200: HGX_BMC_0).
Task<std::vector<Document>> other_managers(Survey& survey, const Machine& machine) {
  std::vector<std::string> uris;
  std::string first_left;
  for (const auto& board : machine.baseboards) {
    for (auto& uri : links_at(board.body, "Links/ManagedBy")) {
      const auto same = [&](const std::string& other) { return normal(other) == normal(uri); };
      const bool known =
          std::ranges::any_of(uris, same) || (machine.manager && same(machine.manager->uri));
      if (known) continue;
      if (uris.size() < kMostManagers)
        uris.push_back(std::move(uri));
      else if (first_left.empty())
        first_left = std::move(uri);
    }
  }
  if (!first_left.empty())
    survey.unknown("logs", first_left,
                   "more than " + std::to_string(kMostManagers) +
                       " managers of baseboards: the rest is not read");
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
    if (uris.size() >= kMostServices) {
      survey.unknown("logs", collection,
                     "more than " + std::to_string(kMostServices) + ": the rest is not read");
      break;
    }
    const auto found = co_await survey.links(collection, "logs");
    for (const auto& uri : found) {
      const auto same = [&](const std::string& other) { return normal(other) == normal(uri); };
      if (!is_no_event_log(uri) && std::ranges::none_of(uris, same)) uris.push_back(uri);
    }
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

/// Where the last `most` of `count` entries begin, asked for by their number (DSP0266, 7.3.1,
/// $skip): the next page's own question with another number, where it counts so, too.
std::string skip_uri(const std::string& entries, const std::string& next, std::size_t number) {
  constexpr std::string_view kSkip = "$skip=";
  const auto at = next.find(kSkip);
  if (at == std::string::npos)
    return entries + (entries.find('?') == std::string::npos ? "?" : "&") + std::string{kSkip} +
           std::to_string(number);
  const auto digits = at + kSkip.size();
  const auto end = std::min(next.find_first_not_of("0123456789", digits), next.size());
  return next.substr(0, digits) + std::to_string(number) + next.substr(end);
}

/// One page of a log: whole entries, or links to entries.
struct Page {
  std::vector<LogEntry> found{};
  std::vector<std::string> links{};
  std::string next{};                  // empty: it is the last one
  std::optional<std::size_t> count{};  // of the log's entries
};

/// In which order a log's pages and their entries come, by the dates of neighbors: the more
/// frequent direction, as a BMC's clock may jump once.
struct Order {
  std::optional<Seconds> last{};
  int ascending = 0, descending = 0;

  void note(const LogEntry& entry) {
    if (!entry.time) return;
    if (last && *last < *entry.time) ++ascending;
    if (last && *last > *entry.time) ++descending;
    last = entry.time;
  }
  bool oldest_first() const { return ascending > descending; }
  bool newest_first() const { return descending > ascending; }
};

/// One service's log while it is read.
struct Reading {
  Service service;
  std::set<std::string> pages{};    // asked for
  std::set<std::string> sources{};  // of its entries and links
  std::deque<LogEntry> kept{};
  std::vector<std::string> links{};
  std::size_t read = 0;  // entries and links, older ones too
  Order order{};
  bool has_jumped = false;
  std::string why_not_all{};  // of a log that goes on where it was not read any more
};

/// Sorts them; what has no date is older than all that has one. Returns whether there were more.
bool leave_newest(std::vector<LogEntry>& entries, std::size_t most) {
  std::ranges::stable_sort(entries, {},
                           [](const LogEntry& one) { return one.time.value_or(Seconds::min()); });
  if (entries.size() <= most) return false;
  entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(most));
  return true;
}

class Gathering {
 public:
  Gathering(Survey& survey, std::optional<Seconds> since, std::size_t most)
      : survey_{survey}, since_{since}, most_{std::min(most, EventLog::kMost)} {}

  Task<void> read(Service service) {
    Reading log{.service = std::move(service)};
    std::string uri = log.service.entries;
    while (!uri.empty() && log.pages.insert(uri).second) {
      if (log.pages.size() > kMostPages || log.read >= kMostRead) {
        log.why_not_all = "it goes on after " + std::to_string(log.read) + " entries on " +
                          std::to_string(log.pages.size() - 1) + " pages";
        break;
      }
      const auto document = co_await survey_.read(uri, "log entries");
      if (!document) {
        log.why_not_all = "a page could not be read";
        break;
      }
      const Page page = page_of(*document);
      const bool any_recent =
          std::ranges::any_of(page.found, [&](const LogEntry& one) { return !is_older(one); });
      if (!take(log, page)) {
        if (!page.next.empty() && !log.pages.contains(page.next))
          log.why_not_all = "a page brought nothing new";
        break;
      }
      // Also of entries that another log has: what is behind them is older than most_ known ones.
      const bool enough = log.sources.size() >= most_ || log.kept.size() >= most_;
      if (log.order.newest_first() && log.links.empty() && (enough || !any_recent)) {
        cut = cut || (!page.next.empty() && !is_older(page.found.back()));
        break;
      }
      uri = page.next;
      if (log.order.oldest_first() && !uri.empty() && !log.has_jumped)
        uri = co_await behind_jump(log, page);
    }
    co_await read_links(log);
    conclude(std::move(log));
  }

  std::vector<LogEntry> entries;
  bool cut = false;
  bool newest_missing = false;

 private:
  Page page_of(const Document& document) {
    Page page{.next = path_of(text_at(document.body, "Members@odata.nextLink").value_or(""))};
    if (const auto count = number_at(document.body, "Members@odata.count"); count && *count >= 0)
      page.count = static_cast<std::size_t>(std::min(*count, 1e6));
    const auto* list = find(document.body, "Members");
    if (list == nullptr || !list->is_array()) {
      survey_.unknown("log entries", document.uri, "lists no Members");
      return page;
    }
    for (const auto& one : list->get_array()) {
      if (!one.is_object()) continue;
      const auto uri = path_of(text_at(one, "@odata.id").value_or(""));
      if (one.get_object().size() > 1)
        page.found.push_back(parse_log_entry(one, uri));
      else if (!uri.empty())
        page.links.push_back(uri);
    }
    return page;
  }

  /// Whether there was anything on the page that no page of this log had before. Of a log whose
  /// oldest come first only the newest are kept, and of no other more than a reading holds.
  bool take(Reading& log, const Page& page) {
    bool any_new = false;
    for (const auto& one : page.found) {
      const auto source = normal(one.source);
      const bool is_new = source.empty() || known_.insert(source).second;
      any_new = log.sources.insert(source).second || source.empty() || any_new;
      log.order.note(one);
      if (is_new && !is_older(one)) log.kept.push_back(one);
    }
    for (const auto& uri : page.links) {
      any_new = log.sources.insert(normal(uri)).second || any_new;
      if (known_.insert(normal(uri)).second) log.links.push_back(uri);
    }
    log.read += page.found.size() + page.links.size();
    const auto room = log.order.oldest_first() ? most_ : EventLog::kMost;
    while (log.kept.size() > room) {
      cut = true;
      if (log.order.newest_first())
        log.kept.pop_back();
      else
        log.kept.pop_front();
    }
    return any_new;
  }

  /// The page to go on with in a log whose oldest entries come first: the one after the newest
  /// `most_`, where the BMC lets us skip what is before them, else the next one. Some ignore $skip,
  /// or refuse it.
  Task<std::string> behind_jump(Reading& log, const Page& page) {
    log.has_jumped = true;
    if (!page.count || *page.count <= log.read + most_) co_return page.next;
    auto uri = skip_uri(log.service.entries, page.next, *page.count - most_);
    const auto document = co_await survey_.need(uri);
    if (!document) co_return page.next;
    const Page newest = page_of(*document);
    const auto dated =
        std::ranges::find_if(newest.found, [](const auto& one) { return one.time.has_value(); });
    const bool goes_on = dated != newest.found.end() && log.order.last <= dated->time;
    if (!goes_on || !take(log, newest)) co_return page.next;
    log.pages.insert(std::move(uri));
    // What was skipped is older than the first of these.
    cut = cut || !is_older(*dated);
    co_return newest.next;
  }

  /// Some logs list links alone, without dates: the newest are at either end.
  Task<void> read_links(Reading& log) {
    auto& links = log.links;
    if (links.size() > most_) {
      const auto ends = co_await survey_.read_all({links.front(), links.back()}, "log entry");
      for (const auto& end : ends)
        if (!end.body.is_null()) log.order.note(parse_log_entry(end.body, end.uri));
      const auto excess = static_cast<std::ptrdiff_t>(links.size() - most_);
      if (log.order.newest_first())
        links.erase(links.end() - excess, links.end());
      else
        links.erase(links.begin(), links.begin() + excess);
      cut = true;
    }
    const auto documents = co_await survey_.read_all(std::exchange(links, {}), "log entry");
    for (const auto& one : documents) {
      if (one.body.is_null()) continue;
      auto entry = parse_log_entry(one.body, one.uri);
      if (!is_older(entry)) log.kept.push_back(std::move(entry));
    }
  }

  /// What a log that was not read to its end lacks are its newest entries, unless these come first.
  void conclude(Reading log) {
    std::ranges::move(log.kept, std::back_inserter(entries));
    cut = leave_newest(entries, most_) || cut;
    const bool begun = log.read > 0;
    if (!begun || log.why_not_all.empty()) return;
    if (log.order.newest_first()) {
      cut = true;
      return;
    }
    newest_missing = true;
    survey_.unknown("the newest entries of log " + std::string{last_name(log.service.uri)},
                    log.service.entries, log.why_not_all);
  }

  bool is_older(const LogEntry& one) const { return since_ && one.time && *one.time < *since_; }

  Survey& survey_;
  std::optional<Seconds> since_;
  std::size_t most_;
  std::set<std::string> known_;
};

}  // namespace

LogEntry parse_log_entry(const json::value& body, std::string uri) {
  LogEntry entry{.id = reported(body, "Id"),
                 .severity = canonical_severity(reported(body, "Severity")),
                 .message_id = reported(body, "MessageId"),
                 .source = std::move(uri)};
  // EventTimestamp is when it happened, Created when the entry was made; most tell only the latter.
  entry.time = moment_of(reported(body, "EventTimestamp"));
  if (!entry.time) entry.time = moment_of(reported(body, "Created"));
  entry.message = text_at(body, "Message").value_or("");
  entry.message = printable(shortened(entry.message, 1000));
  if (entry.message.empty()) entry.message = reported(body, "Name");
  for (const auto* path : {"SensorType", "Links/OriginOfCondition/@odata.id"})
    if (entry.sensor.empty()) entry.sensor = reported(body, path);
  const auto code = reported(body, "EntryCode");
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
  EventLog log{.entries = std::move(gathering.entries),
               .cut = gathering.cut,
               .newest_missing = gathering.newest_missing};
  log.cut = leave_newest(log.entries, most) || log.cut;
  log.unknown = std::move(seen.unknown);
  co_return log;
}

}  // namespace cupel::bmc::redfish
