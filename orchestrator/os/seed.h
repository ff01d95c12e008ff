#pragma once
// The cloud-init seed (NoCloud) of an installed system: its name, the key that logs in, its
// networks by MAC, what it was installed from, and how it reports once that it is up. Every value
// stands in JSON, which YAML 1.2 contains. Pure.
// Source: cloud-init 22.4, NoCloud, cloud-config and network-config version 2.
#include <map>

#include "base/json.h"
#include "inventory/fwd.h"

namespace cupel::os {

/// Where an installed system says what it was installed from.
inline constexpr std::string_view kInstalledFile = "/var/lib/cupel/os.json";

struct SeedRequest {
  const inventory::Node* node = nullptr;
  std::string image{}, digest{};
  std::string public_key{};
  std::string home_url{};
  std::string ca{};          // PEM; empty: HTTP
  json::array networks{};    // as in a node's order, where the node has no network of its own
  json::object user_data{};  // of the site: its lists follow Cupel's own
};

/// "meta-data", "user-data" and "network-config". Secret: it holds the home URL, and what secrets
/// the site's user data has.
std::map<std::string, std::string> make_seed(const SeedRequest& request);

/// The content of kInstalledFile: one line of JSON with its end.
std::string installed_text(const std::string& node, const std::string& image,
                           const std::string& digest);

/// The program that reports the installed system, of POSIX shell: it takes $CUPEL_HOME,
/// $CUPEL_IMAGE and, for HTTPS, $CUPEL_CA.
std::string_view home_script();

/// What the installed system is to call itself.
const std::string& installed_name(const inventory::Node& node);

}  // namespace cupel::os
