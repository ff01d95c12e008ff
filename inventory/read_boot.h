#pragma once
// The key `boot` of a site and of its nodes, and `os` of a profile, with the place of every
// mistake.
#include <filesystem>

#include "inventory/boot.h"
#include "inventory/node_boot.h"
#include "inventory/profile_os.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// IPv4 or IPv6, without brackets.
bool is_address(const std::string& text);
/// "10.0.2.11/24"
bool is_interface_address(const std::string& text);
/// "bond0.100": a name that Linux takes.
bool is_interface(std::string_view name);

/// `boot:` of a site; nothing where it has none.
std::optional<BootSite> read_boot_site(YamlFields& site, const std::filesystem::path& folder,
                                       const std::string& file, std::vector<Problem>& problems);

/// `boot:` of `count` nodes, one for each. Empty ones where `value` is nullptr.
std::vector<NodeBoot> read_node_boot(const YamlValue* value, std::size_t count,
                                     const std::string& file, std::vector<Problem>& problems);

/// `os:` of a profile, over what an extended profile put there.
void read_profile_os(YamlFields& profile, const std::string& file, ProfileOs& os,
                     std::vector<Problem>& problems);

}  // namespace cupel::inventory
