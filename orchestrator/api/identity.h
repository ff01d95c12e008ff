#pragma once
// Who asks, what that person or program may do, and on which racks. Plain data; who is who is
// decided in authenticator.h.
#include <optional>
#include <string>
#include <string_view>

#include "inventory/rack_scope.h"
#include "orchestrator/engine/event.h"

namespace cupel::api {

/// Each may do what those before it may.
enum class Role { viewer, operates, admin };

std::string_view to_string(Role role);  // "viewer", "operator", "admin"
std::optional<Role> role_of(std::string_view word);

struct Identity {
  enum class Kind { peer, token, session, certificate, oidc, schedule };
  std::string name{};
  Kind kind = Kind::token;
  Role role = Role::viewer;
  inventory::RackScope racks{};
  std::string token{};         // id of the token or session; no secret
  std::string csrf{};          // what a session must show with each change
  std::string origin{};        // for the journal: "10.0.0.5 token 0123456789abcdef"
  engine::WallTime expires{};  // the epoch: it does not

  bool may(Role least) const { return role >= least; }
  bool sees_rack(std::string_view rack) const { return racks.has(rack); }
  bool sees_all_racks() const { return racks.is_all(); }
  /// For the journal: who, and from where: "alice (10.0.0.5 token 0123456789abcdef)".
  std::string signature() const;
};

std::string_view to_string(Identity::Kind kind);

}  // namespace cupel::api
