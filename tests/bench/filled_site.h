#pragma once
// A site of many nodes, and a store with one run of all of them as a controller leaves it in the
// middle: each node has its facts, and burns its GPUs.
#include <boost/json/object.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "orchestrator/engine/event.h"

namespace cupel::bench {

struct FilledSite {
  std::filesystem::path folder{};  // inventory.yaml, service.yaml, playbook.yaml, state
  engine::RunId run = 0;
  std::vector<std::string> nodes{};
  std::string token{};  // of an operator, for an hour
  std::filesystem::path state() const { return folder / "state"; }
  std::string settings() const { return (folder / "service.yaml").string(); }
};

/// In `folder`, which it makes. Throws std::runtime_error: half a site is of no use.
FilledSite fill_site(const std::filesystem::path& folder, int nodes);

engine::Event event_of(engine::EventKind kind, const std::string& node, const std::string& step,
                       boost::json::object data);

}  // namespace cupel::bench
