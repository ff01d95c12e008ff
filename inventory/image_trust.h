#pragma once
// Which firmware images a site trusts, and from where BMCs fetch them.
#include <optional>
#include <string>

#include "inventory/endpoint.h"
#include "inventory/problem.h"

namespace cupel::inventory {

/// Where the site keeps its manifest of firmware images (image_manifest.h), and the public key that
/// it is signed with. The signature is beside the manifest: "images.yaml.sig".
struct ImageTrust {
  std::string manifest{};  // absolute, as is the key
  std::string key{};
  /// Where this machine serves images to BMCs that fetch them; nothing: nowhere.
  std::optional<Endpoint> serve{};
  bool only_http = false;  // the site says so: no BMC fetches over HTTPS
  /// PEM files, for HTTPS: those of `firmware: tls`, else of `boot: tls`. Empty where `only_http`.
  std::string certificate{}, certificate_key{};
  Place where{};
};

}  // namespace cupel::inventory
