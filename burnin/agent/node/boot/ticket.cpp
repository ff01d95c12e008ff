#include "burnin/agent/node/boot/ticket.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"
#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/common/json_value.h"
#include "burnin/agent/node/boot/iso_file.h"
#include "burnin/agent/node/efi_variables.h"

namespace cupel::agent::boot {
namespace {

constexpr std::size_t kMostUrl = 512;
constexpr std::size_t kToken = 32;

std::optional<std::string> argument(const Tree& tree, std::string_view name) {
  const auto line = tree.text("/proc/cmdline").value_or("");
  for (const auto word : words(line))
    if (word.starts_with(name) && word.substr(name.size()).starts_with('='))
      return std::string{word.substr(name.size() + 1)};
  return std::nullopt;
}

std::optional<std::string> from_command_line(const Tree& tree) {
  const auto url = argument(tree, "cupel.boot");
  return url ? ticket_base(*url) : std::nullopt;
}

/// The command line of a signed program is signed, too.
bool allows_http(const Tree& tree) { return argument(tree, "cupel.http").value_or("") == "yes"; }

bool has_certificates(const Tree& tree) { return tree.exists("/etc/cupel/ca.pem"); }

/// Who built this system without certificates has said that it is to obey each server.
bool obeys_any(const Tree& tree) {
  return allows_http(tree) || tree.exists("/etc/cupel/any-boot-server");
}

constexpr std::string_view kServerFile = "/etc/cupel/boot-host";

/// "https://[2001:db8::1]:8081/boot/..." is at "2001:db8::1". By the text alone, since the boot
/// server prints an address in one way: what is written otherwise is refused.
bool is_at(std::string_view url, const std::string& host) {
  const auto begin = url.find("://") + 3;
  auto place = url.substr(begin, url.find('/', begin) - begin);
  const auto name = host.contains(':') ? "[" + host + "]" : host;
  if (!place.starts_with(name)) return false;
  place.remove_prefix(name.size());
  return place.empty() ||
         (place.size() > 1 && place.find_first_not_of("0123456789", 1) == place.npos &&
          place.front() == ':');
}

/// A CA of a whole company has issued certificates to other servers too: each of them could give
/// orders. An empty file names no server.
bool is_of_another_server(const Tree& tree, std::string_view url) {
  return tree.exists(kServerFile) && !is_at(url, tree.text(kServerFile).value_or("-"));
}

std::string why_not(const Tree& tree, std::string_view url) {
  if (!has_certificates(tree) && !obeys_any(tree))
    return "which has one, and this system has no certificates to check its boot server with: "
           "build it with --ca, or with --any-boot-server";
  // A lease or a stick that names a server of plain HTTP must not get around the certificates.
  if (has_certificates(tree) && !allows_http(tree) && !url.starts_with("https://"))
    return "which has one of plain HTTP, and this system checks certificates; cupel.http=yes in "
           "its own command line allows it";
  if (is_of_another_server(tree, url))
    return "which has " + std::string{url.substr(0, url.find("/boot/"))} +
           ", and this system was built for the boot server " +
           tree.text(kServerFile).value_or("without an address") + " alone (--boot-host)";
  return {};
}

std::optional<std::string> from_media(const Tree& tree) {
  for (const auto& name : tree.names("/sys/block")) {
    if (!tree.exists("/sys/block/" + name + "/device")) continue;
    const Descriptor file{
        ::open(tree.real("/dev/" + name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (!file) continue;
    const ReadAt read = [&file](std::uint64_t offset, std::size_t count) {
      std::string bytes(count, '\0');
      const auto got = ::pread(file.number(), bytes.data(), count, static_cast<off_t>(offset));
      bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
      return bytes;
    };
    if (iso_label(read) != "CUPEL") continue;
    // The short name is that of ISO 9660's level 1, which knows eight letters and three.
    auto text = iso_file(read, "TICKET.JSON");
    if (!text) text = iso_file(read, "TICKET.JSO");
    const auto json = JsonValue::parse(text.value_or(""));
    const auto* url = json ? json->find("boot") : nullptr;
    if (url != nullptr && url->text() != nullptr) return ticket_base(*url->text());
  }
  return std::nullopt;
}

/// The URI in the device path of the entry that the firmware has booted. Source: UEFI 2.10, 10.3.4
/// (Uniform Resource Identifiers: type 3, subtype 24).
std::optional<std::string> from_firmware(const Tree& tree) {
  const auto current = efi_entries(tree, "BootCurrent");
  const auto option = current.empty() ? std::nullopt : load_option(tree, current.front());
  if (!option) return std::nullopt;
  for (const auto& node : option->path)
    if (node.type == 3 && node.subtype == 24) return ticket_base(node.data);
  return std::nullopt;
}

std::optional<std::string> from_lease(const Tree& tree) {
  const auto lease = tree.text("/run/cupel/lease").value_or("");
  for (const auto line : lines(lease))
    if (line.starts_with("bootfile=")) return ticket_base(trimmed(line.substr(line.find('=') + 1)));
  return std::nullopt;
}

struct Way {
  std::string_view name;
  std::string_view place;
  std::optional<std::string> (*find)(const Tree& tree);
};

constexpr std::array kWays{
    Way{"cmdline", "cupel.boot= of the kernel's command line", from_command_line},
    Way{"media", "ticket.json of a volume labelled CUPEL", from_media},
    Way{"efi", "the URI of the firmware's BootCurrent", from_firmware},
    Way{"dhcp", "the boot file of the DHCP lease", from_lease},
};

}  // namespace

std::optional<std::string> ticket_base(std::string_view url) {
  constexpr std::string_view kFolder = "/boot/";
  if (url.size() > kMostUrl) return std::nullopt;
  const auto scheme = url.starts_with("http://") ? 7u : url.starts_with("https://") ? 8u : 0u;
  const auto folder = url.find(kFolder, scheme);
  if (scheme == 0 || folder == url.npos || folder == scheme) return std::nullopt;
  const auto host = url.substr(scheme, folder - scheme);
  const bool plain = std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{".-:[]"}.find(c) != std::string_view::npos;
  });
  const auto token = url.substr(folder + kFolder.size(), kToken);
  const bool hex = token.size() == kToken && std::ranges::all_of(token, [](char c) {
                     return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                   });
  const auto end = folder + kFolder.size() + kToken;
  if (!plain || !hex || (end < url.size() && url[end] != '/')) return std::nullopt;
  return std::string{url.substr(0, end)} + "/";
}

Outcome<BootTicket> find_ticket(const Tree& tree) {
  std::string looked;
  for (const auto& way : kWays) {
    auto url = way.find(tree);
    const auto bad = url ? why_not(tree, *url) : std::string{};
    if (url && bad.empty()) return BootTicket{std::move(*url), way.name};
    looked += (looked.empty() ? "" : ", ") + std::string{way.place};
    if (!bad.empty()) looked += " (" + bad + ")";
  }
  return Failure{Cause::kNoTicket, "no ticket of a boot server in " + looked +
                                       ". Boot this machine by the URL that Cupel gave it"};
}

Outcome<BootTicket> ticket_of(const Tree& tree, std::string_view url) {
  auto base = ticket_base(url);
  if (!base) return Failure{Cause::kNoTicket, "--url is not the URL of a boot ticket"};
  if (const auto bad = why_not(tree, *base); !bad.empty())
    return Failure{Cause::kNoTicket, "no ticket of a boot server in --url (" + bad + ")"};
  return BootTicket{std::move(*base), "cmdline"};
}

}  // namespace cupel::agent::boot
