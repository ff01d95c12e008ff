#pragma once
// What a controller shows while it works, as interfaces: a terminal, a log or a service stands
// behind them. The controller itself has no terminal.
#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/engine/interfaces.h"
#include "orchestrator/report/run_table.h"
#include "playbooks/plan.h"

namespace cupel::controller {

/// Of a line of the controller's own: a warning means that something was not done as asked.
enum class Weight { information, warning };

/// Watches one run.
class RunView : public engine::Observer {
 public:
  /// Until when the finished rest of the run waits for operator actions; nothing: it does not.
  virtual void waits_for_repair(std::optional<engine::WallTime>) {}
  /// Which nodes' steps may not begin yet, and why.
  virtual void hold(report::NodeWords) {}
  /// Where it may wait for what a person types. Called before the first event; the view goes
  /// before the executor's context.
  virtual void listen(const boost::asio::any_io_executor&) {}
  /// Once a second.
  virtual void tick() {}
  /// A line that stays, of something that is no event of the run.
  virtual void announce(Weight weight, const std::string& line) = 0;
  virtual void finish() {}
};

enum class Origin { own, submitted };  // a run of this process, or one that another process left

class Front {
 public:
  virtual ~Front() = default;
  /// Nothing where the run is not shown.
  virtual std::unique_ptr<RunView> view(const playbooks::Plan& plan, engine::RunId run,
                                        Origin origin) = 0;
  /// Where no run is shown that could take the line.
  virtual void announce(Weight weight, const std::string& line) = 0;
  /// A run that was submitted cannot begin.
  virtual void refuse(engine::RunId run, const std::string& why) = 0;
  /// A run of this process is over; `others` keep the process.
  virtual void outlast(engine::RunId ended, const std::vector<engine::RunId>& others) = 0;
  /// Once a second, whatever runs.
  virtual void tick() {}
  /// What the front cannot do without and has lost: the controller ends with it.
  virtual std::optional<Error> fault() { return std::nullopt; }
  /// SIGHUP. Whether runs that are shown need another view from now on.
  virtual bool hang_up() = 0;
  /// Else SIGHUP says that files are to be read again, and no more.
  virtual bool has_terminal() const { return true; }
};

}  // namespace cupel::controller
