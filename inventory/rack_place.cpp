#include "inventory/rack_place.h"

#include "base/text.h"
#include "inventory/identity.h"

namespace cupel::inventory {

std::optional<int> slot_of(std::string_view text) {
  const auto found = number<int>(trimmed(text));
  return found && *found >= 1 && *found <= kHighestSlot ? found : std::nullopt;
}

std::string reported_place(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  return reported_serial(printable(shortened(trimmed(text), kLongest)));
}

}  // namespace cupel::inventory
