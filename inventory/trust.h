#pragma once
// Who was seen before: certificates of BMCs and host keys of nodes, pinned on first use. The store
// keeps them; connections ask. Not a policy: that is Trust in endpoint.h.
#include <optional>
#include <string>
#include <string_view>

namespace cupel::inventory {

class KnownKeys {
 public:
  virtual ~KnownKeys() = default;

  /// "SHA256:..." as it was pinned for this name ("bmc:a01-n01", "ssh:a01-n01"), or nothing.
  virtual std::optional<std::string> pinned(std::string_view name) = 0;

  /// Called once for a name, on first use.
  virtual void pin(std::string_view name, std::string_view fingerprint) = 0;
};

}  // namespace cupel::inventory
