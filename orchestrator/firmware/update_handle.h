#pragma once
// What the journal keeps of an update that was begun, so that a controller which comes after a
// crash finds it again, and never pushes a second time what the BMC may still be at work with.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bmc/update.h"

namespace cupel::firmware {

struct UpdateHandle {
  enum class Phase {
    pushing,    // written before the first byte leaves: the BMC may have all of it, or nothing
    writing,    // the BMC took it; `ticket` names its work
    starting,   // verified, and asked to install it: whether it heard that is open
    resetting,  // written; `resets_done` of those that follow were done
    refused,    // the BMC did not take it, or has not been given it: it is not at work with this
    doubtful    // what wrote it on the node was ended: a person looks before anything else is done
  } phase = Phase::pushing;
  std::string component{};
  std::string version{};  // that the image brings
  std::string sha256{};
  std::size_t targets = 0;  // entries that the component has
  /// Ids of entries that need not show the version: they have it in another way, or later.
  std::vector<std::string> others{};
  /// Of several updates of one version, with resets around all of them: ids of this one's entries,
  /// ids that earlier ones wrote, and whether another one follows before the resets.
  std::vector<std::string> ids{}, written{};
  bool more = false;
  bmc::UpdateTicket ticket{};
  std::size_t resets_done = 0;
  std::chrono::sys_seconds pushed{};
  bool was_on = false;  // the machine was switched off for it
  /// What all entries of the component ran before; empty: no one version.
  std::string previous{};
  /// The image is the previous one, written back instead of this version; empty: it is not. `why`
  /// it had to be.
  std::string instead_of{}, why{};
  /// A way of the BMC that took nothing of an image (UpdateOrder::refused_way): it is not tried
  /// again.
  std::string refused_way{};
  /// Of a run that writes components again (Rewrite): those that it may write, and those that it
  /// had written again before this update. Both empty: it is no such run.
  std::vector<std::string> only{}, rewritten{};
  /// Entries of it ran this version before: that they show it says nothing of this write.
  bool again = false;

  bool writes_back() const { return !instead_of.empty(); }
};

std::string to_text(const UpdateHandle& handle);
/// Errors: kMalformed, of another Cupel's.
Result<UpdateHandle> update_handle_of(std::string_view text);

/// The same of what the store remembers of a node. Errors: so, with the command that drops it.
Result<UpdateHandle> remembered_handle_of(std::string_view text, std::string_view node);

}  // namespace cupel::firmware
