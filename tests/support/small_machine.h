#pragma once
// A made-up machine of six resources, for tests about the conversation and not about a machine.
#include <string>

#include "base/json.h"

namespace cupel::test {

/// The resource at `uri`, or null where there is none.
json::value small_machine(const std::string& uri);

}  // namespace cupel::test
