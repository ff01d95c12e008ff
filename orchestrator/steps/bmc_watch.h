#pragma once
// What is read of the BMC around a stage and while it runs: its log before and after, its sensors
// meanwhile. Never fails a stage: what the BMC does not tell is reported as that. What it means is
// for burnin/board/.
#include <functional>

#include "burnin/board/supply_readings.h"
#include "inventory/fwd.h"
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {

/// Where a step keeps the mark in what it found: the evidence that holds the log as it was read
/// then.
inline constexpr std::string_view kLogMark = "log_mark";

/// Whether anybody would judge what the BMC's log says of this node.
bool is_log_watched(const StepEnvironment& environment, const inventory::Node& node);

/// The log as it is now, for whoever reads it later: the mark, or nothing where the BMC does not
/// tell. Asks on `bmc`'s session.
Task<std::optional<std::string>> log_mark(StepEnvironment& environment, bmc::Bmc& bmc,
                                          const engine::StepRequest& request);

/// The newest entry behind the run's last mark that says that the operating system has stopped, in
/// words: a kernel that panics has its BMC write that down. Empty where there is none, where the
/// BMC does not tell, and where no mark says what is new. Asks on `bmc`'s session. Source:
/// IPMI 2.0, table 42-3, sensor type 20h, "Run-time Critical Stop"; Linux, CONFIG_IPMI_PANIC_EVENT.
Task<std::string> system_stop_in_log(StepEnvironment& environment, bmc::Bmc& bmc,
                                     const engine::StepRequest& request);

/// The newest entries behind the run's last mark, at most three, each with its time, in words.
/// Empty where there is none; nothing where the log was not read, or nobody knows what it said
/// before. Asks on `bmc`'s session.
Task<std::optional<std::string>> new_in_log(StepEnvironment& environment, bmc::Bmc& bmc,
                                            const engine::StepRequest& request);

/// The BMC's log around one stage. What a stage before it left as its last reading is where this
/// one's begins: one reading a stage, and no gap between two. What the journal knows of the node is
/// looked up once in a process, and then kept on the board.
class LogWatch {
 public:
  /// `request` must live as long.
  LogWatch(StepEnvironment& environment, const engine::StepRequest& request)
      : environment_{environment}, request_{request} {}

  /// Reads only where nothing in this run has read it before, and the stage is not under way yet.
  Task<void> before();
  /// Puts `log` (findings) and the new mark into what the stage found.
  Task<void> after(engine::StepEnd& end);
  /// What is to be done once the journal has it.
  std::function<void()> when_written() const;

 private:
  StepEnvironment& environment_;
  const engine::StepRequest& request_;
  std::optional<std::string> mark_{};      // of before()
  std::optional<std::string> new_mark_{};  // of after()
};

/// Reads the sensors again and again, and writes down in which order it read and the stage spoke:
/// burnin/board/supply_readings.h tells how that is read.
class SensorWatch {
 public:
  /// `request` must live as long.
  SensorWatch(StepEnvironment& environment, const engine::StepRequest& request)
      : environment_{environment}, request_{request} {}

  /// What the stage said just now.
  void heard(std::string_view piece);
  /// The phase that may end, since the BMC was read often enough in it, or does not answer; empty:
  /// it had better go on.
  std::string read_enough() const;
  /// A phase that ends by somebody else's word.
  void leave_alone(std::string_view phase) { alone_ = phase; }
  /// Until cancelled. After each answer it waits as long as that took; longer and longer where none
  /// comes.
  Task<void> read();
  std::string reported() const { return reported_; }

  /// Writes it down in its place.
  void say(boost::json::object line);
  /// Called whenever there is another phase or another reading.
  std::function<void()> on_news{};
  const std::string& phase() const { return phases_.now(); }
  /// How many readings were begun so far.
  int begun() const { return count_; }
  /// Whether a reading that was begun after so many found all supplies well; nothing: there is none
  /// that tells.
  std::optional<bool> all_well_after(int begun) const {
    return well_ && read_ > begun ? well_ : std::nullopt;
  }

 private:
  void say_parts();
  /// False where the BMC did not list what it has listed before, or nothing.
  bool take(const boost::json::array& sensors);
  void news() const {
    if (on_news) on_news();
  }

  StepEnvironment& environment_;
  const engine::StepRequest& request_;
  std::string reported_{};
  std::string half_{};  // of a line
  std::string last_{};  // phase that was written down
  burnin::PhasesOfReadings phases_{};
  burnin::SupplyListing listing_{};
  std::string alone_{};
  int count_ = 0;
  int read_ = 0;                // number of the last one that was answered
  std::optional<bool> well_{};  // as it reported
  int failed_ = 0;              // readings since another phase was heard of
  bool fresh_ = true;           // a reading has begun or ended since
};

}  // namespace cupel::steps
