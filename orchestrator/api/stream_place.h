#pragma once
// Up to where a reader of events has read. As text it is what Last-Event-ID holds.
#include <map>
#include <string>

#include "orchestrator/engine/event.h"

namespace cupel::api {

struct StreamPlace {
  bool all = false;          // of all runs
  engine::RunId newest = 0;  // of all runs: later ones are read from their beginning
  std::map<engine::RunId, std::int64_t> at{};

  std::string text() const;
  friend bool operator==(const StreamPlace&, const StreamPlace&) = default;
};

}  // namespace cupel::api
