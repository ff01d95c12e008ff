#pragma once
// What the service reads of the site at its start and on SIGHUP: settings, inventory, keys,
// certificates. All of it or nothing. Keys of an address are not among it: see oidc_keys.h.
#include <filesystem>

#include "orchestrator/api/listener.h"
#include "orchestrator/api/shared_state.h"

namespace cupel::api {

struct SiteFiles {
  std::shared_ptr<const Site> site{};
  std::shared_ptr<const inventory::Inventory> inventory{};  // nullptr: none is named
  TlsFiles tls{};
  std::string fingerprint{};  // of a certificate that was made here; empty: the site has one
};

struct SiteFilesRequest {
  std::filesystem::path state{};
  std::string settings{};             // service.yaml; empty: none
  std::string inventory{};            // instead of that of the settings; empty: theirs
  std::vector<std::string> listen{};  // whether a certificate is needed, and for which addresses
};

/// Errors: kInvalid, with every problem of the files; kStorage: a certificate could not be kept.
Result<SiteFiles> read_site_files(const SiteFilesRequest& request);

}  // namespace cupel::api
