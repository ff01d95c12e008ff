#pragma once
// What a run that nobody drives has left on its nodes: jobs at work, settings that are not put
// back.
#include <set>
#include <string>
#include <vector>

#include "orchestrator/engine/event.h"

namespace cupel::report {

struct Leftovers {
  std::set<std::string> at_work{};  // nodes with a job that nobody has ended
  std::set<std::string> set{};      // nodes on which something was set, and not all of it put back
  bool anything() const { return !at_work.empty() || !set.empty(); }
};

/// Of the events of one run. Pure.
Leftovers leftovers(const std::vector<engine::Event>& events);

}  // namespace cupel::report
