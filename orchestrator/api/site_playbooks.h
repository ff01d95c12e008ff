#pragma once
// Which playbooks a service starts: those that are shipped, and those of the site's own folder. No
// client can name another file.
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/api/site_settings.h"
#include "playbooks/playbook.h"

namespace cupel::api {

struct SitePlaybook {
  std::string name{};
  std::string description{};
  std::vector<playbooks::Parameter> parameters{};
};

/// By name. One that needs a parameter that has no default is there without its description.
std::vector<SitePlaybook> site_playbooks(const SiteSettings& settings);

/// What load_playbook() takes for the name; nothing where the service has none of it.
std::optional<std::string> playbook_of(const SiteSettings& settings, const std::string& name);

}  // namespace cupel::api
