#pragma once
// Several stages at once on one node: one that the job is about, and companions that load the host
// meanwhile. Each is the stage as it is, written for itself alone: where it waits it is suspended,
// and one loop waits for all of them. So it works on a node, where every other wait blocks, and in
// a virtual rack.
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

/// Runs `run` by `order`, and beside it what the order names: "beside", a list of objects with
/// "stage" and "order". A companion's lines are those that it prints alone, each with "of": its
/// name. One that gives up does not end the others. When `run` has ended long before `planned` is
/// over, companions are stopped: there is nothing left to work beside. Otherwise they end about
/// then by themselves, and are waited for, since they print what they found last. Nothing that they
/// started outlives this. Returns what `run` returns.
Work<GaveUp> run_together(Node& node, const JsonValue& order, std::chrono::seconds planned,
                          Work<GaveUp> (*run)(Node& node, const JsonValue& order));

}  // namespace cupel::agent
