#pragma once
// The YAML files that are compiled into the binary (cmake/embed.cmake): profiles, playbooks, racks.
#include <span>
#include <string_view>

namespace cupel::inventory {

struct ShippedFile {
  std::string_view path;  // "inventory/profiles/dgx-h100.yaml", as in the source tree
  std::string_view text;
};

std::span<const ShippedFile> shipped_files();

/// nullptr if there is none of that path.
const ShippedFile* shipped_file(std::string_view path);

}  // namespace cupel::inventory
