#include "inventory/load.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <unordered_set>

#include "base/digest.h"
#include "base/file.h"
#include "base/paths.h"
#include "inventory/check_files.h"
#include "inventory/names.h"
#include "inventory/read_access.h"
#include "inventory/read_bmc.h"
#include "inventory/read_boot.h"
#include "inventory/read_fabric.h"
#include "inventory/read_nodes.h"
#include "inventory/read_power.h"
#include "inventory/read_rack.h"
#include "inventory/read_security_floor.h"
#include "inventory/read_slurm.h"
#include "inventory/select.h"
#include "inventory/shared_bmcs.h"
#include "inventory/user_data.h"
#include "inventory/yaml.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kFileLimit = 64u << 20;

/// PEM files of `firmware: tls`, else those that the boot server shows.
void read_image_tls(YamlFields& firmware, const std::filesystem::path& folder,
                    const Inventory& site, ImageTrust& trust, std::vector<Problem>& problems) {
  const auto* value = firmware.value("tls");
  if (value == nullptr && site.boot)
    std::tie(trust.certificate, trust.certificate_key) =
        std::pair{site.boot->certificate, site.boot->key};
  if (value == nullptr) return;
  YamlFields fields{*value, "tls", site.file, problems};
  const auto path = [&](std::string_view key) -> std::string {
    const auto name = fields.required(key);
    if (name.empty()) return {};
    auto found = path_from(folder, name);
    if (const auto why = absence(found)) fields.report(fields.place(key), *why);
    return found.string();
  };
  trust.certificate = path("certificate");
  trust.certificate_key = path("key");
  fields.finish();
}

/// From where BMCs fetch: "10.0.0.1:8080" or, without encryption, "http://10.0.0.1:8080".
void read_image_server(YamlFields& firmware, const std::filesystem::path& folder,
                       const Inventory& site, ImageTrust& trust, std::vector<Problem>& problems) {
  constexpr std::string_view kHttp = "http://";
  auto serve = firmware.text("serve");
  if (serve && serve->starts_with(kHttp)) {
    trust.only_http = true;
    serve->erase(0, kHttp.size());
  }
  const auto before = problems.size();
  read_image_tls(firmware, folder, site, trust, problems);
  if (!serve) return;
  trust.serve = endpoint_of(*serve, 0);
  boost::system::error_code no_address;
  if (trust.serve) boost::asio::ip::make_address(trust.serve->host, no_address);
  if (!trust.serve || trust.serve->port == 0 || no_address)
    firmware.report(firmware.place("serve"),
                    "serve must be an address of this machine with a port: 10.0.0.1:8080");
  else if (!trust.only_http && trust.certificate.empty() && problems.size() == before)
    firmware.report(firmware.place("serve"),
                    "serve needs a certificate, since BMCs fetch over HTTPS: add tls: "
                    "{certificate: site.pem, key: site.key} to firmware: or to boot:. Without one: "
                    "serve: http://" +
                        *serve +
                        ", where any machine between this one and the BMC can change an image");
  if (trust.only_http) trust.certificate = trust.certificate_key = {};
}

/// Whose word it is that an image may be written.
void read_image_trust(YamlFields& site, const std::filesystem::path& folder, Inventory& into,
                      std::vector<Problem>& problems) {
  const auto* value = site.value("firmware");
  if (value == nullptr) return;
  YamlFields fields{*value, "firmware", into.file, problems};
  const auto path = [&](std::string_view key) {
    const auto file = fields.required(key);
    if (fields.has(key) && file.empty())
      fields.report(fields.place(key), std::string{key} + " must name a file");
    return path_from(folder, file).string();
  };
  ImageTrust trust;
  trust.where = fields.place();
  trust.manifest = path("manifest");
  trust.key = path("key");
  read_image_server(fields, folder, into, trust, problems);
  fields.finish();
  into.images = std::move(trust);
}

/// Which nodes are meant by one name, as `--nodes` has them. A group may name those above it.
void read_groups(YamlFields& site, Inventory& into, std::vector<Problem>& problems) {
  const bool all_nodes_are_read = problems.empty();
  for (const auto& item : site.list("groups")) {
    YamlFields fields{item, "group", into.file, problems};
    const auto name = fields.required("name"), terms = fields.required("nodes");
    if (const auto fault = fault_in_name(Named::group, name); fault && !name.empty())
      fields.report(fields.place("name"), *fault);
    if (into.groups.contains(name))
      fields.report(fields.place("name"), "group '" + name + "' is there already");
    std::vector<std::string> members;
    if (all_nodes_are_read && !terms.empty()) {
      const auto nodes = select(into, terms);
      if (!nodes) fields.report(fields.place("nodes"), nodes.error().what);
      if (nodes)
        for (const auto* node : *nodes) members.push_back(node->name);
    }
    into.groups.emplace(name, std::move(members));
    fields.finish();
  }
}

/// Loads each profile once. A profile that cannot be loaded is reported once, not for each node.
void load_profiles(const ProfileSource& source, Inventory& into, std::vector<Problem>& problems,
                   std::string& digested) {
  std::unordered_set<std::string> tried;
  for (const auto& node : into.nodes) {
    if (node.profile.empty() || !tried.insert(node.profile).second) continue;
    const auto before = problems.size();
    auto profile = source.load(node.profile, problems);
    if (!profile && problems.size() == before) {
      const auto names = source.names();
      problems.push_back({node.where, "node '" + node.name + "': there is no profile '" +
                                          node.profile + "'" +
                                          did_you_mean(node.profile, std::span{names})});
    }
    if (!profile) continue;
    digested += source.text(node.profile);
    into.profiles.emplace(node.profile, std::move(*profile));
  }
}

/// As far as it can be read; nothing where it is no YAML.
std::optional<Inventory> read_inventory(std::string_view text, const std::string& file,
                                        const std::filesystem::path& folder,
                                        std::string_view cable_columns,
                                        std::vector<Problem>& problems) {
  const auto document = parse_yaml(text, file, problems);
  if (!document) return std::nullopt;
  Inventory inventory;
  inventory.file = file;
  YamlFields site{document->root, "inventory", inventory.file, problems};
  inventory.site = site.required("site");
  read_rooms(site, inventory, problems);
  read_racks(site, folder, inventory, problems);
  read_schedulers(site, folder, inventory, problems);
  inventory.boot = read_boot_site(site, folder, inventory.file, problems);
  read_image_trust(site, folder, inventory, problems);
  inventory.bmc_networks = read_networks(site, problems);
  read_nodes(site, site.value("defaults"), folder, inventory, problems);
  read_groups(site, inventory, problems);
  const auto* fabric = site.value("fabric");
  std::string digested{text};
  inventory.floor = read_floor_site(site, folder, inventory.file, problems, digested);
  site.finish();
  if (inventory.nodes.empty() && problems.empty())
    site.report(site.place("nodes"), "the inventory has no nodes");
  load_profiles(ProfileSource{folder / "profiles"}, inventory, problems, digested);
  share_bmcs(inventory, problems);
  check_nodes(inventory, problems);
  const auto racks = read_rack_parts(site, site.value("defaults"), folder, inventory, problems);
  check_rack_parts(racks, inventory, problems);
  if (fabric) read_fabric(*fabric, folder, inventory, problems, digested, cable_columns);
  const bool all_profiles = std::ranges::all_of(
      inventory.nodes, [&](const Node& node) { return inventory.profiles.contains(node.profile); });
  if (all_profiles) check_power(inventory, problems);
  if (all_profiles) check_user_data(inventory, problems);
  inventory.digest = sha256_hex(digested);
  // What stands in defaults is read for each node.
  problems = reported_once(std::move(problems));
  return inventory;
}

/// What files that an inventory names are checked for.
using FileChecks = std::vector<Problem> (*)(const Inventory&);

/// Those of all files. One fault of a file is enough: what others can change they can often read.
std::vector<Problem> check_all_files(const Inventory& inventory) {
  auto problems = check_named_files(inventory);
  const auto is_known = [named = problems](const Problem& each) {
    return std::ranges::find(named, each.where, &Problem::where) != named.end();
  };
  auto secrets = check_secret_files(inventory);
  std::erase_if(secrets, is_known);
  std::ranges::move(secrets, std::back_inserter(problems));
  std::ranges::move(check_image_trust_files(inventory), std::back_inserter(problems));
  return problems;
}

/// `always`: files are checked also where the inventory has faults.
Loaded load_and_check(const std::filesystem::path& file, std::string_view cable_columns,
                      FileChecks files, bool always) {
  auto text = read_file(file, kFileLimit);
  if (!text)
    return {.problems = {{{file.string(), 0, 0},
                          text.error().what + " (an inventory is named with --inventory, or in "
                                              "$CUPEL_INVENTORY)"}}};
  auto owned = check_inventory_files(file);
  Loaded loaded;
  auto inventory = read_inventory(*text, file.string(), absolute_path(file).parent_path(),
                                  cable_columns, loaded.problems);
  const bool is_right = inventory && loaded.problems.empty();
  if (is_right || (always && inventory))
    std::ranges::move(files(*inventory), std::back_inserter(owned));
  if (is_right && owned.empty()) loaded.inventory = std::move(inventory);
  // Others can write here: what it says is not obeyed, however right it looks.
  std::ranges::move(owned, std::back_inserter(loaded.problems));
  return loaded;
}

}  // namespace

Loaded parse_inventory(std::string_view text, const std::string& file,
                       const std::filesystem::path& folder, std::string_view cable_columns) {
  Loaded loaded;
  auto inventory = read_inventory(text, file, folder, cable_columns, loaded.problems);
  if (loaded.problems.empty()) loaded.inventory = std::move(inventory);
  return loaded;
}

Loaded load_inventory(const std::filesystem::path& file, std::string_view cable_columns) {
  return load_and_check(file, cable_columns, check_named_files, false);
}

Loaded check_inventory(const std::filesystem::path& file) {
  return load_and_check(file, {}, check_all_files, true);
}

}  // namespace cupel::inventory
