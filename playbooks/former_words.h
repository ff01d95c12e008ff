#pragma once
// Keys of playbooks that have another name now. The former name is accepted for one release, with a
// warning that gives the new one; the schema has the present names only.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/problem.h"
#include "inventory/yaml.h"

namespace cupel::playbooks {

struct FormerKey {
  enum class In { playbook, step, approval } in;  // approval: its `with`
  std::string_view former;
  std::string_view now;
};

inline constexpr auto kFormerKeys = std::to_array<FormerKey>({
    {FormerKey::In::playbook, "nodes_at_once", "max_parallel"},
    {FormerKey::In::step, "together", "group_by"},
    {FormerKey::In::step, "tries", "max_attempts"},
    {FormerKey::In::step, "each", "foreach"},
    {FormerKey::In::approval, "say", "message"},
});

/// Replaces former keys in a playbook as it was parsed; the first of each in the file becomes a
/// warning with its place. So do former names of measures in conditions. Where both names stand,
/// the former one stays and is unknown.
void replace_former_keys(inventory::YamlValue& playbook, const std::string& file,
                         std::vector<inventory::Problem>& warnings);

}  // namespace cupel::playbooks
