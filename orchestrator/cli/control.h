#pragma once
// What commands beside `cupel retry` ask of a run that is not over.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

struct NodeRetry {
  engine::RunId run = 0;
  std::string node{};
  std::string step{};    // from which it is repeated
  std::string reason{};  // recorded with the login's name
};

/// Asks it as `cupel retry` does, and says what became of it.
Exit retry_node(Context& context, const NodeRetry& asked);

}  // namespace cupel::cli
