#include "inventory/shipped.h"

namespace cupel::inventory {

const ShippedFile* shipped_file(std::string_view path) {
  for (const auto& file : shipped_files())
    if (file.path == path) return &file;
  return nullptr;
}

}  // namespace cupel::inventory
