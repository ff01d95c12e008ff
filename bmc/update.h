#pragma once
// What a BMC is asked to write, and what it says of it. The inventory decides whether it was done,
// never the task alone.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bmc/answers.h"

namespace cupel::bmc {

/// When the BMC is to make what it wrote the version that runs, where that can be chosen.
/// Source: DSP0268, OperationApplyTime.
enum class ApplyTime { as_it_likes, immediate, on_reset };

/// One image for one BMC.
struct UpdateOrder {
  std::string file{};       // here
  std::string name{};       // as the BMC sees it
  std::uint64_t bytes = 0;  // the file's size, as it was checked
  std::string sha256{};     // of what is sent: sending fails, unfinished, where it differs
  std::string component{};  // "bmc", "bios", ...: for vendors that require it
  std::vector<std::string> targets{};  // URIs; empty: the BMC finds out from the image
  bool force = false;                  // a version that is not newer
  ApplyTime apply = ApplyTime::as_it_likes;
  /// Where the BMC may fetch it (SimpleUpdate), for those that take no push; empty: nowhere.
  std::string pull_uri{};
  /// A way that this BMC offers and has refused (took_nothing): another one is taken. Empty: none.
  std::string refused_way{};
  /// The claim that the BMC shows (kTargetsClaimed) is left over from a push of ours that was lost.
  bool claim_is_ours = false;
};

/// By what an update that a BMC took is found again: also by another process, after a crash.
struct UpdateTicket {
  std::string way{};   // "multipart", "push", "simple", "ilo": as the driver says
  std::string task{};  // URI; empty: this BMC has none for it
  friend bool operator==(const UpdateTicket&, const UpdateTicket&) = default;
};

/// In UpdateService::busy, where a client has reserved the service and no task is at work (DSP0268,
/// HttpPushUriTargetsBusy).
inline constexpr std::string_view kTargetsClaimed = "HttpPushUriTargetsBusy";

struct UpdateProgress {
  enum class State {
    running,
    verified,     // it waits for `go_on` (Supermicro)
    needs_reset,  // written; runs after the reset that `message` may name
    done,         // as the BMC says
    failed,       // as the BMC says
    gone,         // the BMC does not know the task: it forgot it, or never had it
  } state = State::running;
  std::optional<int> percent{};
  std::string reported{};  // the BMC's word for the state: TaskState, Oem.Hpe.State
  std::string message{};   // its messages, the newest first
  std::chrono::milliseconds look_again{0};  // when, as the BMC asks; 0: not given
  Protocol by = Protocol::redfish;
};

/// How the BMC stands to updates now.
struct UpdateService {
  bool enabled = true;
  std::vector<std::string> ways{};  // that it offers and we speak, the best first
  /// UpdateTicket::way of what it has verified and not begun to write; empty: it verifies nothing
  /// first.
  std::string verifies{};
  /// What it is at work with: tasks' URIs, or its own word for it; empty: it is idle.
  std::vector<std::string> busy{};
  std::uint64_t most_bytes = 0;  // MaxImageSizeBytes; 0: not reported
  /// The words by which it fetches images ("HTTPS", "NFS"); empty: it fetches none, or tells none.
  std::vector<std::string> fetches_by{};
  Protocol by = Protocol::redfish;

  bool is_at_work() const {
    return std::ranges::any_of(busy, [](const auto& one) { return one != kTargetsClaimed; });
  }
};

/// Stands in the error of a push where the BMC has nothing at the way's URI that takes a POST: HTTP
/// 404 or 405. None of the image was taken.
inline constexpr std::string_view kTakesNoImage = "nothing takes images at this URI";

inline bool took_nothing(const Error& refusal) { return refusal.what.contains(kTakesNoImage); }

std::string_view to_string(UpdateProgress::State state);

}  // namespace cupel::bmc
