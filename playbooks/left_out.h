#pragma once
// Steps of a shipped playbook that mean nothing on one kind of machine: they stay in the plan, and
// are skipped with a word, so that a machine without GPUs, or without a baseline, can take the
// playbooks of those that have some.
#include <optional>
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "playbooks/playbook.h"

namespace cupel::playbooks {

/// Why this step is not done on machines of this profile; empty where it is. A profile without
/// images leaves out the step that writes them, one that wants no settings those that set and
/// verify them, with the restart that waits for `settings.pending`. A profile without GPUs leaves
/// out a stage that loads GPUs, or that it has no criteria for. On a machine with GPUs a stage
/// without criteria is an error. A stage that measures the site's cables is left out on a node that
/// the cable plan does not have (`cabled`). Pure.
std::string why_left_out(const PlaybookStep& step, const inventory::Profile& profile, bool cabled);

/// A condition that no node meets, and why: what a plan puts before such a step.
Condition never(std::string why);
/// Why the step behind these conditions is done on no node of its plan; nothing where it may be.
std::optional<std::string> left_out(const std::vector<Condition>& conditions);

/// Whether the stage tells which parts are there: the audit judges those, whatever the criteria
/// say.
bool tells_parts(std::string_view stage);

}  // namespace cupel::playbooks
