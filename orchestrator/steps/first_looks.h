#pragma once
// Which stages' ends are a first look. What healthy nodes reach is learned of these alone: nodes
// that are measured again are few, chosen, and warmer by then.
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orchestrator/engine/event.h"

namespace cupel::steps {

/// The names in a list of the event's data, 1000 at most; empty: there is no such list.
std::vector<std::string> names_under(const engine::Event& event, std::string_view key);

/// A step's end that sends its node back to earlier stages.
bool asks_again(const engine::Event& event);

/// From here on it may be another machine, as after a repair.
bool is_tried_by_a_person(const engine::Event& event);

/// Goes through a run's events, each once and in their order.
class FirstLooks {
 public:
  /// Whether it is a step's end, and of no stage that a verdict has asked for again.
  bool takes(const engine::Event& event);

 private:
  std::set<std::pair<std::string, std::string>> again_{};  // node and stage
};

}  // namespace cupel::steps
