#pragma once
// What the steps of a playbook demand of each other: pure, no inventory.
#include "playbooks/playbook.h"

namespace cupel::playbooks {

/// Nothing is done twice under one name; nothing is handed over that was not judged, nothing is
/// judged and then changed; a condition asks what an earlier step can tell; what is claimed has a
/// limit that can be met; who acts together can. Of a playbook that could not be read completely,
/// only what is wrong whatever stands in the rest.
void check_order(const Playbook& playbook, bool complete,
                 std::vector<inventory::Problem>& problems);

}  // namespace cupel::playbooks
