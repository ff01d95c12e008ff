#pragma once
// `settings`: what the playbook wants set on a node for as long as its run lasts, read back; and
// `settings-restore`, which puts back what was before. What was before is written to the node's
// disk before anything is changed, and stays there until all of it is back: a run that takes a node
// up again after any crash finds it there. The plan puts `settings-restore` behind every `settings`
// (burnin/undo.h).
#include "burnin/stage.h"

namespace cupel::burnin {

Stage settings();
Stage settings_restore();

}  // namespace cupel::burnin
