#include "orchestrator/cli/live_table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "base/text.h"
#include "orchestrator/report/summary.h"

namespace cupel::cli {
namespace {

using engine::Event;
using engine::EventKind;
using engine::RunState;
using engine::StepState;
using std::chrono::milliseconds;

constexpr const char* kRow = "{:<14} {:<18} {:>11} {:>12}  ";  // and what is left for the last

struct Size {
  int rows = 24;
  int columns = 80;
};

Size terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return {};
  return {size.ws_row, size.ws_col};
}

engine::WallTime now() {
  return std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
}

struct Row {
  int rank = 0;  // failed first, then running, then waiting, then done
  std::string text;
};

class LiveTable final : public Progress {
 public:
  LiveTable(const playbooks::Plan& plan, engine::RunId run) : plan_{plan}, run_{run} {}

  void on_event(const Event& event, const RunState& state) override {
    if (event.kind == EventKind::step_began || event.kind == EventKind::step_ended)
      waiting_.erase(event.node);
    if (event.kind == EventKind::step_retried) {
      const auto* why = event.data.if_contains("why");
      if (why != nullptr && why->is_string())
        waiting_[event.node] = "another try: " + std::string{why->get_string()};
    }
    state_ = &state;
    draw_soon();
  }
  void on_waiting(std::string_view node, std::string_view, std::string_view what) override {
    waiting_[std::string{node}] = what;
    draw_soon();
  }
  void tell(const std::string& what) override { told_ = what; }
  void tick() override { draw(); }
  void finish() override { draw(); }

 private:
  /// At most ten times a second, however fast events come.
  void draw_soon() {
    if (now() - drawn_ >= milliseconds{100}) draw();
  }

  Row row(const playbooks::NodePlan& node, int columns) const {
    const auto& steps = state_->nodes.find(node.node->name)->second.steps;
    const auto open = std::ranges::find_if(steps, [](const StepState& s) { return !s.over(); });
    const auto index = static_cast<std::size_t>(open - steps.begin());
    const bool failed = std::ranges::any_of(
        steps, [](const StepState& s) { return s.phase == StepState::Phase::failed; });
    if (open == steps.end()) {
      const bool good = !failed && verdict(node, steps).starts_with("pass");
      return {good ? 3 : 0, line(node, "through", "", "", last_word(node, steps), columns)};
    }
    const bool running = open->phase == StepState::Phase::running;
    const auto elapsed = running ? report::span_text(now() - open->began) : std::string{};
    const auto waits = waiting_.find(node.node->name);
    const auto what = waits == waiting_.end() ? std::string{} : waits->second;
    const auto step = fmt::format("{}/{} {}", index + 1, steps.size(), (*node.steps)[index].name);
    return {running ? 1 : 2,
            line(node, step, elapsed, running ? eta(node, steps, index) : "", what, columns)};
  }

  /// Never wider than the terminal: a line that wraps could not be drawn over.
  static std::string line(const playbooks::NodePlan& node, std::string_view step,
                          std::string_view elapsed, std::string_view eta, std::string_view last,
                          int columns) {
    const auto wide = static_cast<std::size_t>(std::max(20, columns - 1));
    auto text = fmt::format(fmt::runtime(kRow), shortened(node.node->name, 20), step, elapsed, eta);
    if (text.size() < wide) text += shortened(printable(last), wide - text.size());
    return shortened(text, wide);
  }

  static std::string verdict(const playbooks::NodePlan& node, const std::vector<StepState>& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      if ((*node.steps)[i].kind == playbooks::StepKind::verdict) return steps[i].detail;
    return {};
  }

  /// The verdict's words where there is one, else the last failure's.
  static std::string last_word(const playbooks::NodePlan& node,
                               const std::vector<StepState>& steps) {
    if (auto judged = verdict(node, steps); !judged.empty()) return judged;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step)
      if (step->phase == StepState::Phase::failed) return step->detail;
    return steps.empty() ? std::string{} : steps.back().detail;
  }

  static std::string eta(const playbooks::NodePlan& node, const std::vector<StepState>& steps,
                         std::size_t open) {
    auto left = std::chrono::duration_cast<milliseconds>((*node.steps)[open].expected) -
                (now() - steps[open].began);
    left = std::max(left, milliseconds{0});
    for (std::size_t i = open + 1; i < steps.size(); ++i) left += (*node.steps)[i].expected;
    return report::span_text(left);
  }

  void draw() {
    if (state_ == nullptr) return;
    const auto size = terminal_size();
    std::vector<Row> rows;
    for (const auto& node : plan_.nodes) rows.push_back(row(node, size.columns));
    std::ranges::sort(rows, [](const Row& a, const Row& b) {
      return std::tie(a.rank, a.text) < std::tie(b.rank, b.text);
    });
    const auto over =
        std::ranges::count_if(rows, [](const Row& r) { return r.rank == 0 || r.rank == 3; });
    const auto room = static_cast<std::size_t>(std::max(3, size.rows - 5));
    std::string text = lines_ > 0 ? fmt::format("\x1b[{}F\x1b[J", lines_) : std::string{};
    text +=
        fmt::format("run {} {}: {} of {} nodes through\n", run_, plan_.playbook, over, rows.size());
    text += fmt::format(fmt::runtime(kRow), "node", "step", "elapsed", "ETA") + "waits for\n";
    for (std::size_t i = 0; i < std::min(room, rows.size()); ++i) text += rows[i].text + "\n";
    if (rows.size() > room) text += fmt::format("... and {} more\n", rows.size() - room);
    const auto wide = static_cast<std::size_t>(std::max(20, size.columns - 1));
    if (!told_.empty()) text += shortened(printable(told_), wide) + "\n";
    lines_ = static_cast<int>(2 + std::min(room, rows.size()) + (rows.size() > room ? 1 : 0) +
                              (told_.empty() ? 0 : 1));
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    drawn_ = now();
  }

  const playbooks::Plan& plan_;
  engine::RunId run_;
  const RunState* state_ = nullptr;
  std::map<std::string, std::string, std::less<>> waiting_{};
  engine::WallTime drawn_{};
  std::string told_{};  // of the run as a whole
  int lines_ = 0;
};

}  // namespace

std::unique_ptr<Progress> make_live_table(const playbooks::Plan& plan, engine::RunId run) {
  return std::make_unique<LiveTable>(plan, run);
}

}  // namespace cupel::cli
