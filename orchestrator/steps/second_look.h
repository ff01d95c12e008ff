#pragma once
// A part that stands out among its like is measured again in the same run, while a healthy node
// does the same stage, before it is called bad. Which nodes do what again, and what the second look
// means. docs/build/decisions/fleet-criteria.md says why.
#include <functional>
#include <map>
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

/// Of a node whose verdict is to be given now, and all others of the run have reported: the stages
/// in which it stands out, if nothing else keeps it from passing. Nothing where no healthy node is
/// left that has not been handed over, where the stage is one of several nodes, or where what runs
/// behind it changes the machine. Pure but for what the board looks up.
std::optional<SecondLook> second_look_for(FleetBoard& board, const engine::StepRequest& request,
                                          std::span<const burnin::Compared> compared,
                                          const burnin::Verdict& verdict);

/// Of a healthy node: the stages in which it is to be measured beside nodes that do them again.
std::optional<SecondLook> look_beside_others(FleetBoard& board, const engine::StepRequest& request);

/// A node that stands out, beside which this one would be measured, and whose verdict is not given
/// yet; empty: none.
std::string may_be_needed_by(FleetBoard& board, const engine::StepRequest& request);

/// One of these that has yet to do such a stage again, or to be judged; empty: none.
std::string looks_again(const engine::RunState& run, const SecondLook& look);

/// By measure: what a node's second look at a stage reached of its first one, the median of its
/// parts. Empty where it was measured once.
std::map<std::string, double> change_of(std::span<const engine::Event> of_node,
                                        const std::string& stage);

/// The run's events of a node, as far as they count. Errors: kStorage.
using EventsOf = std::function<Result<std::vector<engine::Event>>(const std::string& node)>;

/// Names the first look in what stands out again, if a healthy node was measured beside it: what
/// that one lost too is not held against the part. Words for people about what did not stand out
/// again. Errors: those of `events_of`.
Result<std::vector<std::string>> hold_against_first_look(const SecondLook& look,
                                                         const EventsOf& events_of,
                                                         std::vector<burnin::Compared>& compared);

}  // namespace cupel::steps
