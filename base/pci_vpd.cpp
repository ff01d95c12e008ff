#include "base/pci_vpd.h"

#include "base/text.h"

namespace cupel {
namespace {

unsigned at(std::string_view bytes, std::size_t index) {
  return static_cast<unsigned char>(bytes[index]);
}

std::string text_of(std::string_view bytes) {
  // Makers fill fields with blanks and zeros.
  bytes = bytes.substr(0, bytes.find('\0'));
  return std::string{trimmed(printable(bytes))};
}

/// One resource: its tag, and where its data lies.
struct Resource {
  unsigned tag = 0;
  std::size_t begin = 0, end = 0;
};

/// Small resources have a length of three bits, large ones of sixteen (I.1, and ISA PnP 1.0a, 6.2).
std::optional<Resource> resource_at(std::string_view bytes, std::size_t place) {
  if (place >= bytes.size()) return std::nullopt;
  const auto first = at(bytes, place);
  constexpr unsigned kLarge = 0x80;
  Resource resource;
  if ((first & kLarge) == 0) {
    resource = {first >> 3U & 0xFU, place + 1, place + 1 + (first & 7U)};
  } else {
    if (place + 3 > bytes.size()) return std::nullopt;
    const auto length = at(bytes, place + 1) | at(bytes, place + 2) << 8U;
    resource = {first, place + 3, place + 3 + length};
  }
  if (resource.end > bytes.size()) return std::nullopt;
  return resource;
}

/// All bytes up to the checksum, with it, are 0 (I.3.1).
bool sums_up(std::string_view bytes) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) sum += at(bytes, i);
  return (sum & 0xFFU) == 0;
}

/// The keywords of the read-only resource: two letters, a length, data. False where they make none.
bool read_keywords(std::string_view bytes, const Resource& resource, PciVpd& vpd) {
  for (auto place = resource.begin; place < resource.end;) {
    if (place + 3 > resource.end) return false;
    const auto keyword = bytes.substr(place, 2);
    const auto begin = place + 3, end = begin + at(bytes, place + 2);
    if (end > resource.end) return false;
    const auto data = bytes.substr(begin, end - begin);
    if (keyword == "SN") vpd.serial = text_of(data);
    if (keyword == "PN") vpd.part_number = text_of(data);
    // What follows the checksum is reserved.
    if (keyword == "RV") return !data.empty() && sums_up(bytes.substr(0, begin + 1));
    place = end;
  }
  return true;
}

}  // namespace

std::optional<PciVpd> parse_pci_vpd(std::string_view bytes) {
  constexpr unsigned kIdentifier = 0x82, kReadOnly = 0x90, kEnd = 0x0F;
  bytes = bytes.substr(0, kMostVpd);
  PciVpd vpd;
  for (std::size_t place = 0;;) {
    const auto resource = resource_at(bytes, place);
    if (!resource || resource->tag == kEnd) return std::nullopt;
    if (resource->tag == kIdentifier)
      vpd.name = text_of(bytes.substr(resource->begin, resource->end - resource->begin));
    if (resource->tag == kReadOnly)
      return read_keywords(bytes, *resource, vpd) ? std::optional{vpd} : std::nullopt;
    place = resource->end;
  }
}

}  // namespace cupel
