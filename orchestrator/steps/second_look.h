#pragma once
// A part that stands out among its like is measured again in the same run, while a healthy node
// does the same stage, before it is called bad. Which nodes do what again, and what the second look
// means. docs/build/decisions/fleet-criteria.md says why.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "burnin/compared.h"
#include "burnin/verdict.h"
#include "inventory/fwd.h"
#include "orchestrator/engine/interfaces.h"
#include "orchestrator/steps/fleet_board.h"

namespace cupel::steps {

/// What a node does again before its verdict.
struct SecondLook {
  std::vector<std::string> stages{};  // steps of its plan
  std::vector<std::string> beside{};  // healthy nodes that do them too; of one of these: for whom
  std::vector<burnin::Compared> stood_out{};  // at the first look; empty: of a healthy node

  /// What the node waits for and what its event says, for people.
  std::string words() const;
};

/// The part of the verdict's event; the engine reads its stages (engine::kAgain).
json::object to_json(const SecondLook& look);

/// What the newest of the node's verdicts asked for; nothing: none did, or a person had the node
/// tried again since, as after a repair. `of_node`: the run's events of the node, in their order.
std::optional<SecondLook> second_look_of(std::span<const engine::Event> of_node);

/// The run's events of a node, as far as they count. Errors: kStorage.
using EventsOf = std::function<Result<std::vector<engine::Event>>(const std::string& node)>;
/// Whether nothing keeps a node from passing so far. Errors: kStorage.
using PassesSoFar = std::function<Result<bool>(const std::string& node)>;

/// What is asked about the run's other nodes.
struct OtherNodes {
  EventsOf events_of{};
  PassesSoFar passes{};
};

/// Of a node whose verdict is to be given now, and all others of the run have reported: the stages
/// in which it stands out, if nothing else keeps it from passing, and up to four healthy nodes for
/// each. Nothing where no node is left whose first verdict is being made and would be a pass, where
/// the stage is one of several nodes, or where what runs behind it changes the machine. Errors:
/// those of `others`.
Result<std::optional<SecondLook>> second_look_for(FleetBoard& board,
                                                  const engine::StepRequest& request,
                                                  const OtherNodes& others,
                                                  std::span<const burnin::Compared> compared,
                                                  const burnin::Verdict& verdict);

/// Of a healthy node: the stages in which it is to be measured beside nodes that do them again, and
/// whose event names it. Errors: those of `events_of`.
Result<std::optional<SecondLook>> look_beside_others(FleetBoard& board,
                                                     const engine::StepRequest& request,
                                                     const EventsOf& events_of);

/// A node that stands out where this one is healthy, and whose first verdict is not given yet: it
/// may name this one. Empty: none. Errors: those of `events_of`.
Result<std::string> may_be_needed_by(FleetBoard& board, const engine::StepRequest& request,
                                     const EventsOf& events_of);

/// One of those beside the node that has yet to do such a stage again for its sake, or whose first
/// verdict, which may still send it back, is being made; empty: none. Not one that is held up
/// (peers.h). Errors: those of `events_of`.
Result<std::string> looks_again(const engine::StepRequest& request, const EventsOf& events_of,
                                const SecondLook& look);

/// What the second look means for the numbers of `node`, `compared` with the reference. By
/// comparison it fails of nothing but a part that stood out at first, does so again, and beside
/// which a node that was sent back for its sake is alike once more in that measure. What was not
/// measured again stands as it was. Words for people about what is not held against it. Errors:
/// those of `events_of`.
Result<std::vector<std::string>> hold_against_first_look(const SecondLook& look,
                                                         const std::string& node,
                                                         const EventsOf& events_of,
                                                         const burnin::FleetReference& reference,
                                                         std::vector<burnin::Compared>& compared);

/// A node that had come to pass does not fail of a stage that it did again for another's sake:
/// what is wrong there now is inconclusive. Logs that were read after it stand.
void leave_open_what_is_new(const SecondLook& look, burnin::Verdict& verdict);

}  // namespace cupel::steps
