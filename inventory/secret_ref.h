#pragma once
// Where a secret is kept; never the secret itself. See inventory/secret.h.
#include <string>

#include "inventory/problem.h"

namespace cupel::inventory {

struct SecretRef {
  enum class Kind { env, file, cmd } kind = Kind::file;
  std::string where;  // variable, path, or command line
  Place named{};      // where a file says so; line 0: no file does
  /// Two files may name one secret.
  friend bool operator==(const SecretRef& a, const SecretRef& b) {
    return a.kind == b.kind && a.where == b.where;
  }
};

}  // namespace cupel::inventory
