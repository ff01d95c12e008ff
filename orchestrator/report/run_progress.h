#pragma once
// How a run that works stands: what runs, what is late, what waits for a person. From its events
// alone, so that it can be reported without the inventory that the run was planned with. Pure.
#include <boost/json/object.hpp>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "orchestrator/engine/event.h"

namespace cupel::report {

struct Late {
  std::string node;
  std::string step;
  std::chrono::milliseconds running{};

  friend bool operator==(const Late&, const Late&) = default;
};

struct RunProgress {
  engine::RunId run = 0;
  std::map<std::string, std::size_t> running{};  // step -> nodes that do it now
  std::map<std::string, std::string> halts{};    // step -> why; "" of the canary
  std::vector<Late> overdue{};
  std::size_t between_tries = 0;
  std::size_t failed = 0;        // nodes with a step that failed, as it stands now
  std::size_t failed_steps = 0;  // of all of them
  bool paused = false;
  std::string paused_by{};  // " by root", or empty

  friend bool operator==(const RunProgress&, const RunProgress&) = default;
};

RunProgress progress_of(engine::RunId id, std::span<const engine::Event> events,
                        engine::WallTime now);

/// "12 at power-on, 4 at gpu-facts; 3 between tries; 2 nodes failed".
std::string to_text(const RunProgress& standing);
boost::json::object to_json(const RunProgress& standing);
/// Tolerant: what is absent or of another type stays as it is by default.
RunProgress progress_from(engine::RunId run, const boost::json::value& value);

engine::WallTime wall_now();

}  // namespace cupel::report
