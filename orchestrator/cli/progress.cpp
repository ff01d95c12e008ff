#include "orchestrator/cli/progress.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>

#include "base/text.h"
#include "orchestrator/cli/live_table.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/report/summary.h"

namespace cupel::cli {
namespace {

using engine::Event;
using engine::EventKind;
using engine::RunState;

std::string text(const Event& event, std::string_view key) {
  const auto* value = event.data.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

/// One line for each thing that happened: for log files and for terminals that are none.
class PlainLines final : public Progress {
 public:
  void on_event(const Event& event, const RunState&) override {
    const auto line = said(event);
    if (line.empty()) return;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(event.time);
    say("{:%H:%M:%S} {}\n", fmt::localtime(std::chrono::system_clock::to_time_t(seconds)),
        printable(line));
    std::fflush(stdout);
  }
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
  void tell(const std::string& what) override {
    const bool news = !what.empty() && told_.empty();
    told_ = what;
    if (!news) return;
    say("         {}\n", printable(what));
    std::fflush(stdout);
  }

 private:
  static std::string said(const Event& event) {
    const auto who = fmt::format("{} {}", event.node, event.step);
    switch (event.kind) {
      case EventKind::step_ended:
        return fmt::format("{} {}: {}", who, text(event, "outcome"), text(event, "detail"));
      case EventKind::step_retried:
        return fmt::format("{} tries again: {}", who, text(event, "why"));
      case EventKind::step_skipped:
        return fmt::format("{} skipped: {}", who, text(event, "why"));
      case EventKind::run_started:
        return "run started";
      case EventKind::run_resumed:
        return "run resumed";
      default:
        return {};
    }
  }

  std::string told_{};
};

/// Everything, in the journal's own words. Lists of parts are left to `cupel show --json`.
class JsonLines final : public Progress {
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

 private:
  engine::RunId run_;
};

}  // namespace

std::unique_ptr<Progress> make_progress(const playbooks::Plan& plan, engine::RunId run, bool json) {
  if (json) return std::make_unique<JsonLines>(run);
  if (::isatty(STDOUT_FILENO) == 1) return make_live_table(plan, run);
  return std::make_unique<PlainLines>();
}

}  // namespace cupel::cli
