#include "orchestrator/netboot/ticket.h"

#include <array>

namespace cupel::netboot {

std::string_view to_string(BootEvent::Kind kind) {
  static constexpr std::array<std::string_view, 8> kNames{
      "fetched", "hello", "refused", "progress", "done", "failed", "home", "expired"};
  return kNames.at(static_cast<std::size_t>(kind));
}

}  // namespace cupel::netboot
