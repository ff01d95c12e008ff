#include "orchestrator/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>

#include "base/text.h"
#include "orchestrator/cli/live_table.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/controller/event_words.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/summary.h"

namespace cupel::cli {
namespace {

using engine::Event;
using engine::RunState;

/// One line for each thing that happened: for log files and for terminals that are none. Dated as
/// reports are: in UTC.
class PlainLines final : public RunView {
 public:
  PlainLines(const Context& context, engine::RunId run) : context_{context}, run_{run} {}
  void on_event(const Event& event, const RunState&) override {
    const auto words = controller::words_of(event);
    if (words.empty()) return;
    const auto who = controller::names_step(event) ? fmt::format("{} {} ", event.node, event.step)
                                                   : std::string{};
    say("{} {}\n", report::utc(event.time), printable(advised_in(context_, who + words)));
    std::fflush(stdout);
  }
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
  void waits_for_repair(std::optional<engine::WallTime> until) override {
    const bool news = until && !waits_;
    waits_ = until.has_value();
    if (!news) return;
    say("{} {}\n", report::utc(report::wall_now()), words_of_wait(context_, until, run_));
    std::fflush(stdout);
  }
  void announce(controller::Weight weight, const std::string& line) override {
    say(stderr, "{}\n", announced(context_, weight, line));
  }

 private:
  const Context& context_;
  engine::RunId run_;
  bool waits_ = false;
};

/// Everything, in the journal's own words. Lists of parts are left to `cupel show --json`.
class JsonLines final : public RunView {
 public:
  JsonLines(const Context& context, engine::RunId run) : context_{context}, run_{run} {}
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
    if (weight == controller::Weight::warning)
      say(stderr, "{}\n", announced(context_, weight, line));
  }

 private:
  const Context& context_;
  engine::RunId run_;
};

}  // namespace

std::string announced(const Context& context, controller::Weight weight, const std::string& line) {
  const bool warns = weight == controller::Weight::warning;
  return (warns ? "cupel: " : "") + printable(advised_in(context, line));
}

std::string words_of_wait(const Context& context, std::optional<engine::WallTime> until,
                          engine::RunId run) {
  if (!until) return {};
  return fmt::format("waits until {} for repairs: {}; Ctrl-C ends the wait, and {} goes on",
                     report::utc(*until), advised(context, fmt::format("cupel actions {}", run)),
                     advised(context, fmt::format("cupel resume {}", run)));
}

std::unique_ptr<RunView> make_progress(const Context& context, const playbooks::Plan& plan,
                                       engine::RunId run) {
  if (context.json) return std::make_unique<JsonLines>(context, run);
  if (::isatty(STDOUT_FILENO) == 1) return make_live_table(context, plan, run);
  return std::make_unique<PlainLines>(context, run);
}

}  // namespace cupel::cli
