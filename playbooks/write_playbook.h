#pragma once
// A playbook as text again, from the steps that it consists of: for playbooks that are made by
// Cupel itself. Not how people's own text is kept (Playbook::text).
#include <string>

#include "playbooks/playbook.h"

namespace cupel::playbooks {

/// YAML with one line for each step, from which parse_playbook() reads the same steps, name,
/// description, limits, priority and waves. Parameters are filled in already and are not written; a
/// step without a deadline of its own has none. Pure.
std::string write_playbook(const Playbook& playbook);

}  // namespace cupel::playbooks
