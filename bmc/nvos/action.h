#pragma once
// An act of a switch that takes a while (an image is installed, an application started): it is
// begun once, and followed by the id of its job. Source: NVOS User Manual, NVUE API, "Actions".
#include <chrono>
#include <optional>
#include <string>

#include "bmc/nvos/nvue.h"

namespace cupel::bmc::nvos {

/// The id in the answer to an action: "7", 7, {"7": {...}}, or under "action-id", "job-id" or "id".
/// Errors: kMalformed.
Result<std::string> action_id(const json::value& answer);

/// What is done decides what its states mean.
enum class ActionKind {
  plain,
  image,     // installs an image: a state that tells of a reboot is its success
  firmware,  // installs firmware: an error at 100 % is its success, one that tells of a reboot none
};

struct ActionState {
  enum class Is { under_way, succeeded, failed } is = Is::under_way;
  std::string word{};            // as reported: "action_success"
  std::string text{};            // status, detail and issues
  std::optional<int> percent{};  // 0 to 100
  bool reboots = false;          // the text says so
};

/// Of an answer to GET action/`id`, with or without the id around it. A word that is not known is
/// under way. Source: NVIDIA's rack manager on what switches of NVOS 25.02 answer.
ActionState action_state(const json::value& answer, const std::string& id, ActionKind kind);

struct Act {
  std::string path;  // "cluster/apps/nmx-controller"
  std::string verb;  // "@start"
  json::object parameters{};
  ActionKind kind = ActionKind::plain;
};

struct ActEnd {
  std::string job{};
  std::string text{};
  bool reboots = false;  // it goes away now, or is away: whether it worked shows when it is back
};

/// Begins it, and looks again each `look_every` until it has ended. Sent once: an error after that
/// says that it may be under way. Errors: as Nvue::get; kFailed (with the switch's words);
/// kTimeout.
Task<Result<ActEnd>> run_act(Nvue& nvue, Act act, std::chrono::milliseconds look_every,
                             Deadline deadline);

}  // namespace cupel::bmc::nvos
