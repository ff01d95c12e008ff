#pragma once
// Which BIOS attribute of which vendor a portable setting is, and how it spells the values: data,
// a row for each. A vendor, a board or a spelling more is a row more, not an `if`.
#include <span>
#include <string_view>
#include <vector>

namespace cupel::settings {

/// How attributes spell one value; boards of a vendor differ, and are asked in this order.
struct ValueSpelling {
  std::string_view value;  // of inventory::PortableSetting
  std::span<const std::string_view> words;
};

struct VendorAttribute {
  std::string_view vendor;     // as bmc::Identity tells it
  std::string_view setting;    // of inventory::portable_settings()
  std::string_view attribute;  // "*": any text. All that match are set
  std::span<const ValueSpelling> values;
  std::string_view source;
};

std::span<const VendorAttribute> vendor_attributes();

/// The rows of one vendor's setting, those to be tried first being first.
std::vector<const VendorAttribute*> attributes_of(std::string_view vendor,
                                                  std::string_view setting);

/// Whether an attribute's name is that, "*" standing for any text.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace cupel::settings
