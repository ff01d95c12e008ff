#pragma once
// Which parameters of a playbook decide what runs as root on nodes: programs, folders,
// environments. Pure but for the playbook's files.
#include <string>
#include <vector>

#include "playbooks/playbook.h"

namespace cupel::playbooks {

/// The names among `arguments` that a request of the service may not set: those that change such a
/// value in any step, by whichever way: `with`, `include`, `foreach`. A playbook that cannot be
/// read has none; its reader says why.
std::vector<std::string> set_by_the_site(const std::string& playbook, const Arguments& arguments);

}  // namespace cupel::playbooks
