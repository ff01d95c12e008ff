#pragma once
// `settings`: what the playbook wants set on a node for as long as its run lasts, read back; and
// `settings-restore`, which puts back what was before. What was before is written to the node's
// disk before anything is changed, and stays there until all of it is back: a run that takes a node
// up again after any crash finds it there. The plan puts `settings-restore` behind every `settings`
// (playbooks/plan.cpp).
#include "burnin/stage.h"

namespace cupel::burnin {

inline constexpr std::string_view kSettings = "settings", kSettingsRestore = "settings-restore";

/// After so long the node puts back by itself what `settings` set with these parameters.
/// Errors: kInvalid.
Result<std::chrono::seconds> settings_at_most(const Parameters& parameters);

/// What `settings-restore` finds of a node on which nothing was set.
Findings nothing_was_set();

/// Prints a line for each kind of thing that is set on a node and not put back, "gpu.power";
/// nothing where there is none. For whoever gives a node away.
std::string settings_left_script();

Stage settings();
Stage settings_restore();

}  // namespace cupel::burnin
