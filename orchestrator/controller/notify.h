#pragma once
// Tells a program of the user's what people should know of: something is overdue, halted, needs
// hands, or has ended. No shell; the program gets one JSON object on its standard input. A
// bystander: a program that fails, hangs or is slow costs the run nothing.
#include <deque>

#include "orchestrator/engine/interfaces.h"

namespace cupel::controller {

class Notifier {
 public:
  /// `complain`: that a program could not be informed, in one line.
  Notifier(asio::any_io_executor executor,
           std::function<void(engine::RunId, const std::string&)> print_error)
      : news_{executor, asio::steady_timer::time_point::max()}, complain_{std::move(print_error)} {}

  /// What the event means for people, if anything. `program`: a file, or a name in PATH; empty:
  /// nobody is informed. At most kMostWaiting stand in line; of what came beyond, the next notice
  /// says how many there were.
  void hear(const std::string& program, engine::RunId run, const engine::Event& event);

  /// Tells, one after the other and at most once in kPause, until it is cancelled.
  Task<Result<void>> serve();
  /// What still stands in line, within a bound of its own.
  Task<void> flush();

  static constexpr std::size_t kMostWaiting = 16;
  static constexpr std::chrono::milliseconds kPause{1000};
  static constexpr std::chrono::seconds kPatience{10};

 private:
  struct Notice {
    engine::RunId run;
    std::string program;
    boost::json::object what;
  };
  Task<void> tell(Notice notice);

  asio::steady_timer news_;
  std::function<void(engine::RunId, const std::string&)> complain_;
  std::deque<Notice> waiting_{};
  std::size_t dropped_ = 0;
};

/// "overdue", "halt", "action", "end"; nothing for all other events. Pure.
std::optional<std::string_view> notice_of(const engine::Event& event);

/// What is reported of the event: `what` as notice_of() has it, the run, and what the event says.
/// As the journal has it: not yet printable.
boost::json::object notice_json(std::string_view what, engine::RunId run,
                                const engine::Event& event);

}  // namespace cupel::controller
