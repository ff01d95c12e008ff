#pragma once
// How BMCs differ from the standard and from each other: data, one row a vendor. A new difference
// is a new column here and a named test, not an `if` somewhere else.
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace cupel::bmc::redfish {

struct Rules {
  std::string_view vendor;  // as Identity tells it

  // What gives it away, each as a part of what is told, lower case.
  std::string_view system_manufacturer{};  // ComputerSystem.Manufacturer
  std::string_view root_vendor{};          // ServiceRoot.Vendor
  std::string_view oem_key{};              // in Oem of the root, the system or the manager
  std::string_view model{};                // of the system or the manager

  /// SerialNumber names the board; what people call the serial is in SKU (Dell: the service tag).
  bool serial_is_sku = false;
  /// Where a chassis lists its devices outside of the standard ("Oem/Hpe/Links/Devices").
  std::string_view device_list{};
  /// Power supplies of these models are fans that fill an empty bay.
  std::string_view dummy_psu{};
  /// Names of chassis that hold no part and are slow or hang (roots of trust).
  std::span<const std::string_view> idle_chassis{};
  /// Whole collections may be asked for at once ($expand): members come with what they must have.
  bool expands = false;
  /// Parts of URIs that take minutes: kSlowPatience for each, and nobody else waits behind them.
  std::span<const std::string_view> slow_resources{};
};

/// What one slow resource is given at least. A DGX H100's firmware inventory takes 2 to 3 minutes.
constexpr std::chrono::seconds kSlowPatience{240};

bool is_slow(const Rules& rules, std::string_view uri);

/// What may tell the vendor: any of these may be null.
struct Signs {
  const json::value* root = nullptr;
  const json::value* system = nullptr;
  const json::value* manager = nullptr;
};

/// The row that fits best; a row without a name where none fits.
const Rules& rules_for(const Signs& signs);

}  // namespace cupel::bmc::redfish
