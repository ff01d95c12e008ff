#pragma once
// The variables of a UEFI machine that is off, in the file that OVMF keeps them in. Not a flash
// driver: the file is read whole and written whole.
// Source: UEFI Platform Initialization specification 1.8, volume 3, 2.1.1 (firmware volumes); EDK
// II, MdeModulePkg/Include/Guid/VariableFormat.h (AUTHENTICATED_VARIABLE_HEADER).
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::rehearsal {

using EfiGuid = std::array<std::uint8_t, 16>;  // as it lies in memory

/// Of BootOrder, BootNext and Boot####. Source: UEFI specification 2.10, 3.3.
inline constexpr EfiGuid kEfiGlobal{0x61, 0xdf, 0xe4, 0x8b, 0xca, 0x93, 0xd2, 0x11,
                                    0xaa, 0x0d, 0x00, 0xe0, 0x98, 0x03, 0x2b, 0x8c};

/// The volume of a machine that has none yet: three blocks, of which the first is the store.
std::string blank_variables(std::uint32_t block);

class EfiVariables {
 public:
  /// Errors: kMalformed (no store of authenticated variables, or a variable that leaves it).
  static Result<EfiVariables> parse(std::string image);

  /// Of the global ones, which are called in ASCII. Nothing where there is none.
  std::optional<std::string> global(std::string_view name) const;
  std::vector<std::string> global_names() const;
  /// Kept over power cycles, for the firmware and the operating system.
  void set_global(std::string_view name, std::string data);
  void erase_global(std::string_view name);

  /// The file again, with what was deleted gone from it. Errors: kInvalid (they do not fit).
  Result<std::string> image() const;

 private:
  struct Variable {
    std::string head;  // from StartId up to the sizes: state, attributes, time of the signature
    EfiGuid vendor{};
    std::string name;  // UCS-2, with its NUL
    std::string data;
  };
  std::vector<Variable>::const_iterator find(std::string_view name) const;

  std::string image_;
  std::size_t begin_ = 0, end_ = 0;  // of the store's variables
  std::vector<Variable> variables_;
};

/// UCS-2 with its NUL, of ASCII text.
std::string ucs2(std::string_view ascii);

}  // namespace cupel::rehearsal
