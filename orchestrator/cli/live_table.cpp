#include "orchestrator/cli/live_table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "base/text.h"
#include "orchestrator/cli/table_keys.h"
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
  const bool reported = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  if (!reported || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

class LiveTable final : public RunView {
 public:
  LiveTable(const Context& context, const playbooks::Plan& plan, engine::RunId run)
      : context_{context}, plan_{plan}, run_{run} {}

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
    reported_ = words_of_wait(context_, until, run_);
  }
  void hold(report::NodeWords held) override { held_ = std::move(held); }
  void listen(const boost::asio::any_io_executor& executor) override {
    keys_.emplace(executor, [this](TableKey key) { press(key); });
  }
  void announce(controller::Weight weight, const std::string& line) override {
    std::fputs((start_of_table() + announced(context_, weight, line) + "\n").c_str(), stdout);
    lines_ = 0;
    draw();
  }
  void tick() override { draw(); }
  /// With what failed in view, and the terminal as it was.
  void finish() override {
    keys_.reset();
    view_ = {};
    draw();
  }

 private:
  void press(TableKey key) {
    const auto page = std::max<std::size_t>(shown_, 1);
    const auto up = [this](std::size_t rows) { view_.first -= std::min(view_.first, rows); };
    switch (key) {
      case TableKey::up:
        up(1);
        break;
      case TableKey::down:
        ++view_.first;
        break;
      case TableKey::page_up:
        up(page);
        break;
      case TableKey::page_down:
        view_.first += page;
        break;
      case TableKey::top:
        view_.first = 0;
        break;
      case TableKey::bottom:
        view_.first = plan_.nodes.size();
        break;
      case TableKey::sort:
        view_ = {.order = next(view_.order), .help = view_.help};
        break;
      case TableKey::help:
        view_.help = !view_.help;
        break;
    }
    draw();
  }

  static report::Order next(report::Order order) {
    using enum report::Order;
    return order == failed_first ? by_name : order == by_name ? by_step : failed_first;
  }

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
    view_.has_keys = keys_ && keys_->hold();
    auto text = start_of_table();
    // One column and one row less than there are: a line that fills the last column wraps on some
    // terminals, and the cursor needs a row of its own.
    const auto rows = std::max<std::size_t>(size_.rows, 2) - 1;
    const auto columns = std::max<std::size_t>(size_.columns, 9) - 1;
    const auto folder = state_to_name(context_);
    const report::RunTable table{.run = run_,
                                 .plan = plan_,
                                 .state = *state_,
                                 .doing = doing_,
                                 .held = held_,
                                 .note = reported_,
                                 .now = report::wall_now(),
                                 .view = view_,
                                 .state_to_name = folder};
    const auto drawn = report::drawn(table, rows, columns);
    for (const auto& line : drawn.lines) text += line + "\n";
    view_.first = drawn.first;
    shown_ = drawn.shown;
    lines_ = drawn.lines.size();
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    drawn_ = table.now;
  }

  const Context& context_;
  const playbooks::Plan& plan_;
  engine::RunId run_;
  const RunState* state_ = nullptr;
  report::NodeWords doing_{};
  std::map<std::string, report::Try> tries_{};
  report::NodeWords held_{};
  engine::WallTime drawn_{};
  std::string reported_{};  // of the run as a whole
  std::size_t lines_ = 0;
  Size size_{};
  report::TableView view_{};
  std::size_t shown_ = 0;  // rows of nodes
  std::optional<TableKeys> keys_{};
};

}  // namespace

std::unique_ptr<RunView> make_live_table(const Context& context, const playbooks::Plan& plan,
                                         engine::RunId run) {
  return std::make_unique<LiveTable>(context, plan, run);
}

}  // namespace cupel::cli
