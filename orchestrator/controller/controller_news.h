#pragma once
// What a controller tells of itself, in a file beside the store, for `cupel status` and for others
// that want to be driven by it. Not truth: that is in the journal.
#include <boost/json/object.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/engine/engine.h"
#include "orchestrator/report/run_table.h"

namespace cupel::controller {

/// How one run stands, as its controller knows it.
struct RunNews {
  engine::RunId run = 0;
  const playbooks::Plan& plan;
  const engine::RunState& state;
  const std::vector<engine::Engine::Held>& held;  // of all runs
  engine::WallTime ends{};                        // as far as can be told
  std::optional<engine::WallTime> hands_until{};  // all are through, but for hands
};

boost::json::object news_of(const RunNews& news);
/// {"pid", "runs": [{"run", "ends" (ms since 1970), "held": [{"why", "nodes", "first", "names"}],
/// "approvals": {step: nodes}, "hands_until"}]}.
boost::json::object news_of_all(boost::json::array runs);

bool write_news(const std::filesystem::path& state, const std::string& news);
void remove_news(const std::filesystem::path& state);

/// What the living controller last told; nothing where none lives.
std::optional<boost::json::object> controller_news(const std::filesystem::path& state);
/// Of one run; nullptr where the controller does not drive it.
const boost::json::object* news_of_run(const std::optional<boost::json::object>& news,
                                       engine::RunId run);

/// Why nodes of the run may not begin their steps yet. Nothing where `news` is nullptr.
report::NodeWords held_of(const boost::json::object* news);

}  // namespace cupel::controller
