#pragma once
// An inventory file to a model, or every error in it at once.
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "inventory/load_profile.h"
#include "inventory/model.h"

namespace cupel::inventory {

/// What there is to say about a file. `inventory` is there only if there is no problem at all.
struct Loaded {
  std::optional<Inventory> inventory{};
  std::vector<Problem> problems{};
};

/// Reads and checks the file: at most 64 MiB and 100,000 nodes. Touches nothing else than the file,
/// its profiles, and the existence of the secrets, keys and certificates that it names.
/// `cable_columns`: what the columns of a file of cables are called, in place of fabric: columns:.
Loaded load_inventory(const std::filesystem::path& file, std::string_view cable_columns = {});

/// As load_inventory(), with all that a run would meet later: secrets, the manifest of images and
/// its key that are not there, or that others can read. All of it at once: also where the inventory
/// has other faults.
Loaded check_inventory(const std::filesystem::path& file);

/// As load_inventory(), from a text; `folder` is what relative paths are relative to.
Loaded parse_inventory(std::string_view text, const std::string& file,
                       const std::filesystem::path& folder, std::string_view cable_columns = {});

}  // namespace cupel::inventory
