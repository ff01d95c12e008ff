#pragma once
// A file in the root folder of an ISO 9660 volume, without mounting it (ECMA-119).
#include <optional>
#include <string>
#include <string_view>

#include "burnin/agent/node/boot/signatures.h"

namespace cupel::agent::boot {

/// "CUPEL"; nothing where it is no such volume.
std::optional<std::string> iso_label(const ReadAt& read);

/// `name` as the standard spells it: "TICKET.JSON". At most 64 KiB.
std::optional<std::string> iso_file(const ReadAt& read, std::string_view name);

}  // namespace cupel::agent::boot
