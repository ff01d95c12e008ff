#pragma once
// What stands in an event's data. Tolerant: what is absent or of another type is empty.
#include <string>
#include <string_view>

#include "orchestrator/engine/event.h"

namespace cupel::engine {

/// Who asks for a retry in the controller's own name.
inline constexpr std::string_view kByItself = "cupel";
/// Of a step's end: earlier steps of its node that are done again, and then itself. Names of the
/// plan.
inline constexpr std::string_view kAgain = "again";

inline std::string text_in(const Event& event, std::string_view key) {
  const auto* value = event.data.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

}  // namespace cupel::engine
