#pragma once
// A change of a switch's configuration: a revision is made, changed, applied, followed to its end
// and saved. Source: NVOS User Manual, NVUE API, "Make a Configuration Change".
#include <chrono>
#include <string>
#include <vector>

#include "bmc/nvos/nvue.h"

namespace cupel::bmc::nvos {

/// The id in the answer to POST revision: "12", 12, {"12": {...}} or {"revision-id": "12"}.
/// Errors: kMalformed.
Result<std::string> revision_id(const json::value& answer);

struct RevisionState {
  enum class Is { under_way, applied, failed } is = Is::under_way;
  std::string word{};   // as reported: "pending", "apply", "ays_fail"
  std::string issue{};  // the texts of its issues, one after the other
  bool no_difference = false;
};

/// Of an answer to GET revision/`id`, with or without the id around it. A word that is not known is
/// under way: only the deadline ends it. What changed nothing was applied, whatever its state.
RevisionState revision_state(const json::value& answer, const std::string& id);

/// One part of a configuration, changed in a revision.
struct Change {
  std::string path;  // "cluster"
  json::value body;  // {"state": "enabled"}
};

struct Applied {
  std::string revision{};
  bool changed = true;  // false: all of it was so already
  bool saved = false;
};

/// Makes the changes in one revision, applies it with every question answered by yes, looks again
/// each `look_every` until it has ended, and saves it: what is not saved is gone after a reboot,
/// and ZTP stays on. `then`: who looks, where the change is of the password that is used.
/// Errors: as Nvue::get; kFailed (the switch could not apply it, with its issues); kTimeout (it is
/// still under way). Before the revision is applied nothing has changed; an error after that says
/// so.
Task<Result<Applied>> apply_changes(Nvue& nvue, std::vector<Change> changes,
                                    std::chrono::milliseconds look_every, Deadline deadline,
                                    Nvue* then = nullptr);

}  // namespace cupel::bmc::nvos
