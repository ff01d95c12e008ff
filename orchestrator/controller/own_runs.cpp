#include "orchestrator/controller/own_runs.h"

#include <algorithm>
#include <limits>

#include "base/json.h"

namespace cupel::controller {
namespace {

using Events = std::vector<store::EventText>;

constexpr std::size_t kPage = 200;

/// The run's events of one kind, in their order. Errors: kStorage.
Result<Events> events_of(const store::JournalReader& journal, engine::RunId run,
                         engine::EventKind kind) {
  Events all;
  store::EventQuery query{.run = run, .kind = std::string{to_string(kind)}, .most = kPage};
  for (;;) {
    TRY(auto page, journal.page(query));
    if (page.empty()) return all;
    query.after = page.back().sequence;
    for (auto& event : page) all.push_back(std::move(event));
  }
}

bool is_of_service(const store::EventText& event) {
  const auto data = parse_json(event.data);
  return data && flag_at(*data, kDrivenByService) == true;
}

std::string why_of(const store::EventText& event) {
  const auto data = parse_json(event.data);
  return data ? text_at(*data, "why").value_or("") : "";
}

bool any_between(const Events& events, std::int64_t after, std::int64_t before) {
  return std::ranges::any_of(events, [&](const store::EventText& event) {
    return event.sequence > after && event.sequence < before;
  });
}

/// The resumes by a restarted controller at the end of the run's journal, each after a death: the
/// first of them. 0: fewer than kMostRestarts.
std::int64_t first_of_restarts(const Events& resumed, const Events& interrupted) {
  auto before = std::numeric_limits<std::int64_t>::max();
  std::size_t count = 0;
  for (auto at = resumed.rbegin(); at != resumed.rend(); ++at) {
    // Stopped as it was asked to: no death.
    if (any_between(interrupted, at->sequence, before)) return 0;
    if (why_of(*at) != kServiceRestarted) return 0;
    if (++count == kMostRestarts) return at->sequence;
    before = at->sequence;
  }
  return 0;
}

/// Nothing where the run is not to be resumed without a person's word. Errors: kStorage.
Result<std::optional<OwnRun>> own_run(const store::JournalReader& journal, engine::RunId run) {
  using enum engine::EventKind;
  TRY(const auto started, events_of(journal, run, run_started));
  TRY(const auto resumed, events_of(journal, run, run_resumed));
  TRY(const auto interrupted, events_of(journal, run, run_interrupted));
  if (started.empty() && resumed.empty()) return std::nullopt;
  const auto& last = resumed.empty() ? started.back() : resumed.back();
  if (!is_of_service(last)) return std::nullopt;
  // A reason is that of a run which could not be resumed.
  const bool stopped = !interrupted.empty() && interrupted.back().sequence > last.sequence;
  if (stopped && !why_of(interrupted.back()).empty()) return std::nullopt;
  OwnRun own{.run = run};
  if (const auto first = first_of_restarts(resumed, interrupted); first > 0) {
    TRY(const auto progress,
        journal.page(
            {.run = run, .after = first, .kind = std::string{to_string(step_ended)}, .most = 1}));
    own.stuck = progress.empty();
  }
  return std::optional{own};
}

}  // namespace

Result<std::vector<OwnRun>> own_runs(const store::JournalReader& journal) {
  std::vector<OwnRun> all;
  for (const auto* phase : {"running", "interrupted"}) {
    TRY(const auto runs, journal.runs({.phase = phase, .most = 1000}));
    for (const auto run : runs) {
      TRY(const auto own, own_run(journal, run));
      if (own) all.push_back(*own);
    }
  }
  std::ranges::sort(all, {}, &OwnRun::run);
  return all;
}

}  // namespace cupel::controller
