// Any bytes as a playbook, or as the text that a run keeps of one; and what is read, read again.
#include "playbooks/playbook.h"

#include "inventory/load_profile.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "playbooks/plan.h"

namespace {
using namespace cupel;

/// Two machines of a shipped profile, made once.
const inventory::Inventory& machines() {
  static const auto made = [] {
    std::vector<inventory::Problem> problems;
    inventory::Inventory inventory;
    for (const auto* name : {"n1", "n2"}) {
      inventory::Node node;
      node.name = name;
      node.profile = "dgx-h100";
      node.rack = "a01";
      inventory.nodes.push_back(std::move(node));
    }
    inventory.profiles.emplace(
        "dgx-h100", inventory::ProfileSource{"/nowhere"}.load("dgx-h100", problems).value());
    return inventory;
  }();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  std::vector<inventory::Problem> problems;
  const auto playbook = playbooks::parse_playbook(text, "fuzz.yaml", problems, {});
  if (playbook.has_value() != problems.empty()) std::abort();
  if (!playbook) return 0;
  std::vector<inventory::Problem> again;
  const auto second = playbooks::parse_playbook(playbook->text, playbook->file, again);
  if (!second || second->steps.size() != playbook->steps.size()) std::abort();
  const auto& nodes = machines().nodes;
  (void)playbooks::make_plan(*playbook, machines(), {&nodes[0], &nodes[1]}, problems);
  return 0;
}
