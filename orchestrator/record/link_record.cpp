#include "orchestrator/record/link_record.h"

#include "base/login.h"
#include "orchestrator/store/audit_log.h"
#include "orchestrator/store/purpose.h"

namespace cupel::record {
namespace {

using burnin::LinkEvent;

constexpr std::string_view kRepaired = "link-repaired", kJudged = "link-judged", kBoth = "link-";
constexpr std::size_t kMostEvents = 100'000;

}  // namespace

Result<std::vector<LinkEvent>> recorded_links(const std::filesystem::path& state) {
  std::vector<LinkEvent> events;
  if (!store::has_store(state)) return events;
  TRY(const auto store, store::Store::open(state));
  TRY(const auto audit, store::AuditLog::open(state));
  TRY(const auto entries, audit.newest(kBoth, kMostEvents));
  for (const auto& entry : entries) {
    const auto kind = entry.what == kJudged ? LinkEvent::Kind::judged : LinkEvent::Kind::repaired;
    if (kind == LinkEvent::Kind::repaired && entry.what != kRepaired) continue;
    auto event = burnin::link_event(kind, entry.data);
    if (!event) continue;
    event->by = entry.who;
    events.push_back(*std::move(event));
  }
  return events;
}

Result<void> record_links(const std::filesystem::path& state, std::span<const LinkEvent> events) {
  if (events.empty()) return ok();
  TRY(const auto store, store::Store::open(state));
  TRY(auto audit, store::AuditLog::open(state));
  const auto who = login_name();
  std::vector<store::AuditEntry> entries;
  for (const auto& event : events)
    entries.push_back(
        {.who = who,
         .origin = "command line",
         .what = std::string{event.kind == LinkEvent::Kind::judged ? kJudged : kRepaired},
         .data = burnin::to_json(event)});
  return audit.append(entries);
}

}  // namespace cupel::record
