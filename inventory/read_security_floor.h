#pragma once
// The file of a security floor, and the inventory's word of which one is used.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/security_floor.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// At most 1,000 rows. Problems with file:line:column, all of them: unknown components, versions
/// outside of their branch, branches that are there twice, rows without an advisory or a date.
std::optional<SecurityFloor> parse_floor(std::string_view text, const std::string& file,
                                         std::vector<Problem>& problems);

/// The one that is part of the program.
const SecurityFloor& shipped_floor();

/// Errors as problems: of the file, as of read_trusted_file(), and of parse_floor().
std::optional<SecurityFloor> load_floor(const std::filesystem::path& file,
                                        std::vector<Problem>& problems);

/// Which parse_floor() reads back as it is.
std::string to_yaml(const SecurityFloor& floor);

/// `security_floor: {file: floor.yaml, policy: warn|fail}` of an inventory; without it the shipped
/// floor, which warns. The file's text goes to `digested`.
FloorSite read_floor_site(YamlFields& site, const std::filesystem::path& folder,
                          const std::string& file, std::vector<Problem>& problems,
                          std::string& digested);

}  // namespace cupel::inventory
