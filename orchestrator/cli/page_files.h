#pragma once
// The page that `cupel serve` has compiled in, as the service takes it; empty where it was built
// without.
#include "orchestrator/api/service.h"

namespace cupel::cli {

std::span<const api::StaticFile> page_files();
std::string_view page_policy();

}  // namespace cupel::cli
