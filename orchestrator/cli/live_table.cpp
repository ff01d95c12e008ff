#include "orchestrator/cli/live_table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "base/text.h"
#include "orchestrator/report/run_progress.h"

namespace cupel::cli {
namespace {

using engine::Event;
using engine::RunState;
using std::chrono::milliseconds;

struct Size {
  std::size_t rows = 24;
  std::size_t columns = 80;
  friend bool operator==(const Size&, const Size&) = default;
};

Size terminal_size() {
  winsize size{};
  const bool told = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  if (!told || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

class LiveTable final : public RunView {
 public:
  LiveTable(const playbooks::Plan& plan, engine::RunId run) : plan_{plan}, run_{run} {}

  void on_event(const Event& event, const RunState& state) override {
    const auto node = state.nodes.find(event.node);
    if (node != state.nodes.end()) forget_of_an_earlier_try(node->first, node->second);
    state_ = &state;
    draw_soon();
  }
  void on_waiting(std::string_view node, std::string_view, std::string_view what) override {
    doing_[std::string{node}] = what;
    draw_soon();
  }
  void waits_for_repair(std::optional<engine::WallTime> until) override {
    told_ = words_of_wait(until, run_);
  }
  void hold(report::NodeWords held) override { held_ = std::move(held); }
  void announce(controller::Weight weight, const std::string& line) override {
    std::fputs((start_of_table() + announced(weight, line) + "\n").c_str(), stdout);
    lines_ = 0;
    draw();
  }
  void tick() override { draw(); }
  void finish() override { draw(); }

 private:
  /// What a step said that it waits for is of one try.
  void forget_of_an_earlier_try(const std::string& name, const engine::NodeState& node) {
    const auto now = report::try_of(node);
    auto& last = tries_[name];
    if (last != now) doing_.erase(name);
    last = now;
  }

  /// At most ten times a second, however fast events come.
  void draw_soon() {
    if (report::wall_now() - drawn_ >= milliseconds{100}) draw();
  }

  /// Where the table was begun, with nothing behind it. A terminal that has another size now has
  /// moved what was drawn: nobody knows where to, so the whole screen is begun anew.
  std::string start_of_table() {
    const auto size = terminal_size();
    const bool moved = lines_ > 0 && size != size_;
    size_ = size;
    if (moved) return "\x1b[H\x1b[2J";
    return lines_ > 0 ? fmt::format("\x1b[{}F\x1b[J", lines_) : std::string{};
  }

  void draw() {
    if (state_ == nullptr) return;
    auto text = start_of_table();
    // One column and one row less than there are: a line that fills the last column wraps on some
    // terminals, and the cursor needs a row of its own.
    const auto rows = std::max<std::size_t>(size_.rows, 2) - 1;
    const auto columns = std::max<std::size_t>(size_.columns, 9) - 1;
    const report::RunTable table{.run = run_,
                                 .plan = plan_,
                                 .state = *state_,
                                 .doing = doing_,
                                 .held = held_,
                                 .note = told_,
                                 .now = report::wall_now()};
    const auto lines = report::lines_of(table, rows, columns);
    for (const auto& line : lines) text += line + "\n";
    lines_ = lines.size();
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    drawn_ = table.now;
  }

  const playbooks::Plan& plan_;
  engine::RunId run_;
  const RunState* state_ = nullptr;
  report::NodeWords doing_{};
  std::map<std::string, report::Try> tries_{};
  report::NodeWords held_{};
  engine::WallTime drawn_{};
  std::string told_{};  // of the run as a whole
  std::size_t lines_ = 0;
  Size size_{};
};

}  // namespace

std::unique_ptr<RunView> make_live_table(const playbooks::Plan& plan, engine::RunId run) {
  return std::make_unique<LiveTable>(plan, run);
}

}  // namespace cupel::cli
