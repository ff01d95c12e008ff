#include "inventory/read_boot.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "base/enum_words.h"
#include "base/never_null.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/node_boot.h"
#include "inventory/profile_os.h"
#include "inventory/read_access.h"
#include "inventory/read_bmc.h"
#include "inventory/user_data.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

constexpr std::size_t kMostMacs = 32, kMostServers = 4, kLongestSerial = 128;
/// Source: Linux, IFNAMSIZ with its terminating zero.
constexpr std::size_t kLongestInterface = 15;

/// What a disk may call itself, and what may stand in an order to a node.
bool is_plain(std::string_view text) {
  return !text.empty() && text.size() <= kLongestSerial && trimmed(text) == text &&
         std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c <= '~'; });
}

/// "0x5000CCA27A1B2C3D", "eui.0025385b21404321": its digits in lower case, as the RAM system
/// compares them.
std::optional<std::string> wwn_of(std::string_view text) {
  constexpr std::size_t kShortest = 16, kLongest = 36;  // IEEE 64 bits; a UUID
  auto wwn = lower_case(text);
  for (const std::string_view prefix : {"wwn-", "naa.", "eui.", "uuid.", "0x"})
    if (wwn.starts_with(prefix)) wwn.erase(0, prefix.size());
  const bool is_one = wwn.size() >= kShortest && wwn.size() <= kLongest &&
                      wwn.find_first_not_of("0123456789abcdef-") == wwn.npos;
  return is_one ? std::optional{std::move(wwn)} : std::nullopt;
}

/// "1.25GB/s", "10Gbit/s": bytes per second.
std::optional<double> rate_of(std::string_view text) {
  constexpr std::string_view kPerSecond = "/s";
  constexpr std::string_view kBits = "bit";
  if (!text.ends_with(kPerSecond)) return std::nullopt;
  text.remove_suffix(kPerSecond.size());
  const bool bits = text.ends_with(kBits);
  if (bits) text.remove_suffix(kBits.size());
  const auto size = size_of(bits ? std::string{text} + "B" : std::string{text});
  if (!size || *size <= 0) return std::nullopt;
  return bits ? *size / 8 : *size;
}

std::vector<BootWay> read_ways(YamlFields& fields) {
  std::vector<BootWay> ways;
  std::vector<std::string_view> names;
  for (const auto& row : boot_ways()) names.push_back(row.name);
  const auto listed = fields.texts("ways");
  for (const auto& word : listed) {
    const auto way = boot_way(word);
    if (!way)
      fields.report(fields.place("ways"),
                    fmt::format("ways is a list of {}, not '{}'{}", fmt::join(names, ", "),
                                printable(word), did_you_mean(word, std::span{names})));
    else if (std::ranges::find(ways, *way) != ways.end())
      fields.report(fields.place("ways"), "ways names " + word + " twice");
    else
      ways.push_back(*way);
  }
  if (fields.has("ways") && listed.empty())
    fields.report(fields.place("ways"), "ways is empty: name at least one");
  return ways;
}

double read_rate(YamlFields& fields, std::string_view key) {
  const auto text = fields.text(key);
  if (!text) return 0;
  const auto rate = rate_of(*text);
  if (!rate)
    fields.report(fields.place(key),
                  fmt::format("{} must be a rate such as 10Gbit/s or 1.2GB/s, not '{}'", key,
                              printable(*text)));
  return rate.value_or(0);
}

void read_tls(YamlFields& site, const std::filesystem::path& folder, const std::string& file,
              BootSite& boot, Problems& problems) {
  const auto* value = site.value("tls");
  if (value == nullptr) return;
  YamlFields fields{*value, "tls", file, problems};
  const auto path = [&](std::string_view key) -> std::string {
    const auto name = fields.required(key);
    if (name.empty()) return {};
    auto found = path_from(folder, name);
    if (const auto why = absence(found)) fields.report(fields.place(key), *why);
    return found.string();
  };
  boot.certificate = path("certificate");
  boot.key = path("key");
  boot.ca = path("ca");
  fields.finish();
}

void read_range(YamlFields& fields, BootDhcp& dhcp) {
  const auto range = fields.text("range");
  if (dhcp.mode != DhcpMode::full) {
    if (range)
      fields.report(fields.place("range"), "only dhcp mode full gives out addresses: no range");
    return;
  }
  if (!range) return;  // only nodes that have an address get one
  const auto& text = *range;
  const auto ends = split(text, '-');
  const auto first = ends.size() == 2 ? ipv4_of(ends[0]) : std::nullopt;
  const auto last = ends.size() == 2 ? ipv4_of(ends[1]) : std::nullopt;
  if (!first || !last || *first > *last) {
    fields.report(fields.place("range"), "range is two IPv4 addresses: 10.0.2.100-10.0.2.200");
    return;
  }
  dhcp.first = ends[0];
  dhcp.last = ends[1];
}

void read_dhcp(YamlFields& site, const std::string& file, BootDhcp& dhcp, Problems& problems) {
  const auto* value = site.value("dhcp");
  if (value == nullptr) return;
  YamlFields fields{*value, "dhcp", file, problems};
  const auto word = fields.required("mode");
  const auto mode = enum_of<DhcpMode, '-'>(word);
  if (!mode)
    fields.report(fields.place("mode"),
                  "dhcp mode must be none, proxy or full, not '" + printable(word) + "'");
  else
    dhcp.mode = *mode;
  dhcp.interface = fields.text("interface").value_or("");
  if (dhcp.mode != DhcpMode::none && !is_interface(dhcp.interface))
    fields.report(fields.place("interface"),
                  "dhcp needs interface: the one of this machine that the nodes are behind");
  read_range(fields, dhcp);
  fields.finish();
}

void read_network(YamlFields& fields, BootSite& boot) {
  boot.gateway = fields.text("gateway").value_or("");
  if (!boot.gateway.empty() && !is_address(boot.gateway))
    fields.report(fields.place("gateway"), "gateway must be an address");
  boot.dns = fields.texts("dns");
  if (boot.dns.size() > kMostServers || !std::ranges::all_of(boot.dns, is_address))
    fields.report(fields.place("dns"), fmt::format("dns is at most {} addresses", kMostServers));
}

/// It goes into an order and a command line of the node: no quotes, no blanks, no query.
bool is_mirror_url(std::string_view url) {
  constexpr std::size_t kLongest = 200;
  const auto parsed = boost::urls::parse_uri(never_null(url));
  if (!parsed || url.size() > kLongest || parsed->host().empty()) return false;
  const bool plain = !parsed->has_userinfo() && !parsed->has_query() && !parsed->has_fragment();
  return plain && (url.starts_with("http://") || url.starts_with("https://"));
}

void read_mirrors(YamlFields& boot, const std::string& file, std::vector<RackMirror>& into,
                  Problems& problems) {
  for (const auto& item : boot.list("mirrors")) {
    YamlFields fields{item, "mirror", file, problems};
    RackMirror mirror{fields.required("rack"), fields.required("url"), fields.place()};
    if (fields.has("url") && !is_mirror_url(mirror.url))
      fields.report(fields.place("url"),
                    "url of a mirror is a host, a port and a path: http://10.1.0.2:8080/images");
    while (mirror.url.ends_with('/')) mirror.url.pop_back();
    if (std::ranges::find(into, mirror.rack, &RackMirror::rack) != into.end())
      fields.report(fields.place("rack"),
                    "rack '" + printable(mirror.rack) + "' has two mirrors: leave one");
    fields.finish();
    into.push_back(std::move(mirror));
  }
}

std::vector<std::string> each_nodes(YamlFields& fields, std::string_view key, std::size_t count,
                                    Problems& problems) {
  if (!fields.has(key)) return {};
  return one_for_each(key, fields.texts(key), fields.place(key), count, problems);
}

std::vector<std::string> macs_of(YamlFields& fields, std::string_view text) {
  std::vector<std::string> macs;
  for (const auto part : split(text, '+')) {
    const auto mac = mac_of(trimmed(part));
    if (!mac)
      fields.report(fields.place("macs"),
                    "'" + printable(part) + "' is not the MAC of a port (aa:bb:cc:00:11:22)");
    else if (std::ranges::find(macs, *mac) != macs.end())
      fields.report(fields.place("macs"), *mac + " is there twice");
    else
      macs.push_back(*mac);
  }
  if (macs.size() > kMostMacs)
    fields.report(fields.place("macs"), fmt::format("more than {} MACs of one node", kMostMacs));
  return macs;
}

void read_own_disk(const YamlValue& value, const std::string& file, ProfileOs& os,
                   Problems& problems) {
  YamlFields disk{value, "disk", file, problems};
  os.disk_model = disk.required("model");
  os.disk_size_min = disk.size("size_min").value_or(0);
  os.disk_size_max = disk.size("size_max").value_or(0);
  if (disk.has("model") && !is_plain(os.disk_model))
    disk.report(disk.place("model"), "model is what the disk reports, in plain characters");
  if (os.disk_size_min <= 0 || os.disk_size_max < os.disk_size_min)
    disk.report(disk.place("size_max"),
                "a disk by its model needs size_min and size_max: 3.5TB and 4TB");
  disk.finish();
}

}  // namespace

bool is_address(const std::string& text) {
  in6_addr six{};
  return ipv4_of(text).has_value() || ::inet_pton(AF_INET6, text.c_str(), &six) == 1;
}

bool is_interface_address(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == text.npos || !is_address(text.substr(0, slash))) return false;
  const auto prefix = number<unsigned>(text.substr(slash + 1));
  return prefix && *prefix >= 1 && *prefix <= (text.contains(':') ? 128U : 32U);
}

bool is_interface(std::string_view name) {
  return !name.empty() && name.size() <= kLongestInterface && name != "." && name != ".." &&
         std::ranges::all_of(name, [](unsigned char c) {
           const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
           return letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
         });
}

std::string BootSite::mirror_of(std::string_view rack) const {
  const auto found = std::ranges::find(mirrors, rack, &RackMirror::rack);
  return found == mirrors.end() ? std::string{} : found->url;
}

std::optional<BootSite> read_boot_site(YamlFields& site, const std::filesystem::path& folder,
                                       const std::string& file, Problems& problems) {
  const auto* value = site.value("boot");
  if (value == nullptr) return std::nullopt;
  YamlFields fields{*value, "boot", file, problems};
  BootSite boot;
  boot.where = fields.place();
  const auto serve = fields.required("serve");
  const auto endpoint = endpoint_of(serve, 0);
  if (fields.has("serve") && (!endpoint || endpoint->port == 0 || !is_address(endpoint->host)))
    fields.report(fields.place("serve"),
                  "serve must be an address of this machine with a port: 10.0.0.1:8081");
  else if (endpoint)
    std::tie(boot.host, boot.port) = std::pair{endpoint->host, endpoint->port};
  read_tls(fields, folder, file, boot, problems);
  if (const auto images = fields.text("images")) boot.images = path_from(folder, *images).string();
  read_dhcp(fields, file, boot.dhcp, problems);
  if (auto ways = read_ways(fields); !ways.empty()) boot.ways = std::move(ways);
  boot.uplink = read_rate(fields, "uplink");
  boot.rack_uplink = read_rate(fields, "rack_uplink");
  read_mirrors(fields, file, boot.mirrors, problems);
  read_network(fields, boot);
  fields.finish();
  return boot;
}

std::vector<NodeBoot> read_node_boot(const YamlValue* value, std::size_t count,
                                     const std::string& file, Problems& problems) {
  std::vector<NodeBoot> nodes(count);
  if (value == nullptr) return nodes;
  YamlFields fields{*value, "boot", file, problems};
  const auto macs = each_nodes(fields, "macs", count, problems);
  const auto addresses = each_nodes(fields, "address", count, problems);
  const auto disks = each_nodes(fields, "disk", count, problems);
  const auto wwns = each_nodes(fields, "disk_wwn", count, problems);
  for (std::size_t i = 0; i < count; ++i) {
    if (!macs.empty()) nodes[i].macs = macs_of(fields, macs[i]);
    if (!addresses.empty()) nodes[i].address = addresses[i];
    if (!disks.empty()) nodes[i].disk = disks[i];
    if (!wwns.empty()) nodes[i].disk_wwn = wwn_of(wwns[i]).value_or("");
  }
  for (const auto& address : addresses)
    if (!is_interface_address(address))
      fields.report(fields.place("address"),
                    "'" + printable(address) + "' is not an address with a prefix: 10.0.2.11/24");
  for (const auto& disk : disks)
    if (!is_plain(disk))
      fields.report(fields.place("disk"), "'" + printable(disk) + "' is not a disk's serial");
  for (const auto& wwn : wwns)
    if (!wwn_of(wwn))
      fields.report(fields.place("disk_wwn"),
                    "'" + printable(wwn) + "' is not a disk's WWN: 0x5000cca27a1b2c3d");
  fields.finish();
  return nodes;
}

void read_profile_os(YamlFields& profile, const std::string& file, ProfileOs& os,
                     Problems& problems) {
  const auto* value = profile.value("os");
  if (value == nullptr) return;
  YamlFields fields{*value, "os", file, problems};
  os.where = fields.place();
  const auto digest = fields.text("sha256");
  os.image = fields.text("image").value_or(os.image);
  os.sha256 = digest.value_or(os.sha256);
  os.ram = fields.text("ram").value_or(os.ram);
  os.seed = fields.flag("seed").value_or(os.seed);
  os.grow = fields.flag("grow").value_or(os.grow);
  for (const auto& [key, name] : {std::pair{"image", os.image}, {"ram", os.ram}})
    if (fields.has(key) && !is_image_name(name))
      fields.report(fields.place(key),
                    fmt::format("{} is the name of an image: cupel image list", key));
  if (fields.has("image") && !is_sha256(digest.value_or("")))
    fields.report(fields.place("sha256"),
                  "an image needs sha256: 64 hexadecimal digits, printed by cupel image list");
  if (const auto* disk = fields.value("disk")) read_own_disk(*disk, file, os, problems);
  if (auto ways = read_ways(fields); !ways.empty()) os.ways = std::move(ways);
  const auto folder = std::filesystem::path{file}.parent_path();
  if (auto data = read_user_data(fields, folder, file, problems))
    os.user_data.push_back(std::move(data));
  fields.finish();
}

}  // namespace cupel::inventory
