#pragma once
// What of a virtual machine has firmware of its own, in which version, and under which id its BMC
// lists it. Data and pure functions; no HTTP. Images: image.h.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rehearsal/bmc/update_behavior.h"
#include "rehearsal/hardware.h"

namespace cupel::rehearsal {

struct Component {
  std::string name{};  // "HostBIOS_0", as a rack's file calls it
  FirmwareKind kind = FirmwareKind::other;
  int number = 0;  // of the part that it belongs to
  std::string version{};
};

/// `bmc_version`: of the vendor's row, where the profile does not speak of it. `boards`: what a
/// machine with GPUs has beside what every machine has.
std::vector<Component> components_of(const Hardware& hardware, std::string_view bmc_version,
                                     std::span<const BoardPart> boards = {});

/// "Installed-159-1.8.2__BIOS.Setup.1-1": what stands last in its URI.
std::string id_of(const FirmwareNames& names, const Component& component);
std::string filled_id(std::string_view form, std::string_view version, int number);

/// By its name here or by its id there; nullptr: there is none.
const Component* component_called(std::span<const Component> all, const FirmwareNames& names,
                                  std::string_view called);

/// Whether `one` is older than `other`, number by number: "1.9" is older than "1.10".
bool is_older(std::string_view one, std::string_view other);

VirtualTime writing_time(const UpdateTimes& times, FirmwareKind kind);
Activation activation_of(const UpdateBehavior& behavior, FirmwareKind kind);

}  // namespace cupel::rehearsal
