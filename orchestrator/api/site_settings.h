#pragma once
// How a site runs its service: service.yaml. Whom it knows, where it listens, what needs two
// people. Secrets are not in it; neither can the service change it.
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "inventory/problem.h"
#include "orchestrator/api/identity.h"
#include "orchestrator/api/notice_settings.h"
#include "orchestrator/api/schedule.h"

namespace cupel::api {

struct Grant {
  Role role = Role::viewer;
  inventory::RackScope racks{};
  friend bool operator==(const Grant&, const Grant&) = default;
};

struct OidcSettings {
  std::string issuer{};
  std::string audience{};
  std::string keys{};                           // file or https:// address: a JSON Web Key Set
  std::string ca{};                             // PEM file, for the address; empty: the system's
  std::string name = "sub";                     // claim
  std::string groups = "groups";                // claim: a text or a list of them
  std::map<std::string, Grant> grants{};        // by group
  std::string scope = "openid offline_access";  // that a login from a terminal asks for
  friend bool operator==(const OidcSettings&, const OidcSettings&) = default;
};

struct SiteSettings {
  std::string inventory{};            // file
  std::string playbooks{};            // folder of the site's own; empty: shipped ones alone
  std::vector<std::string> listen{};  // "10.0.0.5:8443"
  std::vector<std::string> names{};   // host names by which browsers reach it
  std::string certificate{}, key{}, client_ca{};  // files
  std::map<std::string, Grant> users{};           // of the Unix socket, by login name
  std::map<std::string, Grant> certificates{};    // by common name
  std::optional<OidcSettings> oidc{};
  std::set<std::string> two_person{};  // "start", "cancel", ...
  /// Of playbooks, that requests may set; nothing: each but those that decide what runs on nodes,
  /// which none may set either way.
  std::optional<std::set<std::string>> parameters{};
  std::vector<Schedule> schedules{};
  std::vector<NoticeHook> notices{};
  double requests_per_second = 200;  // of one person
  std::chrono::seconds session{12 * 3600};
  bool json_log = false;  // each line of the log is an object

  friend bool operator==(const SiteSettings&, const SiteSettings&) = default;
};

/// What may be asked of two people.
inline constexpr std::string_view kTwoPersonWords[] = {
    "start", "resume", "cancel", "approve", "retry", "skip", "continue", "pause", "unpause"};

/// Relative paths are relative to the file's folder. Every error at once; the settings are there
/// only without any.
std::optional<SiteSettings> read_site_settings(const std::string& file,
                                               std::vector<inventory::Problem>& problems);
std::optional<SiteSettings> parse_site_settings(std::string_view text, const std::string& file,
                                                std::vector<inventory::Problem>& problems);

}  // namespace cupel::api
