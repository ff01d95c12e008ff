#pragma once
// A stage that changes a machine declares what changes it back. Plan, engine and hand-off go by
// this and know no stage by its name: what was changed is changed back before the verdict, also
// where the run is cancelled, and no node is given away half changed.
#include <vector>

#include "burnin/stage.h"

namespace cupel::burnin {

struct Undo {
  std::string_view stage;  // what changes it back: "settings-restore"

  /// The parameter that says after how long the node changes it back by itself, and its value.
  /// Errors: kInvalid.
  std::string_view time_limit;
  Result<std::chrono::seconds> (*by_itself_after)(const Parameters& parameters);

  /// Prints a line for each kind of thing that is changed on a node and not changed back,
  /// "gpu.power"; nothing where there is none.
  std::string (*left_script)();

  /// What the undoing stage finds of a node on which nothing was changed.
  Findings (*nothing_to_undo)();

  /// Why it may not be changed back although the undoing stage ended well, by what both found;
  /// empty: it is.
  std::string (*why_in_doubt)(const Findings& undone, const std::vector<Findings>& changed);
};

/// What undoes the stage ("settings@again"); nullptr: it changes nothing.
const Undo* undo_of(std::string_view step);

/// Whose undoing stage this is; nullptr: of none.
const Undo* undone_by(std::string_view step);

}  // namespace cupel::burnin
