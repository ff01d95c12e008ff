#pragma once
// What of a virtual machine has firmware of its own, in which version, and under which id its BMC
// lists it. What an image for it looks like. Data and pure functions; no HTTP.
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

/// `bmc_version`: of the vendor's row, where the profile does not speak of it.
std::vector<Component> components_of(const Hardware& hardware, std::string_view bmc_version);

/// "Installed-159-1.8.2__BIOS.Setup.1-1": what stands last in its URI.
std::string id_of(const FirmwareNames& names, const Component& component);
std::string filled_id(std::string_view form, std::string_view version, int number);

/// What one image would make of one component.
struct Flash {
  std::string component{};
  std::string version{};
  friend bool operator==(const Flash&, const Flash&) = default;
};

/// What is in an image for virtual machines. Its first line is "virtual firmware", each further one
/// a component, by its name here or its id there, and a version. Any other file is known by its
/// name alone: COMPONENT_VERSION with any extension, or anything with _VERSION at its end where
/// `targets` names one component. Nothing where it is for none of `all`.
std::vector<Flash> read_image(std::string_view bytes, std::string_view file_name,
                              std::span<const std::string> targets, std::span<const Component> all,
                              const FirmwareNames& names);

/// Whether `one` is older than `other`, number by number: "1.9" is older than "1.10".
bool is_older(std::string_view one, std::string_view other);

VirtualTime writing_time(const UpdateTimes& times, FirmwareKind kind);
Activation activation_of(const UpdateBehavior& behavior, FirmwareKind kind);

}  // namespace cupel::rehearsal
