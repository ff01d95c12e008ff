// Any bytes as forwarding tables.
#include "inventory/forwarding.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const auto tables = cupel::inventory::parse_forwarding(bytes);
  if (!tables) return 0;
  if (tables->empty() || tables->hcas() == 0 || tables->doubts().size() > 20) std::abort();
  const auto port = tables->port_to("leaf1-r1", "n01", "mlx5_0");
  if (port && (*port < 0 || *port > 254)) std::abort();
  return 0;
}
