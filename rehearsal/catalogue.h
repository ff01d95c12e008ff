#pragma once
// The catalogue of faults: each with what a user would say of it, and what a controller should find
// out. Data; rehearsed by `cupel rehearse --catalogue`. Not the table of what can be planted at all
// (fault.h): the same kind may stand here twice, early and late, on one BMC and another.
#include <string>
#include <string_view>
#include <vector>

#include "inventory/fwd.h"
#include "rehearsal/rack_spec.h"

namespace cupel::rehearsal {

/// What is to be found: the verdict on the node, and what is named first.
struct Expected {
  std::string verdict = "fail";  // pass, fail, inconclusive; slow: it is named at least as slow
  std::string part{};            // "gpu5"; empty: the node as a whole
  std::string check{};           // criterion: "audit: missing", "gpu.ecc.mode", "step ssh-wait"
  std::string like{};            // what was measured has this in it; empty: anything
  std::string because{};         // what was measured of any of the causes has this in it
  friend bool operator==(const Expected&, const Expected&) = default;
};

/// Which shipped playbook is run against a fault.
enum class CataloguePlaybook {
  new_rack,
  fabric,    // of what is measured between nodes, in racks with a cable plan
  firmware,  // of updates, in racks whose profiles have a baseline with images
  os,        // of installations, in racks whose machines have empty disks
};
std::string_view shipped_name(CataloguePlaybook playbook);

/// What the playbook `firmware` is to write on a node.
struct PlannedUpdate {
  std::string component = "bios";       // or "bmc", "erot" (nine targets), "psu" (six)
  std::string image = "whole";          // or corrupted, truncated, other-model, mislabelled
  std::string follow = "host-restart";  // the reset that makes it run
  std::string recovery = "none";        // or previous-image, which the manifest lists then
  std::string profile() const;          // the name of the profile that wants it
  friend auto operator<=>(const PlannedUpdate&, const PlannedUpdate&) = default;
};

struct CatalogueEntry {
  std::string name;  // unique
  std::string says;  // in a user's words
  std::vector<Fault> faults{};
  std::vector<Rule> rules{};          // of its BMC
  std::vector<Fault> of_neighbour{};  // of a node that takes part: planted beside it
  BmcSpec bmc{};
  Expected expected{};
  Needs needs = Needs::nothing;
  CataloguePlaybook playbook = CataloguePlaybook::new_rack;
  PlannedUpdate update{};  // of the playbook firmware
  inventory::Place where{};
};

/// The node and its neighbour, as `with:` of an entry calls them.
constexpr std::string_view kThisNode = "this", kNeighbour = "neighbour";

/// One file's `faults:`. Every error at once; what was wrong is left out.
std::vector<CatalogueEntry> parse_catalogue(std::string_view text, const std::string& file,
                                            const inventory::Profile& profile,
                                            std::vector<inventory::Problem>& problems);

/// All that is shipped, in the order of the files' names.
std::vector<CatalogueEntry> shipped_catalogue(const inventory::Profile& profile,
                                              std::vector<inventory::Problem>& problems);

/// One node of a planned rack.
struct Place {
  std::string node;
  int entry = -1;          // of the catalogue; -1: healthy
  bool neighbour = false;  // only there for the entry: not healthy, and not judged
  int group = 0;           // of nodes that share their leaves, from 1; 0: no cable plan
};

struct CatalogueRack {
  RackSpec rack;
  std::vector<Place> places{};  // one for each node
  CataloguePlaybook playbook = CataloguePlaybook::new_rack;
  bool between_nodes() const { return playbook == CataloguePlaybook::fabric; }
};

/// What is to be found there: "{group}" and "{node}" in it are the place's.
Expected expected_at(const CatalogueEntry& entry, const Place& place);

/// As many racks of so many nodes as it takes, a quarter of each healthy; each in a network of its
/// own (127.x), so that several can stand at once. Faults between nodes have racks of their own:
/// three leaf groups of four nodes, with one fault in each. So have installations, and updates:
/// there each node has the profile that wants its update. The last rack of each of the two has no
/// more nodes than it takes.
std::vector<CatalogueRack> racks_of(const std::vector<CatalogueEntry>& catalogue,
                                    const std::string& profile, std::size_t nodes_of_rack);

/// The cable plan of a rack for faults between nodes: twelve nodes in groups of four, four uplinks
/// of each leaf to two spines, two ports a cage.
inventory::FabricSite cables_of(const CatalogueRack& rack, const inventory::Profile& profile);

/// The same without any fault. `index` sets it apart from others.
CatalogueRack healthy_rack(const std::string& profile, std::size_t nodes, std::size_t index);

}  // namespace cupel::rehearsal
