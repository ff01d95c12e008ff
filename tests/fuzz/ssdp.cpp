// What anybody on the network may answer to a search for BMCs, and what the kernel's table may
// hold.
#include "bmc/scan/ssdp.h"

#include "bmc/scan/found.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto answer = cupel::bmc::scan::parse_ssdp(text);
  if (answer && (answer->uuid.size() != 36 || answer->host.empty() || answer->port == 0))
    __builtin_trap();
  for (const auto& [address, mac] : cupel::bmc::scan::parse_arp(text))
    if (mac.size() != 17) __builtin_trap();
  return 0;
}
