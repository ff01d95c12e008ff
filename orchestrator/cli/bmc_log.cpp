// `cupel bmc NODES log` and `events`: what BMCs say happened, and what happens.
#include <fmt/format.h>

#include "base/text.h"
#include "base/wall_clock.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/record/codec.h"

namespace cupel::cli {
namespace {

using inventory::Node;

constexpr std::chrono::minutes kNextPatience{60};
constexpr std::size_t kAllAtOnce = 4096;

struct Log {
  std::string what = "show";
  std::string since{};
  std::size_t last = 50;
};

boost::json::object object_of(const bmc::LogEntry& entry) {
  boost::json::object object{{"id", entry.id},           {"severity", entry.severity},
                             {"message", entry.message}, {"message_id", entry.message_id},
                             {"sensor", entry.sensor},   {"source", entry.source}};
  if (entry.time) object["time"] = text_of(entry.time);
  return object;
}

Row row_of(const bmc::LogEntry& entry) {
  return {text_of(entry.time), entry.severity.empty() ? "-" : entry.severity, entry.id,
          entry.sensor.empty() ? entry.message : entry.sensor + ": " + entry.message};
}

Task<Result<Answer>> read_log(bmc::Bmc& bmc, std::optional<bmc::Seconds> since, std::size_t most,
                              Deadline deadline) {
  CO_TRY(const auto log, co_await bmc.log.read(since, most, deadline));
  std::vector<Row> rows{{"time (UTC)", "severity", "id", "message"}};
  boost::json::array all;
  for (const auto& entry : log.entries) {
    rows.push_back(row_of(entry));
    all.push_back(object_of(entry));
  }
  const auto* which = log.newest_missing ? ", and newer ones that were not read"
                      : log.cut          ? ", the newest of more (--last N)"
                                         : "";
  auto text = fmt::format("{} entries{}", log.entries.size(), which);
  if (!log.entries.empty()) text += "\n" + table(rows);
  for (const auto& each : log.unknown)
    text += fmt::format("\n  unknown: {}: {} ({})", printable(each.fact), printable(each.why),
                        printable(each.source));
  auto answer = answer_of_bmc(std::move(text), "entries", std::move(all), log.by);
  answer.object["cut"] = log.cut;
  answer.object["newest_missing"] = log.newest_missing;
  answer.object["unknown"] = record::to_json(log.unknown);
  co_return answer;
}

Task<Result<Answer>> clear_log(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(const auto by, co_await bmc.log.clear(deadline));
  co_return answer_of_bmc("event log cleared", "cleared", true, by);
}

Exit log(const BmcCommand& command, const Log& asked) {
  if (asked.what == "clear")
    return ask(command, [](bmc::Bmc& bmc, const Node&, Deadline deadline) {
      return clear_log(bmc, deadline);
    });
  std::optional<bmc::Seconds> since;
  if (!asked.since.empty()) {
    const auto now = seconds_now();
    const auto time = time_of(asked.since, now);
    if (!time) return print_error(command.context, time.error(), Exit::invalid);
    since = *time;
  }
  return ask(command, [&](bmc::Bmc& bmc, const Node&, Deadline deadline) {
    return read_log(bmc, since, asked.last, deadline);
  });
}

void tell(const Context& context, const Node& node, std::string_view way, const bmc::Event& event) {
  constexpr std::array<std::string_view, 3> kKinds{"power", "fault", "other"};
  const auto kind = kKinds[static_cast<std::size_t>(event.kind)];
  if (context.json) {
    auto object = object_of(event.entry);
    object["node"] = node.name;
    object["kind"] = kind;
    object["way"] = way;
    say("{}\n", boost::json::serialize(object));
  } else {
    say("{}: {} {} {} {}\n", node.name, text_of(event.entry.time), kind,
        event.entry.severity.empty() ? "-" : printable(event.entry.severity),
        printable(event.entry.message));
  }
  std::fflush(stdout);
}

/// Until the subscription ends: a quiet BMC is no fault.
Task<Error> hear(const Context& context, const Node& node, bmc::Events& events) {
  for (;;) {
    const auto some = co_await events.next(Deadline::in(kNextPatience));
    const bool stopped = co_await cancelled();  // also where a wait gave up in that moment
    if (!some && some.error().code == Code::kTimeout && !stopped) continue;
    if (!some) co_return some.error();
    for (const auto& event : *some) tell(context, node, events.way(), event);
  }
}

Task<Result<Answer>> listen(const Context& context, bmc::Bmc& bmc, const Node& node,
                            Deadline deadline) {
  CO_TRY(const auto events, co_await bmc.log.subscribe(deadline));
  auto ended = co_await hear(context, node, *events);
  co_await events->close();
  if (ended.code == Code::kCancelled) co_return Answer{"stopped listening", {{"stopped", true}}};
  co_return ended;
}

}  // namespace

std::vector<CommandRow> bmc_log_commands(const BmcCommand& command) {
  auto asked = std::make_shared<Log>();
  CommandRow log_row{"log", "the event log, oldest first; or clear it"};
  log_row.options = {
      {"WHAT", &asked->what, "show (if not given), clear", {.among = {"show", "clear"}}},
      {"--since", &asked->since, "a time in UTC (2026-11-21T10:00:00Z) or an age (2h)"},
      {"--last",
       &asked->last,
       "so many entries at most [50]",
       {.range = NumberRange{1, bmc::EventLog::kMost}}}};
  log_row.run = [command, asked] { return log(command, *asked); };
  CommandRow events_row{"events", "print events as they come, until Ctrl-C"};
  events_row.run = [command] {
    command.asked->width = kAllAtOnce;  // nobody's turn ever ends
    return ask(command, [&command](bmc::Bmc& one, const Node& node, Deadline deadline) {
      return listen(command.context, one, node, deadline);
    });
  };
  return {log_row, events_row};
}

}  // namespace cupel::cli
