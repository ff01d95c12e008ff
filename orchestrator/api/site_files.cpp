#include "orchestrator/api/site_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/ownership.h"
#include "base/self_signed.h"
#include "base/wall_clock.h"
#include "inventory/check_files.h"
#include "inventory/load.h"
#include "orchestrator/api/oidc_keys.h"

namespace cupel::api {
namespace {

constexpr std::size_t kLargestPem = 1u << 20;
constexpr std::size_t kLargestKeySet = 1u << 20;
constexpr std::chrono::hours kCertificateLasts{24 * 365};
constexpr std::chrono::hours kRenewedBefore{24 * 30};

/// In one line, as the log has it.
Error all_problems(const std::vector<inventory::Problem>& problems) {
  auto what = inventory::to_string(problems);
  if (what.ends_with('\n')) what.pop_back();
  for (auto at = what.find('\n'); at != what.npos; at = what.find('\n', at))
    what.replace(at, 1, "; ");
  return Error{Code::kInvalid, std::move(what)};
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data()
                                                                             : "localhost";
}

/// Names under which browsers reach a service that listens at these addresses.
std::vector<std::string> own_names(const SiteSettings& settings,
                                   const std::vector<std::string>& listen) {
  std::vector<std::string> names{host_name()};
  const auto add = [&](std::string name) {
    if (name.size() > 2 && name.front() == '[') name = name.substr(1, name.size() - 2);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  };
  for (const auto& name : settings.names) add(name);
  add("localhost");
  add("127.0.0.1");
  for (const auto& address : listen)
    if (const auto host = address.substr(0, address.rfind(':'));
        !host.starts_with("0.0.0.0") && host != "[::]")
      add(host);
  return names;
}

/// Of the state folder; made where there is none, or where it ends soon. Errors: kStorage;
/// kInvalid.
Result<TlsFiles> own_certificate(const std::filesystem::path& state,
                                 const std::vector<std::string>& names) {
  const auto file = state / "service-certificate.pem", key_file = state / "service-key.pem";
  const auto kept = read_file(file, kLargestPem), key = read_file(key_file, kLargestPem);
  if (kept && key) {
    const auto valid = certificate_validity(*kept);
    if (valid && valid->end > seconds_now() + kRenewedBefore) return TlsFiles{*kept, *key, {}};
  }
  TRY(auto made, make_self_signed(names, kCertificateLasts));
  TRY(write_file(key_file, made.key, 0600));
  TRY(write_file(file, made.certificate));
  return TlsFiles{std::move(made.certificate), std::move(made.key), {}};
}

/// Errors: kInvalid.
Result<TlsFiles> certificate_of(const SiteSettings& settings) {
  TlsFiles files;
  TRY(files.certificate,
      within("the certificate", read_trusted_file(settings.certificate, kLargestPem)));
  TRY(within("the certificate's key", inventory::check_secret_file(settings.key)));
  TRY(files.key, within("the certificate's key", read_file(settings.key, kLargestPem)));
  if (!settings.client_ca.empty()) {
    TRY(files.client_ca, within("client_ca", read_trusted_file(settings.client_ca, kLargestPem)));
  }
  return files;
}

/// Errors: kInvalid.
Result<std::shared_ptr<const inventory::Inventory>> inventory_in(const std::string& file) {
  if (file.empty()) return std::shared_ptr<const inventory::Inventory>{};
  auto loaded = inventory::load_inventory(file);
  if (!loaded.inventory) return all_problems(loaded.problems);
  return std::make_shared<const inventory::Inventory>(*std::move(loaded.inventory));
}

}  // namespace

Result<SiteFiles> read_site_files(const SiteFilesRequest& request) {
  SiteFiles files;
  Site site;
  if (!request.settings.empty()) {
    std::vector<inventory::Problem> problems;
    auto settings = read_site_settings(request.settings, problems);
    if (!settings) return all_problems(problems);
    site.settings = *std::move(settings);
  }
  if (!request.inventory.empty()) site.settings.inventory = request.inventory;
  TRY(files.inventory, inventory_in(site.settings.inventory));
  if (site.settings.oidc) site.oidc_keys = std::make_shared<Replaced<WebKeys>>();
  if (site.settings.oidc && !is_key_address(site.settings.oidc->keys)) {
    TRY(const auto text,
        within("oidc.keys", read_trusted_file(site.settings.oidc->keys, kLargestKeySet)));
    TRY(auto keys, within(site.settings.oidc->keys, WebKeys::read(text)));
    site.oidc_keys->put(std::make_shared<const WebKeys>(std::move(keys)));
  }
  // Who signs for the servers that are asked for keys, and reported.
  if (site.settings.oidc && !site.settings.oidc->ca.empty()) {
    TRY(within("oidc.ca", check_ownership(site.settings.oidc->ca)));
  }
  for (const auto& hook : site.settings.notices)
    if (!hook.ca.empty()) {
      TRY(within("notices: ca", check_ownership(hook.ca)));
    }
  auto listen = request.listen;
  listen.insert(listen.end(), site.settings.listen.begin(), site.settings.listen.end());
  if (!site.settings.certificate.empty()) {
    TRY(files.tls, certificate_of(site.settings));
  } else if (!listen.empty()) {
    TRY(files.tls, own_certificate(request.state, own_names(site.settings, listen)));
    TRY(files.fingerprint, certificate_fingerprint(files.tls.certificate));
  }
  site.names = own_names(site.settings, listen);
  files.site = std::make_shared<const Site>(std::move(site));
  return files;
}

}  // namespace cupel::api
