// Any bytes as a FRU's inventory.
#include "bmc/ipmi/fru.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel::bmc::ipmi;
  Bytes bytes{data, data + size};
  const auto reported = [](View from) {
    const auto fru = parse_fru(from);
    if (fru) (void)(fru->manufacturer() + fru->serial());
  };
  reported(bytes);
  // Nothing but luck finds a checksum: with them put right, the areas are reached.
  if (size < kFruHeader) return 0;
  bytes[0] = 1;
  for (const std::size_t at : {2u, 3u, 4u}) {
    const auto start = std::size_t{bytes[at]} * 8;
    if (start < kFruHeader || start + 2 > size) continue;
    const auto length = std::size_t{bytes[start + 1]} * 8;
    if (length < 8 || start + length > size) continue;
    bytes[start] = 1;
    bytes[start + length - 1] = checksum(View{bytes}.subspan(start, length - 1));
  }
  bytes[7] = checksum(View{bytes}.first(7));
  reported(bytes);
  return 0;
}
