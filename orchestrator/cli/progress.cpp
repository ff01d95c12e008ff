#include "orchestrator/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>

#include "base/text.h"
#include "orchestrator/cli/live_table.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/report/standing.h"
#include "orchestrator/report/summary.h"

namespace cupel::cli {
namespace {

using engine::Event;
using engine::EventKind;
using engine::RunState;
using engine::text_in;

/// One line for each thing that happened: for log files and for terminals that are none. Dated as
/// reports are: in UTC.
class PlainLines final : public RunView {
 public:
  /// `front`: what stands between the time and the rest of each line.
  PlainLines(engine::RunId run, std::string front) : run_{run}, front_{std::move(front)} {}
  void on_event(const Event& event, const RunState&) override {
    const auto line = said(event);
    if (line.empty()) return;
    say("{} {}{}\n", report::utc(event.time), front_, printable(line));
    std::fflush(stdout);
  }
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
  void waits_for_hands(std::optional<engine::WallTime> until) override {
    const bool news = until && !waits_;
    waits_ = until.has_value();
    if (!news) return;
    say("{} {}{}\n", report::utc(report::wall_now()), front_, words_of_wait(until, run_));
    std::fflush(stdout);
  }
  void announce(controller::Weight, const std::string& line) override {
    say(stderr, "{}\n", printable(line));
  }

 private:
  static std::string said(const Event& event) {
    const auto who = fmt::format("{} {}", event.node, event.step);
    if (event.data.contains("refused"))
      return fmt::format("what {} asked for is refused: {}", text_in(event, "by"),
                         text_in(event, "refused"));
    switch (event.kind) {
      case EventKind::step_ended:
        return fmt::format("{} {}: {}", who, text_in(event, "outcome"), text_in(event, "detail"));
      case EventKind::step_retried:
        return fmt::format("{} tries again: {}", who, text_in(event, "why"));
      case EventKind::step_skipped:
        return fmt::format("{} skipped: {}", who, text_in(event, "why"));
      case EventKind::run_started:
        return "run started";
      case EventKind::run_resumed:
        return text_in(event, "why") == "terminal-lost"
                   ? "the controller goes on without its terminal"
                   : "run resumed";
      case EventKind::step_overdue:
        return who + " is overdue";
      default:
        return said_of_run(event);
    }
  }
  static std::string said_of_run(const Event& event) {
    const auto by = text_in(event, "by").empty() ? std::string{} : " by " + text_in(event, "by");
    switch (event.kind) {
      case EventKind::run_halted:
        return fmt::format("halted: {}", text_in(event, "why"));
      case EventKind::run_released:
        return "released" + by;
      case EventKind::run_paused:
        return "paused" + by;
      case EventKind::run_unpaused:
        return "goes on after a pause" + by;
      case EventKind::step_approved:
        return "approved" + by;
      case EventKind::run_interrupted:
        return "run stopped";
      case EventKind::run_cancelled:
        return "run cancelled" + by;
      case EventKind::run_ended:
        return "run ended";
      default:
        return {};
    }
  }

  engine::RunId run_;
  std::string front_;
  bool waits_ = false;
};

/// Everything, in the journal's own words. Lists of parts are left to `cupel show --json`.
class JsonLines final : public RunView {
 public:
  explicit JsonLines(engine::RunId run) : run_{run} {}
  void on_event(const Event& event, const RunState&) override {
    boost::json::object object{{"event", to_string(event.kind)},
                               {"run", run_},
                               {"sequence", event.sequence},
                               {"time", report::utc(event.time)}};
    if (!event.node.empty()) object["node"] = event.node;
    if (!event.step.empty()) object["step"] = event.step;
    for (const auto& [key, value] : event.data)
      if (key != "bmc_parts" && key != "parts" && key != "unknown") object[key] = value;
    std::printf("%s\n", boost::json::serialize(object).c_str());
    std::fflush(stdout);
  }
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
  void announce(controller::Weight weight, const std::string& line) override {
    if (weight == controller::Weight::warning) say(stderr, "{}\n", printable(line));
  }

 private:
  engine::RunId run_;
};

}  // namespace

std::string words_of_wait(std::optional<engine::WallTime> until, engine::RunId run) {
  if (!until) return {};
  return fmt::format(
      "waits until {} for what needs hands: cupel hands {}; Ctrl-C ends the wait, and cupel resume "
      "{} goes on",
      report::utc(*until), run, run);
}

std::unique_ptr<RunView> make_log_lines(engine::RunId run) {
  return std::make_unique<PlainLines>(run, fmt::format("run {}: ", run));
}

std::unique_ptr<RunView> make_progress(const playbooks::Plan& plan, engine::RunId run, bool json) {
  if (json) return std::make_unique<JsonLines>(run);
  if (::isatty(STDOUT_FILENO) == 1) return make_live_table(plan, run);
  return std::make_unique<PlainLines>(run, "");
}

}  // namespace cupel::cli
