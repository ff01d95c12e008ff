#pragma once
// Where a secret is kept; never the secret itself. See inventory/secret.h.
#include <string>

namespace cupel::inventory {

struct SecretRef {
  enum class Kind { env, file, cmd } kind = Kind::file;
  std::string where;  // variable, path, or command line
  friend bool operator==(const SecretRef&, const SecretRef&) = default;
};

}  // namespace cupel::inventory
