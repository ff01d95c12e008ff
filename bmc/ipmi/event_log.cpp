#include "bmc/ipmi/event_log.h"

#include <deque>
#include <set>

#include "bmc/ipmi/commands.h"

namespace cupel::bmc::ipmi {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kFirst = 0x0000, kLast = 0xffff;
constexpr std::uint8_t kWhole = 0xff;
constexpr std::uint8_t kStart = 0xaa, kHowFar = 0x00;
constexpr int kUnspecifiedOffset = 0x07ff;
constexpr int kMostReservations = 4;

struct Step {
  std::uint16_t next = kLast;
  std::optional<SelRecord> record{};
  std::string why{};  // there is none
};

std::string sensor_of(const SelRecord& record, const Repository& repository) {
  for (const auto& sensor : repository.sensors) {
    const bool owner =
        sensor.owner == record.generator && sensor.unit_number == record.generator_unit;
    // What BIOS and OS report by a software ID is often about the BMC's own sensors.
    const bool software = (record.generator & 1) != 0 && sensor.type == record.sensor_type;
    const int at = record.sensor - sensor.number;
    if ((!owner && !software) || at < 0 || at >= sensor.share) continue;
    return sensor.share > 1 ? sensor.name + " " + std::to_string(at + 1) : sensor.name;
  }
  return sensor_type_name(record.sensor_type) + " #" + hex(record.sensor, 2);
}

Task<Result<Step>> read_entry(Client& client, std::uint16_t id, Deadline deadline) {
  Bytes data;
  put16(data, 0);  // a reservation is asked for in pieces only: 31.5
  put16(data, id);
  data.push_back(0);
  data.push_back(kWhole);
  CO_TRY(const Bytes reported, co_await client.ask(kGetSelEntry, std::move(data), deadline));
  Reader reader{reported};
  Step step{.next = reader.u16()};
  auto record = parse_sel(reader.rest());
  if (record)
    step.record = *std::move(record);
  else
    step.why = std::move(record).error().what;
  co_return step;
}

Task<Result<Bytes>> erase(Client& client, std::uint16_t reservation, std::uint8_t what,
                          Deadline deadline) {
  Bytes data;
  put16(data, reservation);
  put(data, bytes_of("CLR"));
  data.push_back(what);
  co_return co_await client.ask(kClearSel, std::move(data), deadline);
}

Task<Result<std::uint16_t>> reserve(Client& client, Deadline deadline) {
  auto reported = co_await client.ask(kReserveSel, {}, deadline);
  // 31.4: a BMC without reservations takes 0.
  if (!reported && reported.error().code == Code::kUnsupported) co_return std::uint16_t{0};
  CO_TRY(const Bytes number, std::move(reported));
  Reader reader{number};
  co_return reader.u16();
}

}  // namespace

Task<Result<SelClock>> read_clock(Client& client, Deadline deadline) {
  CO_TRY(const Bytes reported, co_await client.ask(kGetSelTime, {}, deadline));
  Reader reader{reported};
  SelClock clock{.seconds = reader.u32()};
  if (!reader.ok())
    co_return Error{Code::kMalformed, client.node() + ": Get SEL Time: an answer cut short"};
  // Newer than many BMCs; whoever lacks it keeps its clock in UTC or does not know better.
  const auto offset = co_await client.ask(kGetSelUtcOffset, {}, deadline);
  if (!offset && !(offset.error().code == Code::kUnsupported)) {
    const auto code = offset.error().code;
    if (code != Code::kFailed && code != Code::kNotFound) co_return offset.error();
  }
  if (offset && offset->size() >= 2) {
    Reader minutes{*offset};
    const auto east = static_cast<std::int16_t>(minutes.u16());
    if (east != kUnspecifiedOffset && east >= -1440 && east <= 1440)
      clock.east = std::chrono::minutes{east};
  }
  co_return clock;
}

LogEntry entry_of(const SelRecord& record, const Repository& repository,
                  std::chrono::minutes east) {
  LogEntry entry{
      .id = std::to_string(record.id), .severity = severity_of(record), .message = text_of(record)};
  if (record.time && !record.before_clock_was_set)
    entry.time = Seconds{std::chrono::seconds{*record.time} - east};
  if (record.time && record.before_clock_was_set)
    entry.message +=
        " (" + std::to_string(*record.time) + " s after the BMC started, its clock not yet set)";
  if (record.is_event()) {
    entry.sensor = sensor_of(record, repository);
    entry.direction = record.deasserted ? "Deassert" : "Assert";
  }
  entry.source = "ipmi:sel/" + hex(record.id, 4);
  return entry;
}

Task<Result<EventLog>> read_log(Client& client, const Repository& repository,
                                std::optional<Seconds> since, std::size_t most, Deadline deadline) {
  CO_TRY(const Bytes reported, co_await client.ask(kGetSel, {}, deadline));
  Reader reader{reported};
  reader.u8();
  const auto count = reader.u16();
  EventLog log{.by = Protocol::ipmi};
  if (count == 0) co_return log;
  CO_TRY(const SelClock clock, co_await read_clock(client, deadline));
  std::deque<LogEntry> newest;
  std::set<std::uint16_t> seen;
  for (auto id = kFirst; id != kLast;) {
    if (!seen.insert(id).second)
      co_return Error{Code::kMalformed, client.node() + ": Get SEL Entry: entries go in a circle"};
    auto read = co_await read_entry(client, id, deadline);
    // Cleared or overtaken while we read.
    if (!read && read.error().code == Code::kNotFound) break;
    CO_TRY(const Step step, std::move(read));
    if (!step.record) {
      log.unknown.push_back({"event log entry", "ipmi:sel/" + hex(id, 4), step.why});
    } else {
      auto entry = entry_of(*step.record, repository, clock.east);
      const bool older = since && entry.time && *entry.time < *since;
      if (!older) newest.push_back(std::move(entry));
      if (newest.size() > most) {
        newest.pop_front();
        log.cut = true;
      }
    }
    id = step.next;
  }
  log.entries.assign(std::make_move_iterator(newest.begin()),
                     std::make_move_iterator(newest.end()));
  co_return log;
}

Task<Result<void>> clear_log(Client& client, Deadline deadline) {
  std::uint16_t reservation = 0;
  for (int tries = 1;; ++tries) {
    CO_TRY(reservation, co_await reserve(client, deadline));
    auto begun = co_await erase(client, reservation, kStart, deadline);
    if (begun) break;
    // An event came in between, and took the reservation with it.
    const bool lost = begun.error().code == Code::kConflict;
    if (!lost || tries == kMostReservations) co_return std::move(begun).error();
  }
  for (auto pause = 50ms;; pause = std::min(pause * 2, 1000ms)) {
    CO_TRY(const Bytes reported, co_await erase(client, reservation, kHowFar, deadline));
    const bool done = reported.empty() || (reported[0] & 0x0f) == 1;
    if (done) co_return ok();
    if (deadline.passed())
      co_return Error{Code::kTimeout, client.node() + ": Clear SEL: still erasing"};
    CO_TRY(co_await pause_for(pause));
  }
}

}  // namespace cupel::bmc::ipmi
