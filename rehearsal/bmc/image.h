#pragma once
// What an image for virtual machines looks like: how a virtual BMC knows the component and the
// version, and how one is made. Data and pure functions.
//
//   virtual firmware        the first line
//   model DGXH100           optional: it is for no other model
//   size 314572800          optional: of the whole file, which then ends with its seal
//   HostBIOS_0 02.00.00     a component, by its name or by its id in the inventory, and its version
//                           an empty line ends the header; what follows is payload
//
// The seal is the SHA-256, in hexadecimal, of all before it: what is cut or changed on its way is
// found out. The header has 64 KiB at most. Any other file is known by its name alone:
// COMPONENT_VERSION with any extension, or anything with _VERSION at its end where one target is
// named.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rehearsal/bmc/firmware.h"
#include "rehearsal/bmc/image_reader.h"

namespace cupel::rehearsal {

/// What one image would make of one component.
struct Flash {
  std::string component{};
  std::string version{};
  friend bool operator==(const Flash&, const Flash&) = default;
};

/// What is in an image for these components; nothing where it is for none of them. With `targets`,
/// for those alone.
std::vector<Flash> read_image(std::string_view bytes, std::string_view file_name,
                              std::span<const std::string> targets, std::span<const Component> all,
                              const FirmwareNames& names);

/// The model that it says it is for; empty: it does not say.
std::string model_in(std::string_view bytes);

/// The version that it has for the first of these names that it knows; nothing where it knows none.
std::optional<std::string> version_in(std::string_view bytes,
                                      std::span<const std::string_view> names);

/// What is wrong with it as a file: it was cut, or changed. Empty: nothing.
std::string damage_of(const ReceivedImage& image);

/// An image that is to be made.
struct ImagePlan {
  std::vector<Flash> contents{};
  std::string model{};   // empty: for any
  std::size_t size = 0;  // 0: a header alone, without a seal
};

/// Gives it to `out` piece by piece, the same bytes each time. Errors: kInvalid where `size` has no
/// room for header and seal, the header is too long, or a word has a space in it.
Result<void> write_image(const ImagePlan& plan, const std::function<void(std::string_view)>& out);

}  // namespace cupel::rehearsal
