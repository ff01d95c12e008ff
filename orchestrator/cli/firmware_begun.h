#pragma once
// The newest firmware updates that steps began on a node, as the store remembers them: where each
// stands, what its run does with it, and which command is next.
#include <boost/json/object.hpp>

#include "orchestrator/cli/context.h"
#include "orchestrator/firmware/update_handle.h"
#include "orchestrator/store/firmware_state.h"

namespace cupel::cli {

struct BegunUpdate {
  /// What the newest run does that was at it.
  enum class Run {
    over,
    open,         // its step has ended: an operator may repeat it there
    at_work,      // its step is not over, and a controller drives it
    interrupted,  // the same without a controller
  } in_run = Run::over;
  std::string kind{};  // of the step: "firmware", "node-firmware"
  store::FirmwareState state{};
  firmware::UpdateHandle handle{};

  std::string named() const { return handle.component + " " + handle.version; }
};

/// At most one of each kind of step. Errors: kStorage; kMalformed: a handle of another Cupel's.
Result<std::vector<BegunUpdate>> begun_updates(const Context& context, store::Store& store,
                                               const std::string& node);

/// Nodes of which an update is remembered. Errors: kStorage.
Result<std::vector<std::string>> nodes_with_updates(const store::Store& store);

/// The kinds of step of which what is remembered cannot be read: begun_updates() fails for them.
std::vector<std::string> unreadable_updates(store::Store& store, const std::string& node);

/// "cupel firmware continue n1"; empty: none is needed.
std::string next_command(const BegunUpdate& update, const std::string& node);

/// "bios 2.4 is staged: written and good, ...".
std::string standing_text(const BegunUpdate& update);

/// Where it stands, since when, by which run, its last words and the next command. Lines without an
/// end of the last one.
std::string begun_text(const Context& context, const BegunUpdate& update, const std::string& node);
boost::json::object begun_json(const BegunUpdate& update, const std::string& node);

}  // namespace cupel::cli
