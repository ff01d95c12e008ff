#pragma once
// How each run of a controller stands, as the controller knows it: what the journal does not say.
// One struct for whoever writes it, reads it or serves it. Not truth: that is in the journal.
#include <boost/describe/class.hpp>
#include <boost/json/object.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/engine/engine.h"
#include "orchestrator/report/run_table.h"
#include "playbooks/fwd.h"

namespace cupel::controller {

/// Nodes whose steps may not begin yet for one reason.
struct HeldNodes {
  std::string why{};
  std::int64_t nodes = 0;
  std::string first{};               // in line
  std::vector<std::string> names{};  // all of them

  friend bool operator==(const HeldNodes&, const HeldNodes&) = default;
};

struct RunStatus {
  engine::RunId run = 0;
  engine::WallTime ends{};                          // estimated
  std::vector<HeldNodes> held{};                    // at most kMostReasons
  std::map<std::string, std::int64_t> approvals{};  // step: nodes that wait there for approval
  std::optional<engine::WallTime> hands_until{};    // only operator actions are left to wait for
  bool halted = false;  // nothing goes on until an operator continues it

  friend bool operator==(const RunStatus&, const RunStatus&) = default;
};
inline constexpr std::size_t kMostReasons = 20;

struct ControllerStatus {
  std::int64_t pid = 0;
  std::vector<RunStatus> runs{};  // those that are not over

  /// nullptr where the controller does not drive the run.
  const RunStatus* find(engine::RunId run) const;
  friend bool operator==(const ControllerStatus&, const ControllerStatus&) = default;
};

BOOST_DESCRIBE_STRUCT(HeldNodes, (), (why, nodes, first, names))
BOOST_DESCRIBE_STRUCT(RunStatus, (), (run, ends, held, approvals, hands_until, halted))
BOOST_DESCRIBE_STRUCT(ControllerStatus, (), (pid, runs))

/// What a status is made of.
struct RunFacts {
  engine::RunId run = 0;
  const playbooks::Plan& plan;
  const engine::RunState& state;
  const std::vector<engine::Engine::Held>& held;  // of all runs
  engine::WallTime ends{};
  std::optional<engine::WallTime> hands_until{};
  bool halted = false;
};
RunStatus status_of(const RunFacts& facts);

/// A key for each member of the struct; times in UTC ("2026-11-23T10:00:00Z").
boost::json::object to_json(const RunStatus& status);
/// Of an object that has these keys beside others. Tolerant as controller_status_from().
RunStatus run_status_from(const boost::json::object& object);
std::string to_text(const ControllerStatus& status);
/// Tolerant: what is absent or of another type stays as it is by default. Errors: kMalformed: it is
/// no JSON object.
Result<ControllerStatus> controller_status_from(std::string_view text);

/// Why nodes of the run may not begin their steps yet. Nothing where `status` is nullptr.
report::NodeWords held_of(const RunStatus* status);

/// Beside the store: controller.json. `text` as to_text() makes it. Errors: kStorage.
Result<void> write_status(const std::filesystem::path& state, const std::string& text);
void remove_status(const std::filesystem::path& state);
/// What the living controller last wrote; nothing where none lives.
std::optional<ControllerStatus> read_status(const std::filesystem::path& state);
/// Another one whenever write_status() has written; empty where there is no file.
std::string status_mark(const std::filesystem::path& state);
/// The same of one run; nullptr where nobody drives it.
const RunStatus* find(const std::optional<ControllerStatus>& status, engine::RunId run);

}  // namespace cupel::controller
