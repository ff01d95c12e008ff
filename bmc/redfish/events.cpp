#include "bmc/redfish/events.h"

#include <array>
#include <set>

#include "base/text.h"
#include "bmc/redfish/document.h"
#include "bmc/redfish/survey.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostEvents = 1000;  // of one message
constexpr std::size_t kNewest = 50;        // entries of a log that a look reads

bool holds_any(std::string_view text, std::span<const std::string_view> signs) {
  const auto lower = lower_case(text);
  return std::ranges::any_of(signs, [&](auto sign) { return lower.find(sign) != lower.npos; });
}

/// How registries and vendors say that a machine went on or off: "ResourceEvent.1.0.3
/// .ResourcePoweredOn", "PowerStateChanged", OpenBMC's "DCPowerOn", Dell's "SYS1000".
constexpr std::array<std::string_view, 10> kPowerSigns{
    "poweredon", "poweredoff", "poweringon", "poweringoff",   "powerstate",
    "dcpoweron", "dcpoweroff", "hostpower",  "resourcepower", "serverpower"};
constexpr std::array<std::string_view, 8> kPowerWords{
    "system is powered on", "system is powered off",
    "server power on",      "server power off",
    "host system dc power", "turned on",
    "is turning off",       "powered off"};

bool is_fault(const LogEntry& entry) {
  const auto severity = lower_case(entry.severity);
  return severity == "warning" || severity == "critical";
}

/// "2024-05-01T12:30:00Z", "2024-05-01T12:30:00.123+02:00"; nothing for what is no such time.
/// Source: RFC 3339, 5.6.
std::optional<Seconds> time_of(std::string_view text) {
  const auto digits = [&](std::size_t at, std::size_t count) {
    return number<int>(text.size() < at + count ? std::string_view{} : text.substr(at, count));
  };
  const auto year = digits(0, 4), month = digits(5, 2), day = digits(8, 2);
  const auto hour = digits(11, 2), minute = digits(14, 2), second = digits(17, 2);
  if (!year || !month || !day || !hour || !minute || !second || *hour > 23) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  Seconds time = std::chrono::sys_days{date} + std::chrono::hours{*hour} +
                 std::chrono::minutes{*minute} + std::chrono::seconds{*second};
  const auto zone = text.find_first_of("+-", 19);
  if (zone == text.npos) return time;
  const auto hours = digits(zone + 1, 2), minutes = digits(zone + 4, 2);
  if (!hours || !minutes) return std::nullopt;
  const auto offset = std::chrono::hours{*hours} + std::chrono::minutes{*minutes};
  return text[zone] == '+' ? time - offset : time + offset;
}

Event event_in(const json::value& body) {
  LogEntry entry;
  entry.id = reported(body, "EventId");
  entry.severity = reported(body, "MessageSeverity");
  if (entry.severity.empty()) entry.severity = reported(body, "Severity");
  entry.message = shortened(reported(body, "Message"), 1000);
  entry.message_id = reported(body, "MessageId");
  entry.source = reported(body, "OriginOfCondition/@odata.id");
  if (entry.source.empty()) entry.source = reported(body, "OriginOfCondition");
  entry.time = time_of(reported(body, "EventTimestamp"));
  return event_of(std::move(entry));
}

/// A stream that the BMC keeps open.
class StreamedEvents final : public Events {
 public:
  explicit StreamedEvents(std::unique_ptr<Stream> stream) : stream_{std::move(stream)} {}

  Task<Result<std::vector<Event>>> next(Deadline deadline) override {
    for (;;) {
      if (!stream_) co_return Error{Code::kUnreachable, "the subscription was closed"};
      CO_TRY(const std::string bytes, co_await stream_->read(deadline));
      CO_TRY(const auto messages, parser_.feed(bytes));
      std::vector<Event> events;
      for (const auto& message : messages)
        for (auto& event : events_in(message.data)) events.push_back(std::move(event));
      if (!events.empty()) co_return events;
    }
  }

  Task<void> close() override {
    stream_.reset();
    co_return;
  }

  std::string_view way() const override { return "SSE"; }

 private:
  std::unique_ptr<Stream> stream_;
  StreamParser parser_{};
};

/// Looks again and again. What there was at the first look is no news.
class PolledEvents final : public Events {
 public:
  PolledEvents(Bmc& bmc, std::chrono::milliseconds interval) : bmc_{bmc}, interval_{interval} {}

  Task<Result<std::vector<Event>>> next(Deadline deadline) override {
    for (;;) {
      if (closed_) co_return Error{Code::kUnreachable, "the subscription was closed"};
      if (looked_) {
        const auto nap = std::min(interval_, deadline.left());
        CO_TRY(co_await pause_for(nap));
      }
      CO_TRY(auto events, co_await look(deadline));
      if (!events.empty()) co_return events;
      if (deadline.passed()) co_return Error{Code::kTimeout, "nothing happened in time"};
    }
  }

  Task<void> close() override {
    closed_ = true;
    co_return;
  }

  std::string_view way() const override { return "polling"; }

 private:
  Task<Result<std::vector<Event>>> look(Deadline deadline) {
    std::vector<Event> events;
    CO_TRY(const PowerState now, co_await bmc_.power.state(deadline));
    if (looked_) events = difference(power_, now);
    // Before the state is taken as known: a change that was not reported is one at the next
    // look.
    CO_TRY(co_await look_at_log(events, deadline));
    power_ = now;
    looked_ = true;
    co_return events;
  }

  /// A BMC without a log still has a power state.
  Task<Result<void>> look_at_log(std::vector<Event>& events, Deadline deadline) {
    if (no_log_) co_return ok();
    auto log = co_await bmc_.log.read(std::nullopt, kNewest, deadline);
    if (!log && log.error().code == Code::kUnsupported) {
      no_log_ = true;
      co_return ok();
    }
    if (!log) co_return std::move(log).error();
    std::set<std::string> now;
    for (auto& entry : log->entries) {
      // Ids start again at 1 where a log was cleared.
      const std::string key =
          entry.id + " " + entry.source + " " + entry.message +
          std::to_string(entry.time.value_or(Seconds{}).time_since_epoch().count());
      now.insert(key);
      if (looked_ && !seen_.contains(key)) events.push_back(event_of(std::move(entry)));
    }
    seen_ = std::move(now);
    co_return ok();
  }

  Bmc& bmc_;
  std::chrono::milliseconds interval_;
  PowerState power_ = PowerState::unknown;
  std::set<std::string> seen_{};  // at the last look
  bool looked_ = false, no_log_ = false, closed_ = false;
};

}  // namespace

Result<std::vector<StreamMessage>> StreamParser::feed(std::string_view bytes) {
  std::vector<StreamMessage> complete;
  for (const char c : bytes) {
    const bool second_of_pair = c == '\n' && after_cr_;
    after_cr_ = c == '\r';
    if (second_of_pair) continue;
    if (c != '\r' && c != '\n') {
      rest_ += c;
      if (rest_.size() + message_.data.size() > kLongest)
        return Error{Code::kMalformed, "a message of more than " + std::to_string(kLongest) +
                                           " bytes in the stream of events"};
      continue;
    }
    std::string_view line = rest_;
    if (std::exchange(first_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    take(line, complete);
    rest_.clear();
  }
  return complete;
}

void StreamParser::take(std::string_view line, std::vector<StreamMessage>& complete) {
  if (line.empty()) {
    message_.id = last_id_;
    if (has_data_) complete.push_back(std::move(message_));
    message_ = {};
    has_data_ = false;
    return;
  }
  const auto colon = line.find(':');
  const auto field = line.substr(0, colon);
  std::string_view value = colon == line.npos ? std::string_view{} : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "id" && value.find('\0') == value.npos) last_id_ = value;
  if (field != "data") return;  // a comment, "event", "retry", or nothing known
  if (has_data_) message_.data += '\n';
  message_.data += value;
  has_data_ = true;
}

Event event_of(LogEntry entry) {
  Event event;
  const bool power =
      holds_any(entry.message_id, kPowerSigns) || holds_any(entry.message, kPowerWords);
  if (power)
    event.kind = Event::Kind::power;
  else if (is_fault(entry))
    event.kind = Event::Kind::fault;
  event.entry = std::move(entry);
  return event;
}

std::vector<Event> events_in(std::string_view data) {
  std::vector<Event> events;
  const auto parsed = document_of(data);
  if (!parsed) return events;  // one message less, not the stream
  const auto* list = find(*parsed, "Events");
  const auto* members = list == nullptr ? nullptr : list->if_array();
  if (members == nullptr) return events;
  for (const auto& member : *members) {
    if (!member.is_object() || events.size() >= kMostEvents) continue;
    events.push_back(event_in(member));
  }
  return events;
}

std::vector<Event> difference(PowerState before, PowerState now) {
  if (before == now || now == PowerState::unknown) return {};
  LogEntry entry;
  entry.message =
      "power: " + std::string{to_string(before)} + ", then " + std::string{to_string(now)};
  return {Event{.kind = Event::Kind::power, .entry = std::move(entry)}};
}

Task<Result<std::unique_ptr<Events>>> subscribe(Client& client, Bmc& bmc,
                                                std::chrono::milliseconds interval,
                                                Deadline deadline) {
  CO_TRY(const json::value root, co_await client.get("/redfish/v1", deadline));
  std::string stream;
  const auto service = link_at(root, "EventService");
  if (!service.empty()) {
    const auto reported_service = co_await client.get(service, deadline);
    if (reported_service) stream = reported(*reported_service, "ServerSentEventUri");
  }
  if (!stream.empty()) {
    auto opened = co_await client.open_stream(stream, {}, deadline);
    if (opened) co_return std::make_unique<StreamedEvents>(*std::move(opened));
    const Code code = opened.error().code;
    if (code == Code::kCancelled || code == Code::kUntrusted) co_return std::move(opened).error();
    // Advertised, and not given: no reason not to look for oneself.
  }
  co_return std::make_unique<PolledEvents>(bmc, interval);
}

}  // namespace cupel::bmc::redfish
