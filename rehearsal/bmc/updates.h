#pragma once
// The updates of one BMC: what is being written, how far it is, what waits for a restart before it
// runs. A state machine in the rack's time: it receives events, is asked at moments, and says what
// became of them. No HTTP, no timer, no machine.
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rehearsal/bmc/image.h"

namespace cupel::rehearsal {

/// How an update ends, as a fault may decide.
enum class Fate {
  good,
  stuck,        // it makes no more progress
  full,         // written, and at 100 % for ever
  unchanged,    // it says that it is done, and nothing is new
  not_active,   // written, and the activation fails
  refused,      // verified and refused
  unverified,   // the BMC restarts while it verifies
  interrupted,  // the BMC restarts while it writes
  vanished,     // its task is gone as soon as it writes; it goes on
  part_failed,  // one of its components is not written
  bricked,      // what runs it does not start any more
};

/// Of a task whose timer ran out.
inline constexpr std::string_view kTaskAborted = "TaskEvent.1.0.TaskAborted";

struct Update {
  enum class Stage {
    queued,  // waits for the Lifecycle Controller (Dell)
    transferring,
    verifying,
    verified,   // waits to be asked to go on (Supermicro)
    scheduled,  // waits for the host's next boot (Dell's BIOS)
    writing,
    flushing,  // written, 100 %, and not done yet (Supermicro)
    staged,    // written, and waits for the reset that makes it run (bmcweb)
    done,
    failed,
  };
  std::string id{};
  std::string name{};
  std::vector<Flash> images{};
  FirmwareKind kind = FirmwareKind::other;  // of what decides how long it takes
  Fate fate = Fate::good;
  std::string failing{};    // the component that is not written (Fate::part_failed)
  std::string complaint{};  // what verifying will have against it; empty: nothing
  bool only_verifies = false;
  bool fetched = false;       // its transfer ends when its image has come, and not before
  bool stages = false;        // it is done when it runs, not when it is written
  bool needs_ac = false;      // whatever the vendor's row says
  VirtualTime queued_for{0};  // behind the Lifecycle Controller
  std::size_t size = 0;       // of the file
  std::string sha256{};
  Stage stage = Stage::verifying;
  VirtualTime since{0};           // when this stage began
  double started = 0, ended = 0;  // by the BMC's clock; 0: not yet
  std::string message_id{}, message{};

  bool is_over() const { return stage == Stage::done || stage == Stage::failed; }
  /// It asks nothing of the BMC now.
  bool waits() const {
    return stage == Stage::scheduled || stage == Stage::verified || stage == Stage::staged;
  }
  /// It is not reported any more.
  bool is_hidden() const {
    return fate == Fate::vanished && stage >= Stage::writing && stage != Stage::failed;
  }
};

/// What whoever owns the updates does when they come to something.
struct UpdateWorld {
  std::function<void(const Flash&)> install;          // it is what runs from now on
  std::function<void(std::string_view)> print_error;  // into the event log
  std::function<void()> restart_bmc;
  std::function<void(const Flash&)> brick;  // it was to run from now on, and does not start
  std::function<double()> epoch;
};

class Updates {
 public:
  static constexpr std::size_t kMostTasks = 32;
  static constexpr VirtualTime kStagedFor{5 * 3600.0};  // bmcweb's timer of a staged image's task

  explicit Updates(const UpdateBehavior& behavior) : behavior_{&behavior} {}

  const std::deque<Update>& all() const { return all_; }
  const Update* find(const std::string& id) const;
  /// The one that goes on now; nullptr: none does.
  const Update* running() const;
  bool writes_bmc() const;
  void forget(const std::string& id);

  /// Begins; `update` says what, the rest is filled in. The oldest that is over gives way.
  const Update& begin(Update update, bool transfers, VirtualTime now, const UpdateWorld& world);
  /// The image of one that is fetched has come: `what` says all that is known by it.
  void arrived(const std::string& id, Update what, VirtualTime now, const UpdateWorld& world);
  /// It could not be fetched.
  void not_fetched(const std::string& id, std::string_view why, VirtualTime now,
                   const UpdateWorld& world);
  /// What was verified is written now, as an update of its own. nullptr: nothing was verified.
  const Update* go_on(std::string id, VirtualTime now, const UpdateWorld& world);

  /// 0 to 100.
  int percent(const Update& update, VirtualTime now) const;
  /// What time has brought. To be called whenever `next()` has come, and before anything is read.
  void advance(VirtualTime now, const UpdateWorld& world);
  /// When something will happen by itself.
  std::optional<VirtualTime> next() const;

  /// What happened to the machine and to the BMC itself.
  void host_started(VirtualTime now, const UpdateWorld& world);
  void host_lost_power(VirtualTime now, const UpdateWorld& world);
  void bmc_restarted(VirtualTime now, const UpdateWorld& world);
  void power_drained(VirtualTime now, const UpdateWorld& world);

  /// Versions that wait, by component.
  struct Waiting {
    Flash flash;
    Activation for_what;
    Fate fate = Fate::good;
  };
  /// Whether anything of that update still waits for a reset.
  bool waits_for_reset(const Update& update) const;
  const std::vector<Waiting>& waiting() const { return waiting_; }

 private:
  struct Late {
    Flash flash;
    VirtualTime when;
  };
  Update* fetching(const std::string& id);
  VirtualTime span_of(const Update& update) const;
  void enter(Update& update, Update::Stage stage, VirtualTime when, const UpdateWorld& world);
  void finish_stage(Update& update, VirtualTime when, const UpdateWorld& world);
  void written(Update& update, VirtualTime when, const UpdateWorld& world);
  void leave(const Update& update, Activation by);
  void finish_staged(const Flash& flash, VirtualTime now, const UpdateWorld& world);
  void fail(Update& update, VirtualTime when, const UpdateWorld& world, std::string_view id,
            std::string_view why);
  void activate(std::initializer_list<Activation> by, VirtualTime now, const UpdateWorld& world);

  const UpdateBehavior* behavior_;
  std::deque<Update> all_;
  std::vector<Waiting> waiting_;
  std::vector<Late> late_;
};

}  // namespace cupel::rehearsal
