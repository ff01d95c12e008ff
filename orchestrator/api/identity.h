#pragma once
// Who asks, what that person or program may do, and on which racks. Plain data; who is who is
// decided in authenticator.h.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/engine/event.h"

namespace cupel::api {

/// Each may do what those before it may.
enum class Role { viewer, operates, admin };

std::string_view to_string(Role role);  // "viewer", "operator", "admin"
std::optional<Role> role_of(std::string_view word);

struct Identity {
  enum class Kind { peer, token, session, certificate, oidc };
  std::string name{};
  Kind kind = Kind::token;
  Role role = Role::viewer;
  std::vector<std::string> racks{};  // empty: all of them
  std::string token{};               // id of the token or session; no secret
  std::string csrf{};                // what a session must show with each change
  std::string origin{};              // for the journal: "10.0.0.5 token 0123456789abcdef"
  engine::WallTime expires{};        // the epoch: it does not

  bool may(Role least) const { return role >= least; }
  bool sees_rack(std::string_view rack) const;
  /// The racks as one text: two identities that see the same have the same.
  std::string scope() const;
  /// For the journal: who, and from where: "alice (10.0.0.5 token 0123456789abcdef)".
  std::string signature() const;
};

std::string_view to_string(Identity::Kind kind);

}  // namespace cupel::api
