#pragma once
// cloud-config of the site's own for the systems that it installs: read from profiles, defaults,
// racks and nodes with the place of every mistake, merged, and with a node's values put in.
// Source: cloud-init 22.4, "Cloud config examples", "Module reference".
#include <boost/json/object.hpp>
#include <filesystem>

#include "inventory/filled_text.h"
#include "inventory/fwd.h"
#include "inventory/node_os.h"
#include "inventory/secret_ref.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// `user_data:` of one place.
struct UserData {
  struct Variable {
    std::string name{};
    Place where{};
  };
  YamlValue tree{};  // a map; files of secrets have absolute paths
  Place where{};
  std::vector<Variable> variables{};
  std::map<std::string, SecretRef, std::less<>> secrets{};  // as the texts name them
};

/// `user_data:` of `os:`; nothing where it has none. A relative path of a secret begins at
/// `folder`.
std::shared_ptr<const UserData> read_user_data(YamlFields& os, const std::filesystem::path& folder,
                                               const std::string& file,
                                               std::vector<Problem>& problems);

/// The same of `os:` of the site's defaults, a rack or a node; `value` may be nullptr.
std::shared_ptr<const UserData> read_os(const YamlValue* value, const std::filesystem::path& folder,
                                        const std::string& file, std::vector<Problem>& problems);

/// Of the node's profile, the site, its rack and itself.
UserDataLayers user_data_of(const Inventory& inventory, const Node& node);

/// Maps key by key, lists one behind the other; of other values the nearest one, and what it has
/// null for is taken away. A list where there was a map is a problem.
YamlValue merged(const UserDataLayers& layers, std::vector<Problem>& problems);

/// Of the layers' secrets those that `tree`, which was merged of them, still names.
std::map<std::string, SecretRef, std::less<>> secrets_of(const UserDataLayers& layers,
                                                         const YamlValue& tree);

/// node, site, profile, rack, unit, serial, address (without its prefix), mac; those that it has.
std::map<std::string, std::string, std::less<>> variables_of(const Inventory& inventory,
                                                             const Node& node);

/// As cloud-init is to read it.
boost::json::object cloud_config(const YamlValue& tree, const TextValues& values);

/// What only shows once profiles and nodes are known: layers that do not go together, variables
/// that a node has no value for, images without a seed, which networks need too. Profiles of all
/// nodes must be there.
void check_user_data(const Inventory& inventory, std::vector<Problem>& problems);

}  // namespace cupel::inventory
