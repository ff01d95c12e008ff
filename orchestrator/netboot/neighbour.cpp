#include "orchestrator/netboot/neighbour.h"

#include <charconv>

#include "base/file.h"
#include "base/text.h"
#include "orchestrator/netboot/identity.h"

namespace cupel::netboot {
namespace {

/// 16,384 neighbours of 80 bytes, and room.
constexpr std::size_t kLargestTable = 2u << 20;

/// "0x2"
bool is_complete(std::string_view flags) {
  constexpr unsigned kComplete = 0x2;
  constexpr std::string_view kHex = "0x";
  if (!flags.starts_with(kHex)) return false;
  unsigned bits = 0;
  const auto* end = flags.data() + flags.size();
  const auto [stop, failure] = std::from_chars(flags.data() + kHex.size(), end, bits, 16);
  return failure == std::errc{} && stop == end && (bits & kComplete) != 0;
}

}  // namespace

std::optional<std::string> mac_in_table(std::string_view table, const std::string& address) {
  for (const auto line : lines(table)) {
    // IP address, HW type, flags, HW address, mask, device
    const auto fields = words(line);
    if (fields.size() < 4 || fields[0] != address) continue;
    if (is_complete(fields[2])) return normalized_mac(fields[3]);
  }
  return std::nullopt;
}

std::optional<std::string> mac_of_neighbour(const boost::asio::ip::address& peer) {
  // Of this thread's network namespace.
  const auto table = read_file("/proc/thread-self/net/arp", kLargestTable);
  return table ? mac_in_table(*table, peer.to_string()) : std::nullopt;
}

}  // namespace cupel::netboot
