#include "inventory/read_access.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/paths.h"
#include "base/text.h"
#include "inventory/model.h"
#include "inventory/names.h"
#include "inventory/node_range.h"
#include "inventory/rack.h"
#include "inventory/read_bmc.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

constexpr std::uint16_t kHttps = 443;
constexpr std::uint16_t kSsh = 22;
constexpr std::array<std::string_view, 2> kProtocols{"redfish", "ipmi"};

std::string resolved(std::string_view path, const std::filesystem::path& folder) {
  const std::filesystem::path named{path};
  return named.is_absolute() ? named.string() : (folder / named).lexically_normal().string();
}

/// "SHA256:" with 64 hexadecimal digits (a certificate) or base64 (a host key, as ssh-keygen -l).
bool is_fingerprint(std::string_view text) {
  return text.starts_with("SHA256:") && text.size() >= 50;
}

/// A host's name, or an address that there can be: "10.0.1.300" is neither.
bool is_host(const std::string& text) {
  constexpr std::size_t kLongestScope = 15;  // an interface's name: IFNAMSIZ - 1
  if (text.find(':') == text.npos) {
    const bool address = text.find_first_not_of("0123456789.") == text.npos;
    return address ? ipv4_of(text).has_value() : !fault_in_name(Named::host, text);
  }
  const auto scope = text.find('%');
  const auto zone = scope == text.npos ? std::string{"0"} : text.substr(scope + 1);
  in6_addr parsed{};
  return ::inet_pton(AF_INET6, text.substr(0, scope).c_str(), &parsed) == 1 &&
         zone.size() <= kLongestScope && !fault_in_name(Named::host, zone);
}

}  // namespace

std::optional<Endpoint> endpoint_of(std::string_view text, std::uint16_t default_port) {
  Endpoint endpoint{"", default_port};
  std::string_view port;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == text.npos) return std::nullopt;
    endpoint.host = text.substr(1, close - 1);
    port = text.substr(close + 1);
  } else {
    const auto colon = text.rfind(':');
    const bool bare_ipv6 = colon != text.npos && text.find(':') != colon;
    endpoint.host = bare_ipv6 ? text : text.substr(0, colon);
    port = bare_ipv6 || colon == text.npos ? std::string_view{} : text.substr(colon);
  }
  if (!is_host(endpoint.host)) return std::nullopt;
  if (port.empty()) return endpoint;
  const auto found = number<std::uint16_t>(port.substr(1));
  if (port[0] != ':' || !found || *found == 0) return std::nullopt;
  endpoint.port = *found;
  return endpoint;
}

std::optional<SecretRef> secret_of(std::string_view text, const std::filesystem::path& folder) {
  const auto colon = text.find(':');
  const auto kind = text.substr(0, colon);
  const auto where = colon == text.npos ? std::string_view{} : trimmed(text.substr(colon + 1));
  if (where.empty()) return std::nullopt;
  if (kind == "env") return SecretRef{SecretRef::Kind::env, std::string{where}};
  if (kind == "cmd") return SecretRef{SecretRef::Kind::cmd, std::string{where}};
  if (kind == "file") return SecretRef{SecretRef::Kind::file, resolved(where, folder)};
  return std::nullopt;
}

AccessFields::AccessFields(const YamlValue* own, const YamlValue* defaults, std::string what,
                           const std::string& file, const std::filesystem::path& folder,
                           Problems& problems)
    : what_{std::move(what)}, file_{file}, folder_{folder}, problems_{problems} {
  if (own != nullptr) own_.emplace(*own, what_, file_, problems_);
  if (defaults != nullptr) defaults_.emplace(*defaults, what_, file_, problems_);
}

std::optional<std::string> AccessFields::text(std::string_view key) {
  if (own_ && own_->has(key)) return own_->text(key);
  return defaults_ ? defaults_->text(key) : std::nullopt;
}

const YamlValue* AccessFields::value(std::string_view key) {
  if (own_ && own_->has(key)) return own_->value(key);
  return defaults_ ? defaults_->value(key) : nullptr;
}

Place AccessFields::place(std::string_view key) {
  if (own_ && own_->has(key)) return own_->place(key);
  return defaults_ ? defaults_->place(key) : Place{file_, 0, 0};
}

std::vector<Endpoint> zipped_endpoints(const std::string& range, std::size_t count,
                                       std::uint16_t port, const Place& where, Problems& problems,
                                       std::string_view whose) {
  const std::vector<Endpoint> none(count);
  // Brackets are ranges here, so an IPv6 address with a port can't be one: it is taken as it
  // stands.
  const bool one = range.starts_with("[") && range.find("::") != std::string::npos;
  const auto there = one ? Result<std::size_t>{1} : count_names(range);
  if (!there) {
    problems.push_back({where, there.error().what});
    return none;
  }
  if (*there != count) {
    problems.push_back(
        {where, fmt::format("{} addresses for {} {}s: give one for each", *there, count, whose)});
    return none;
  }
  const auto addresses = one ? Result<std::vector<std::string>>{std::vector{range}} : expand(range);
  if (!addresses) return none;
  std::vector<Endpoint> found;
  for (const auto& address : *addresses) {
    auto endpoint = endpoint_of(address, port);
    if (!endpoint) problems.push_back({where, "'" + address + "' is not a host or host:port"});
    found.push_back(std::move(endpoint).value_or(Endpoint{}));
  }
  return found;
}

std::string AccessFields::needs() const { return fmt::format("{} needs {}: ", whose_, what_); }

std::vector<Endpoint> AccessFields::endpoints(std::size_t count, std::uint16_t port, Place whose) {
  const auto range = own_ ? own_->text("address") : std::nullopt;
  if (range)
    return zipped_endpoints(*range, count, port, own_->place("address"), problems_, whose_);
  problems_.push_back({whose, needs() + "{address: ...}"});
  return std::vector<Endpoint>(count);
}

std::string AccessFields::user(Place whose) {
  auto name = text("user").value_or("");
  if (name.empty())
    problems_.push_back(
        {whose, needs() + "{user: ...}" + (whose_ == "PDU" ? "" : ", here or in defaults")});
  else if (const auto fault = fault_in_name(Named::user, name))
    problems_.push_back({place("user"), *fault});
  return name;
}

SecretRef AccessFields::password(Place whose) {
  const auto found = secret("password");
  if (!text("password"))
    problems_.push_back(
        {whose, needs() + "{password: ...}" + (whose_ == "PDU" ? "" : ", here or in defaults")});
  return found.value_or(SecretRef{});
}

Trust AccessFields::tls_trust() {
  auto& holder = own_ && own_->has("tls") ? own_ : defaults_;
  const auto* value = holder ? holder->value("tls") : nullptr;
  if (value == nullptr) return {};
  YamlFields fields{*value, "tls", file_, problems_};
  const auto trust = fields.text("trust");
  const auto pin = fields.text("pin");
  const auto ca = fields.text("ca");
  fields.finish();
  if (trust && *trust != "first-use" && *trust != "known")
    fields.report(fields.place("trust"),
                  "tls trust must be first-use or known, not '" + *trust +
                      "' (or say pin: SHA256:..., or ca: FILE); verification "
                      "cannot be switched off");
  if (pin && !is_fingerprint(*pin))
    fields.report(fields.place("pin"), "tls pin must be SHA256: and the certificate's digest");
  if (int{trust.has_value()} + int{pin.has_value()} + int{ca.has_value()} != 1)
    fields.report(fields.place(), "tls needs exactly one of trust, pin, ca");
  if (pin) return {Trust::Kind::pinned, *pin};
  // Only certificates that the state folder has already: `cupel bmc pins import`.
  if (trust == "known") return {Trust::Kind::pinned, {}};
  if (!ca) return {};
  const auto file = resolved(*ca, folder_);
  if (const auto why = absence(file)) fields.report(fields.place("ca"), "CA: " + *why);
  return {Trust::Kind::ca, file};
}

Trust AccessFields::host_key_trust() {
  const auto word = text("host_key");
  if (!word || *word == "first-use") return {};
  if (is_fingerprint(*word)) return {Trust::Kind::pinned, *word};
  problems_.push_back(
      {place("host_key"),
       "host_key must be first-use or SHA256:... as ssh-keygen -l prints it, not '" + *word + "'"});
  return {};
}

void AccessFields::finish() {
  if (own_) own_->finish();
}

std::optional<SecretRef> AccessFields::secret(std::string_view key) {
  const auto word = text(key);
  if (!word) return std::nullopt;
  auto found = secret_of(*word, folder_);
  if (!found) problems_.push_back({place(key), std::string{kSecretForm}});
  if (found) found->named = place(key);
  return found;
}

BmcProtocol AccessFields::protocol() {
  const auto word = text("protocol").value_or("redfish");
  if (std::ranges::find(kProtocols, word) == kProtocols.end())
    problems_.push_back({place("protocol"), "bmc protocol must be redfish or ipmi, not '" + word +
                                                "'" + did_you_mean(word, std::span{kProtocols})});
  return word == "ipmi" ? BmcProtocol::ipmi : BmcProtocol::redfish;
}

std::vector<BmcAccess> AccessFields::bmc(std::size_t count, Place node) {
  BmcAccess access;
  access.protocol = protocol();
  access.user = user(node);
  access.password = password(node);
  access.trust = tls_trust();
  if (const auto* factory = value("factory"))
    access.factory = read_factory(*factory, file_, folder_, problems_);
  std::vector<BmcAccess> all(count, access);
  const bool has_systems = own_ && own_->has("system");
  if (has_systems) read_systems(own_->texts("system"), own_->place("system"), all, problems_);
  // One BMC for all of them, or one for each.
  const auto addresses = count_names(own_ ? own_->text("address").value_or("") : "");
  const bool one = has_systems && addresses && *addresses == 1;
  const auto found =
      one ? std::vector(count, endpoints(1, kHttps, node).front()) : endpoints(count, kHttps, node);
  for (std::size_t i = 0; i < count; ++i) all[i].endpoint = found[i];
  IpmiFields{own_ ? own_->value("ipmi") : nullptr, defaults_ ? defaults_->value("ipmi") : nullptr,
             file_, problems_}
      .read(all, place("protocol"));
  if (own_ && own_->has("mac")) read_macs(own_->texts("mac"), own_->place("mac"), all, problems_);
  finish();
  return all;
}

std::vector<Pdu> AccessFields::pdus(const std::vector<std::string>& names, Place where) {
  whose_ = "PDU";
  const auto who = user(where);
  const auto secret = password(where);
  const auto trust = tls_trust();
  const auto found = endpoints(names.size(), kHttps, where);
  std::vector<Pdu> all;
  for (std::size_t i = 0; i < names.size(); ++i)
    all.push_back({names[i], found[i], who, secret, trust, where});
  finish();
  return all;
}

void AccessFields::read_macs_of(std::vector<RackDevice>& devices) {
  if (!own_ || !own_->has("mac")) return;
  std::vector<BmcAccess> bmcs(devices.size());
  read_macs(own_->texts("mac"), own_->place("mac"), bmcs, problems_);
  for (std::size_t i = 0; i < devices.size(); ++i) devices[i].mac = bmcs[i].mac;
}

void AccessFields::read_certificate_of(std::vector<RackDevice>& devices) {
  const auto file_at = [&](std::string_view key) -> std::string {
    const auto named = text(key);
    if (!named) return {};
    auto file = resolved(*named, folder_);
    if (const auto why = absence(file)) problems_.push_back({place(key), *why});
    return file;
  };
  const auto certificate = file_at("certificate"), key = file_at("key");
  if (certificate.empty() != key.empty())
    problems_.push_back({place(certificate.empty() ? "key" : "certificate"),
                         "certificate and key belong together: each needs the other"});
  for (auto& device : devices) {
    device.certificate = certificate;
    device.key = key;
  }
}

std::vector<RackDevice> AccessFields::devices(const std::vector<std::string>& names,
                                              const std::vector<std::string>& addresses,
                                              Place where) {
  whose_ = "rack";
  if (own_) own_->has("address");
  const auto who = user(where);
  const auto secret = password(where);
  const auto trust = tls_trust();
  std::vector<RackDevice> all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto endpoint = endpoint_of(addresses[i], kHttps);
    if (!endpoint)
      problems_.push_back({where, "'" + addresses[i] + "' is not a host or host:port"});
    // "{node}" is "a01-switch1", of both ports of a switch: a name in a path has no slash.
    auto place = names[i];
    if (const auto port = place.find('/', place.find('/') + 1); port != place.npos)
      place.erase(port);
    std::ranges::replace(place, '/', '-');
    all.push_back({.name = names[i],
                   .endpoint = std::move(endpoint).value_or(Endpoint{}),
                   .user = who,
                   .password = secret_of_node(secret, place, where, problems_),
                   .trust = trust,
                   .where = where});
  }
  read_macs_of(all);
  read_certificate_of(all);
  finish();
  return all;
}

std::vector<SshAccess> AccessFields::ssh(std::size_t count, Place node) {
  SshAccess access;
  access.user = text("user").value_or("root");
  if (const auto fault = fault_in_name(Named::user, access.user))
    problems_.push_back({place("user"), *fault});
  const auto key = text("key").value_or("agent");
  if (key != "agent") access.key_file = resolved(key, folder_);
  if (key != "agent") access.key_named = place("key");
  const auto no_key = access.key_file.empty() ? std::nullopt : absence(access.key_file);
  if (no_key)
    problems_.push_back({place("key"), "key: " + *no_key +
                                           ". Make one with ssh-keygen -t ed25519, let this user "
                                           "read it, or use key: agent"});
  access.trust = host_key_trust();
  const auto sudo = own_ && own_->has("sudo") ? own_->flag("sudo")
                    : defaults_               ? defaults_->flag("sudo")
                                              : std::nullopt;
  access.sudo = sudo.value_or(false);
  std::vector<SshAccess> all(count, access);
  const auto found = endpoints(count, kSsh, node);
  for (std::size_t i = 0; i < count; ++i) all[i].endpoint = found[i];
  finish();
  return all;
}

void check_access_defaults(const YamlValue& defaults, const std::string& file, Problems& problems) {
  if (const auto* bmc = defaults.entry("bmc")) {
    YamlFields fields{*bmc, "bmc", file, problems};
    for (const auto key : {"protocol", "user", "password", "tls", "ipmi", "factory"})
      fields.has(key);
    fields.finish();
  }
  if (const auto* nvos = defaults.entry("nvos")) {
    YamlFields fields{*nvos, "nvos", file, problems};
    for (const auto key : {"user", "password", "tls", "certificate", "key"}) fields.has(key);
    fields.finish();
  }
  if (const auto* ssh = defaults.entry("ssh")) {
    YamlFields fields{*ssh, "ssh", file, problems};
    for (const auto key : {"user", "key", "host_key", "sudo"}) fields.has(key);
    fields.finish();
  }
}

}  // namespace cupel::inventory
