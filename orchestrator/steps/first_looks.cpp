#include "orchestrator/steps/first_looks.h"

#include "orchestrator/engine/event_data.h"

namespace cupel::steps {

std::vector<std::string> names_under(const engine::Event& event, std::string_view key) {
  constexpr std::size_t kMost = 1000;
  std::vector<std::string> names;
  const auto* list = event.data.if_contains(key);
  if (list == nullptr || !list->is_array()) return names;
  for (const auto& each : list->get_array())
    if (each.is_string() && names.size() < kMost)
      names.emplace_back(std::string_view{each.get_string()});
  return names;
}

bool asks_again(const engine::Event& event) {
  return event.kind == engine::EventKind::step_ended && event.data.contains(engine::kAgain);
}

bool is_tried_by_a_person(const engine::Event& event) {
  return event.kind == engine::EventKind::node_retried && !event.data.contains("refused") &&
         engine::text_in(event, "by") != engine::kByItself;
}

bool FirstLooks::takes(const engine::Event& event) {
  if (is_tried_by_a_person(event))
    std::erase_if(again_, [&](const auto& each) { return each.first == event.node; });
  if (event.kind != engine::EventKind::step_ended) return false;
  const bool is_first = !again_.contains({event.node, event.step});
  for (auto& stage : names_under(event, engine::kAgain)) again_.emplace(event.node, stage);
  return is_first;
}

}  // namespace cupel::steps
