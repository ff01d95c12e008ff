#include "orchestrator/os/boot_order.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/efi_loader.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/os/installed.h"
#include "orchestrator/os/installer.h"
#include "orchestrator/os/seed.h"

namespace cupel::os {
namespace {

/// Longer than the slowest write of an image.
constexpr std::chrono::hours kTicketLives{6};
/// A drive of many TB overwrites itself for up to a day (cupel-node's limit).
constexpr std::chrono::hours kErasingTicketLives{30};

/// What the RAM system fetches of a seed is half a MiB at most (cupel-node's limit).
constexpr std::size_t kMostUserData = 256 * 1024;

Result<json::object> disk_of(const inventory::Inventory& inventory, const inventory::Node& node) {
  json::object named;
  if (!node.boot.disk.empty()) named["serial"] = node.boot.disk;
  if (!node.boot.disk_wwn.empty()) named["wwn"] = node.boot.disk_wwn;
  if (!named.empty()) return named;
  const auto& os = inventory.profile_of(node).os;
  if (os.disk_model.empty())
    return Error{Code::kInvalid,
                 node.name +
                     ": nothing says which disk is written: set boot: {disk: SERIAL} of the "
                     "node, or os: {disk: {model, size_min, size_max}} of profile '" +
                     node.profile + "'"};
  return json::object{{"model", os.disk_model},
                      {"size_min", static_cast<std::uint64_t>(os.disk_size_min)},
                      {"size_max", static_cast<std::uint64_t>(os.disk_size_max)}};
}

json::array networks_of(const inventory::Inventory& inventory, const inventory::Node& node) {
  json::array networks;
  for (const auto& mac : node.boot.macs) {
    json::object network{{"mac", mac}};
    const bool fixed = &mac == node.boot.macs.data() && !node.boot.address.empty();
    if (fixed) {
      network["address"] = node.boot.address;
      if (inventory.boot && !inventory.boot->gateway.empty())
        network["gateway"] = inventory.boot->gateway;
      if (inventory.boot && !inventory.boot->dns.empty())
        network["dns"] = json::value_from(inventory.boot->dns);
    } else {
      network["dhcp"] = true;
    }
    networks.push_back(std::move(network));
  }
  return networks;
}

json::object served(std::string_view name, const BootFile& file) {
  return {{"file", name}, {"sha256", file.sha256}, {"size", file.size}};
}

std::string loader_of(const BootImage& disk) {
  return disk.efi.empty() ? std::string{default_efi_loader(disk.arch)} : disk.efi;
}

/// Where the rack's mirror has the image: by its name as in the image store, and with its digest,
/// so that a cache does not take another image of that name for it. Empty: the rack has none.
std::string mirror_url(const inventory::Inventory& inventory, const inventory::Node& node,
                       const BootImage& disk) {
  if (!inventory.boot) return {};
  const auto base = inventory.boot->mirror_of(node.rack);
  if (base.empty()) return {};
  const auto& file = disk.files.at("image");
  const auto name = std::filesystem::path{file.path}.filename().string();
  return base + "/" + disk.name + "/" + name + "?sha256=" + file.sha256;
}

/// What is to be written, and where.
Result<void> add_deployment(json::object& order, const inventory::Inventory& inventory,
                            const inventory::Node& node, const BootRequest& request) {
  const auto& disk = *request.os;
  auto image = served("image", disk.files.at("image"));
  image["name"] = disk.name;
  image["content_size"] = disk.content_size;
  image["compression"] = disk.compression;
  if (const auto mirror = mirror_url(inventory, node, disk); !mirror.empty())
    image["mirror"] = mirror;
  TRY(order["disk"], disk_of(inventory, node));
  order["image"] = std::move(image);
  const auto& named = node.boot.disk.empty() ? node.boot.disk_wwn : node.boot.disk;
  if (request.wipe && named.empty())
    return Error{Code::kInvalid, node.name +
                                     ": wipe needs the disk's serial or WWN in the inventory: "
                                     "boot: {disk: SERIAL}, or boot: {disk_wwn: WWN}"};
  if (request.erase != "none" && !request.wipe)
    return Error{Code::kInvalid,
                 node.name + ": erase needs wipe: \"yes\": the drive loses all that it holds"};
  if (request.wipe) order["wipe"] = named;
  order["erase"] = request.erase;
  order["grow"] = request.grow;
  order["seed"] = request.seed;
  if (request.network_first && request.network_drop)
    return Error{Code::kInvalid, node.name + ": network_first and network_drop: say one of them"};
  order["boot_entry"] = {{"label", "Cupel OS"},
                         {"efi", loader_of(disk)},
                         {"network_first", request.network_first},
                         {"network_drop", request.network_drop}};
  if (disk.bios) order["bios"] = true;
  return ok();
}

Result<netboot::BootOrder> install_order(netboot::BootOrder made, const inventory::Node& node,
                                         const BootRequest& request, json::array networks,
                                         const netboot::Ticket& ticket) {
  if (request.erase != "none")
    return Error{Code::kInvalid, node.name + ": erase: an installer does not erase a disk before"};
  if (request.network_first || request.network_drop)
    return Error{Code::kInvalid,
                 node.name + (request.network_first ? ": network_first" : ": network_drop") +
                     ": an installer sets the EFI boot order by itself"};
  if (!request.seed || !request.grow)
    return Error{Code::kInvalid,
                 fmt::format("{}: os: {}: no of profile '{}' is for a disk's image: an installer "
                             "divides the disk by itself, and its answers are what a seed is",
                             node.name, request.seed ? "grow" : "seed", node.profile)};
  if (node.network)
    return Error{Code::kInvalid,
                 fmt::format("{}: network: is for a disk's image with cloud-init, and {} is an "
                             "installer: write a distribution's cloud image, or take network: away",
                             node.name, request.os->name)};
  if (!request.user_data.empty())
    return Error{
        Code::kInvalid,
        fmt::format("{}: user_data is for a disk's image with cloud-init, and {} is an "
                    "installer: write a distribution's cloud image, or take user_data away",
                    node.name, request.os->name)};
  TRY(auto files, debian_installer({.node = &node,
                                    .image = request.os->name,
                                    .digest = request.os->digest,
                                    .mirror = request.os->mirror,
                                    .public_key = request.public_key,
                                    .wipe = request.wipe,
                                    .ticket = ticket,
                                    .networks = std::move(networks)}));
  made.order = {{"version", 1}, {"node", node.name}, {"action", "install"}};
  made.ticket_arguments = std::move(files.arguments);
  made.texts = std::move(files.texts);
  made.seed = {{"late", std::move(files.late)}};
  return made;
}

}  // namespace

Result<netboot::BootOrder> boot_order(const inventory::Inventory& inventory,
                                      const inventory::Node& node, const BootRequest& request,
                                      const netboot::Ticket& ticket) {
  netboot::BootOrder made;
  made.machine = {.node = node.name,
                  .serial = node.serial,
                  .uuid = {},
                  .macs = node.boot.macs,
                  .arch = request.boots.arch,
                  .rack = node.rack};
  made.lifetime = request.erase == "none" ? kTicketLives : kErasingTicketLives;
  made.address = node.boot.address.substr(0, node.boot.address.find('/'));
  made.kernel_arguments = request.boots.command_line;
  for (const auto& [name, file] : request.boots.files) made.files[name] = file.path;
  auto networks = networks_of(inventory, node);
  if (is_installer(request.boots))
    return install_order(std::move(made), node, request, std::move(networks), ticket);
  made.order = {{"version", 1},
                {"node", node.name},
                {"action", request.os ? "deploy" : "stay"},
                {"hostname", installed_name(node)},
                {"authorized_keys", json::array{request.public_key}},
                {"networks", networks}};
  if (const auto root = request.boots.files.find(std::string{kLargeRoot});
      root != request.boots.files.end())
    made.order["root"] = served(root->first, root->second);
  if (!request.os) return made;
  TRY(add_deployment(made.order, inventory, node, request));
  made.files["image"] = request.os->files.at("image").path;
  if (!request.seed) return made;
  made.seed = make_seed({.node = &node,
                         .image = request.os->name,
                         .digest = request.os->digest,
                         .public_key = request.public_key,
                         .home_url = ticket.home_url,
                         .ca = request.ca,
                         .networks = std::move(networks),
                         .user_data = request.user_data});
  if (const auto bytes = made.seed.at("user-data").size(); bytes > kMostUserData)
    return Error{Code::kInvalid,
                 fmt::format("{}: user_data has {} bytes with the node's values in it: at most {} "
                             "KiB. Let runcmd fetch the rest",
                             node.name, bytes, kMostUserData / 1024)};
  return made;
}

}  // namespace cupel::os
