#pragma once
// The site's UFM, which can be asked for links and ports in place of a file of a tool's output.
#include <optional>
#include <string>

#include "inventory/problem.h"
#include "inventory/secret_ref.h"

namespace cupel::inventory {

struct UfmSite {
  /// "https://ufm.example.com"; http:// to loopback addresses alone; no slash at its end.
  std::string url{};
  std::string user{};  // with a password; empty: a token is presented
  SecretRef secret{};  // the user's password, or a token that UFM has made (ufmRestV3)
  std::string ca{};    // PEM file; empty: the system's authorities
  Place where{};
};

}  // namespace cupel::inventory
