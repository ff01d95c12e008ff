// Any bytes as a record of the kernel's log, and as a bare line of it.
#include "burnin/agent/node/kernel_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel::agent;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto sound = [](const std::optional<KernelMessage>& found) {
    if (!found) return true;
    for (const char c : found->detail)
      if (c < 0x20 || c >= 0x7F) return false;
    const bool place = found->pci.empty() || found->pci.size() >= 12;
    return place && found->detail.size() <= 160 && found->part.size() <= 200;
  };
  if (!sound(recognise(text))) __builtin_trap();
  if (const auto record = parse_record(text); record && !sound(recognise(*record)))
    __builtin_trap();
  return 0;
}
